import { startProgram } from '../processes.ts';

/** HTTP load from a process of its own (autocannon), one measurement at a time. */
export interface Load {
  /** Sends requests as fast as they are answered. Rejects when one is not answered with 2xx. */
  measure(request: LoadRequest): Promise<LoadResult>;
  stop(): Promise<void>;
}

export interface LoadRequest {
  readonly url: string;
  /** Paths below the URL; every connection goes through all of them, each from another beginning. */
  readonly paths?: readonly string[];
  readonly method?: 'GET' | 'POST';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Kept open for the whole run, each with one request at a time (default 16). */
  readonly connections?: number;
  readonly ms: number;
  /** Stop after so many requests instead of after `ms`. */
  readonly amount?: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  /** Milliseconds until an answer; null where a known number was sent. */
  readonly p99: number | null;
}

/** Starts the generator. */
export async function startLoad(): Promise<Load> {
  const program = await startProgram<{ ready: true }>(new URL('load-process.ts', import.meta.url));
  return {
    async measure(request) {
      const answer = await program.ask<{ result?: LoadResult; error?: string }>(request);
      if (answer.result === undefined) throw new Error(`${request.url}: ${answer.error ?? 'no result'}`);
      return answer.result;
    },
    stop: () => program.stop(),
  };
}
