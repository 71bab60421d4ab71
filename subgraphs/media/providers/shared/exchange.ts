import {
  HttpFailure,
  type HttpClient,
  type HttpRequest,
  type HttpResponse,
} from '../../../../platform/http/http-client.ts';
import { modelGone, refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext, Connection, RemoteFile } from '../contract/provider.ts';
import { isAboutModel, isMissingModel } from './model-words.ts';

/**
 * HTTP requests of every provider: URL and headers of the connection, and UpstreamErrors for transport failures and
 * plain HTTP statuses. The meaning of bodies is the provider's own part.
 */

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_MAX_BYTES = 4 * 1024 * 1024;
/** Largest input file sent inline (base64 in JSON, or a multipart part held in memory). */
const MAX_INLINE_INPUT = 20 * 1024 * 1024;

/** One request to a provider. */
export interface ExchangeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Path below the connection's base URL and prefix, with its leading slash. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON body, or raw bytes with their own content type in `headers`. */
  readonly json?: unknown;
  readonly bytes?: Uint8Array;
  /** `safe` only for requests that may be repeated: status reads, listings. A start is never repeated. */
  readonly retry?: HttpRequest['retry'];
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Accept an HTML page instead of JSON (`json` is undefined): for a path the upstream may lack. */
  readonly mayBePage?: boolean;
}

/** An answer of any status. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; undefined when it is empty. */
  readonly json: unknown;
}

/** Sends one request. Throws UpstreamError when no answer came, or one that can't be parsed. */
export type Exchange = (context: CallContext, request: ExchangeRequest) => Promise<ExchangeAnswer>;

/** The same for answers that are files: the bytes of a success, the parsed body of an error. */
export type ByteExchange = (
  context: CallContext,
  request: ExchangeRequest,
) => Promise<ExchangeAnswer & { readonly body: Buffer }>;

/** Creates the function that requests a file. */
export function createByteExchange(http: HttpClient): ByteExchange {
  return async (context, request) => {
    const response = await send(http, context, request);
    const { status, headers, body } = response;
    return { status, headers, body, json: status >= 400 ? parse(response) : undefined };
  };
}

/**
 * Creates the function that sends a provider's requests. A body that is not JSON fails as UNAVAILABLE, start unknown.
 */
export function createExchange(http: HttpClient): Exchange {
  return async (context, request) => {
    const response = await send(http, context, request);
    const isPage = request.mayBePage === true && isHtml(response);
    return {
      status: response.status,
      headers: response.headers,
      json: isPage ? undefined : parse(response),
    };
  };
}

function isHtml({ headers }: HttpResponse): boolean {
  return headers['content-type']?.startsWith('text/html') ?? false;
}

async function send(http: HttpClient, context: CallContext, request: ExchangeRequest): Promise<HttpResponse> {
  try {
    return await http.request(toHttpRequest(context, request));
  } catch (error) {
    throw transportError(error);
  }
}

/** A request for the HTTP client: the connection's URL and headers, limits, trusted origins. */
export function toHttpRequest(context: CallContext, request: ExchangeRequest): HttpRequest {
  const body = request.json === undefined ? request.bytes : JSON.stringify(request.json);
  return {
    method: request.method,
    url: buildUrl(context.connection, request.path),
    headers: {
      accept: 'application/json',
      ...(request.json === undefined ? {} : { 'content-type': 'application/json' }),
      ...context.connection.headers,
      ...request.headers,
    },
    ...(body === undefined ? {} : { body }),
    timeoutMs: request.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxBytes: request.maxBytes ?? DEFAULT_MAX_BYTES,
    signal: context.signal,
    retry: request.retry ?? 'never',
    trustedOrigins: trustedOrigins(context.connection),
  };
}

/** The URL of a path at this connection. */
export function buildUrl(connection: Connection, path: string): string {
  return `${connection.baseUrl.replace(/\/+$/, '')}${connection.pathPrefix}${path}`;
}

/** The origins whose answers and files the operator trusts for this connection. */
function trustedOrigins(connection: Connection): readonly string[] {
  const own = [connection.baseUrl, ...Object.values(connection.endpoints ?? {})];
  return [...own.map((url) => new URL(url).origin), ...connection.resultOrigins];
}

