/** The part of s3rver that we use; the package has no types. */
declare module 's3rver' {
  import type { Server } from 'node:http';

  /** What its middlewares see of a request (Koa). */
  export interface Context {
    readonly method: string;
    readonly path: string;
    readonly query: Readonly<Record<string, string | undefined>>;
    status: number;
    type: string;
    body: unknown;
  }
  export interface Store {
    putObject(object: { readonly bucket: string; readonly key: string }): Promise<unknown>;
    getResourcePath(bucket: string, key: string | undefined, resource: string): string;
  }
  export default class S3rver {
    constructor(options: {
      readonly address: string;
      readonly port: number;
      readonly directory: string;
      readonly silent: boolean;
      readonly vhostBuckets: boolean;
      readonly configureBuckets: readonly { readonly name: string }[];
    });
    readonly middleware: ((context: Context, next: () => Promise<void>) => Promise<void>)[];
    readonly store: Store;
    readonly httpServer: Server | undefined;
    run(): Promise<{ readonly port: number }>;
    on(event: 'error', listener: (error: unknown) => void): this;
  }
}
