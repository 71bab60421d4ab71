import type { LookupFunction } from 'node:net';

/** One process behind a service's URL. */
export interface Endpoint {
  /** Scheme, host and port. */
  readonly origin: string;
  /** Leads connections to its address, where its name has several. */
  readonly lookup: LookupFunction | undefined;
  /** Fires when it no longer answers: what waits for it there may be asked of another one. */
  lost(): AbortSignal;
}
