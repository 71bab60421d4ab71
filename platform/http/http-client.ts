import type { Readable } from 'node:stream';

/**
 * The outbound HTTP client. Every call has a timeout, a size limit and an abort signal, and passes the outbound rule
 * (safe-url.ts). Implemented on undici in undici-http-client.ts.
 */
export interface HttpClient {
  /** Sends a request and reads the whole response (bounded), whatever its status; only transport failures throw. */
  request(request: HttpRequest): Promise<HttpResponse>;
  /** Sends a request and returns the body as a bounded stream: for results that go into the object store. */
  download(request: HttpRequest): Promise<HttpDownload>;
  close(): Promise<void>;
}

/** One outbound call. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string or buffer, or a factory of a stream (a factory, because a retry needs a fresh one). */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
  /** Timeout of the whole call in milliseconds (for downloads: until the headers, then between chunks). */
  readonly timeoutMs: number;
  /** Largest response in bytes; beyond it the call fails with code TOO_LARGE. */
  readonly maxBytes: number;
  readonly signal?: AbortSignal;
  /**
   * `safe`: retried (3 times, back-off, Retry-After honoured) on connection failures, 429, 502, 503, 504. Only for
   * requests that may be repeated.
   */
  readonly retry?: 'never' | 'safe';
  /** Origins trusted for this call besides the public internet (a binding's base URL and result origins). */
  readonly trustedOrigins?: readonly string[];
}

/** A whole response with any status. */
export interface HttpResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** A response whose body is read later: read it to its end, or destroy it. */
export interface HttpDownload {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readable;
}

/** A transport failure. `sent` says whether the request may have reached the other side; false means certainly not. */
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
