import type { Readable } from 'node:stream';

/**
 * Every outbound call of Kiln goes through here: a timeout, a size limit, an abort signal and the outbound rule
 * (safe-url.ts) on each. The implementation (undici) is in undici-http-client.ts.
 */
export interface HttpClient {
  /** Sends a request and reads the whole answer (bounded). Any HTTP status is an answer; only transport failures throw. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Sends a request and hands out the body as a bounded stream: for results that go into the object store. */
  download(request: HttpRequest): Promise<HttpDownload>;
  close(): Promise<void>;
}

/** One call to the outside. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or buffer, or a factory of a stream (a factory, because a retry needs a fresh one). */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
  /** Whole-request ceiling in milliseconds (for downloads: until the headers, then between chunks). */
  readonly timeoutMs: number;
  /** Largest answer in bytes; beyond it the call fails with code TOO_LARGE. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /** `safe`: tried again (3 times, back-off, Retry-After honoured) on connection failures, 429, 502, 503, 504. Only for requests that may be repeated. */
  readonly retry?: 'never' | 'safe';
  /** Origins trusted for this call beyond the public internet (a binding's base URL and result origins). */
  readonly trustedOrigins?: readonly string[];
}

/** An answer, held whole; its status may be any. */
export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** An answer whose body is still coming: read it to its end, or destroy it. */
export interface HttpDownload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** Why no usable answer came. `sent` says whether the request may have reached the other side: false means certainly not. */
export class HttpFailure extends Error {
  readonly code: 'REFUSED_ADDRESS' | 'CONNECT' | 'TIMED_OUT' | 'CUT' | 'TOO_LARGE' | 'ABORTED';
  readonly sent: boolean;

  constructor(code: HttpFailure['code'], message: string, options: { sent: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'HttpFailure';
    this.code = code;
    this.sent = options.sent;
  }
}
