/** The part of autocannon that we use; the package has no types. */
declare module 'autocannon' {
  export interface Options {
    readonly url: string;
    readonly method?: 'GET' | 'POST';
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly connections?: number;
    /** Seconds. */
    readonly duration?: number;
    /** Called for each connection. */
    readonly setupClient?: (client: {
      setRequests(requests: readonly { readonly path: string }[]): void;
    }) => void;
  }
  export interface Result {
    readonly '2xx': number;
    readonly non2xx: number;
    readonly errors: number;
    readonly timeouts: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