/** The HTTP client's error as UpstreamError. */
export function transportError(error: unknown): UpstreamError {
  if (!(error instanceof HttpFailure)) throw error;
  // The file that is its body could not be read: the provider is not at fault, and never had the whole.
  if (error.cause instanceof UpstreamError) return error.cause;
  const code = error.code === 'TIMED_OUT' ? 'TIMED_OUT' : 'UNAVAILABLE';
  return new UpstreamError(
    code,
    `the provider did not answer (${error.code.toLowerCase().replace('_', ' ')})`,
    { startUnknown: error.sent, cause: error },
  );
}

function parse(response: HttpResponse): unknown {
  if (response.body.length === 0) return undefined;
  try {
    return JSON.parse(response.body.toString('utf8'));
  } catch (cause) {
    // An error page still has its status; a success that can't be parsed has nothing.
    if (response.status >= 400) return undefined;
    throw new UpstreamError('UNAVAILABLE', 'the provider answered with something that is not JSON', {
      startUnknown: true,
      cause,
    });
  }
}

/** The error of a plain HTTP status, for vendors that use them; undefined for 2xx. */
export function errorOfStatus(answer: ExchangeAnswer, message: string): UpstreamError | undefined {
  const { status } = answer;
  if (status < 400) return undefined;
  if (status === 429)
    return new UpstreamError('RATE_LIMITED', message, { retryAfter: readRetryAfter(answer) });
  if (status === 402) return new UpstreamError('OUT_OF_CREDIT', message);
  if (status === 401 || status === 403) {
    return refusedCredentials('the provider refused our credentials');
  }
  if (status === 408 || status >= 500) {
    return new UpstreamError('UNAVAILABLE', message, {
      startUnknown: true,
      retryAfter: readRetryAfter(answer),
    });
  }
  if (status === 404 || status === 410) return new UpstreamError('LOST', message);
  // No such operation at this address: no caller can mend that.
  if (status === 405) return new UpstreamError('UNAVAILABLE', message);
  return new UpstreamError('INVALID_INPUT', message);
}

/** Where a start names its model. */
type ModelPlace = 'path' | 'body';

/**
 * Throws the error of a plain HTTP status; returns for 2xx. A missing path means that existing work is LOST, that the model of a
 * start is gone where the path names it (or the vendor says so), and otherwise UNAVAILABLE: a wrong address, or a proxy's page.
 */
export function throwStatus(
  answer: ExchangeAnswer,
  {
    message,
    isAboutWork,
    start,
  }: { readonly message: string; readonly isAboutWork: boolean; readonly start?: ModelPlace | undefined },
): void {
  const error = errorOfStatus(answer, message);
  if (error === undefined) return;
  const isMissing = error.code === 'LOST' && start === 'path' && isMissingModel(answer.json, message);
  if (start !== undefined && (isMissing || (answer.status < 500 && isAboutModel(message)))) {
    throw modelGone(message);
  }
  if (error.code === 'LOST' && !isAboutWork) {
    throw new UpstreamError('UNAVAILABLE', message);
  }
  throw error;
}

/** Retry-After in seconds or as a date, bounded to an hour. */
export function readRetryAfter(answer: ExchangeAnswer): number | undefined {
  const value = answer.headers['retry-after'];
  if (value === undefined) return undefined;
  const seconds = /^\d+(\.\d+)?$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(3600, Math.max(0, Math.ceil(seconds))) : undefined;
}

/** An input file's bytes, refused when too large to send inline. */
export async function readInput(file: InputFile, field: string): Promise<Buffer> {
  if (file.bytes > MAX_INLINE_INPUT) {
    throw new UpstreamError(
      'INVALID_INPUT',
      `${field} is larger than ${MAX_INLINE_INPUT} bytes; send a smaller file`,
      { field },
    );
  }
  const chunks: Buffer[] = [];
  for await (const chunk of await file.open()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** An input file as a data: URI. */
export async function dataUri(file: InputFile, field: string): Promise<string> {
  return `data:${file.contentType};base64,${(await readInput(file, field)).toString('base64')}`;
}

/** Awaits a step before a start, such as an upload: whatever happens, nothing has started yet. */
export async function beforeStart<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof UpstreamError) || !error.startUnknown) throw error;
    const { code, message, retryable, retryAfter, cause } = error;
    throw new UpstreamError(code, message, { retryable, cause, retryAfter });
  }
}

/** The result file of a URL; a data: URI is the file itself. */
export function toRemoteFile(url: string): RemoteFile {
  const [, contentType, data] = /^data:([\w/+.-]+);base64,(.*)$/s.exec(url) ?? [];
  if (contentType === undefined || data === undefined) return { url };
  return { content: Buffer.from(data, 'base64'), contentType };
}
