import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';

import type { RequestHandler } from 'express';
import { type FileUpload, processRequest } from 'graphql-upload-minimal';

import { AppError, toError } from '../../errors.ts';
import { requestSlot } from '../../request-slot.ts';
import { declaredBytes, rememberRequestBytes } from './request-bytes.ts';
import { guardUploadMap } from './upload-map.ts';

/**
 * File uploads in GraphQL requests (graphql-multipart-request): a guard, then the parser. Files are streamed, never
 * buffered whole. Used by the gateway and by subgraphs in processes of their own.
 */

/** Bounds of one upload request. */
export interface UploadOptions {
  /** Largest file in bytes; a larger one fails its stream with PAYLOAD_TOO_LARGE. */
  readonly maxFileSize: number;
  /** Largest `operations` and `map` field in bytes, each (default 1,000,000). */
  readonly maxFieldBytes?: number | undefined;
  /** Milliseconds for the rest of an unread body after the response, before the socket is closed (default 5,000). */
  readonly drainMs?: number;
}

/** Most files of one request. */
const MAX_FILES = 10;
const MAX_FIELD_BYTES = 1_000_000;

/** Browsers send none of these headers without a CORS preflight, so a foreign form can't. One of them is required. */
export const PREFLIGHT_HEADERS = [
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'graphql-require-preflight',
] as const;

/**
 * Express middleware that parses a multipart request into `request.body` with `Upload` values; other requests pass.
 * Responds 400 without a preflight header, before parsing, and 413 to oversized fields.
 */
export function createUploadMiddleware(options: UploadOptions): RequestHandler {
  return async (request, response, next) => {
    if (!isMultipart(request)) return next();
    guardUnreadBody(request, response, options.drainMs);
    if (!PREFLIGHT_HEADERS.some((name) => request.headers[name])) {
      return refuse(
        response,
        400,
        'BAD_REQUEST',
        `send the header ${PREFLIGHT_HEADERS[0]}: true with uploads`,
      );
    }
    try {
      request.body = await readOperations(request, response, options);
    } catch (error) {
      const { message, status } = toError(error) as Error & { status?: number };
      if (response.destroyed) return;
      const isTooLarge = status === 413;
      return refuse(
        response,
        isTooLarge ? 413 : 400,
        isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'BAD_REQUEST',
        message,
      );
    }
    next();
  };
}

/**
 * Keeps a client from hanging on a body that is not read any more: after the response the rest is discarded, and the
 * socket is closed when it has not ended within `drainMs`. Safe on every request.
 */
export function guardUnreadBody(request: IncomingMessage, response: ServerResponse, drainMs = 5_000): void {
  if (watched.of(request) === true) return;
  watched.keep(request, true);
  response.once('finish', () => {
    if (request.complete) return;
    request.unpipe();
    request.resume();
    const cut = setTimeout(() => request.socket.destroy(), drainMs);
    request.once('close', () => clearTimeout(cut));
  });
}

const watched = requestSlot<IncomingMessage, true>('watched');

function isMultipart(request: IncomingMessage): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(request.headers['content-type'] ?? '');
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ errors: [{ message, extensions: { code } }] }));
}

async function readOperations(
  request: IncomingMessage,
  response: ServerResponse,
  { maxFileSize, maxFieldBytes = MAX_FIELD_BYTES }: UploadOptions,
): Promise<unknown> {
  guardUploadMap(request);
  // One byte more, because busboy calls a file of exactly the limit truncated.
  const operations = await processRequest(request, response, {
    maxFileSize: maxFileSize + 1,
    maxFiles: MAX_FILES,
    maxFieldSize: maxFieldBytes,
  });
  guardFiles(operations, { maxFileSize, requestBytes: declaredBytes(request) });
  return operations;
}

/** Guards the stream of each declared file, wherever it is in the variables. */
function guardFiles(value: unknown, limits: Limits): void {
  if (typeof value !== 'object' || value === null) return;
  if (isUpload(value)) {
    rememberRequestBytes(value, limits.requestBytes);
    value.promise = value.promise.then((file) => guardFile(file, limits));
    // The file may never be read (the operation was refused): that is not an unhandled rejection.
    value.promise.catch(() => undefined);
    return;
  }
  for (const child of Object.values(value)) guardFiles(child, limits);
}

interface Limits {
  readonly maxFileSize: number;
  readonly requestBytes: number | null;
}

interface UploadValue {
  promise: Promise<FileUpload>;
}

function isUpload(value: object): value is UploadValue {
  return 'promise' in value && value.promise instanceof Promise;
}

const guarded = new WeakSet<FileUpload>();

/** The parser ends a file that is too long or incomplete as if it were whole; here both are errors. */
function guardFile(file: FileUpload, { maxFileSize, requestBytes }: Limits): FileUpload {
  if (guarded.has(file)) return file;
  guarded.add(file);
  rememberRequestBytes(file, requestBytes);
  const open = file.createReadStream.bind(file);
  let isOpened = false;
  file.createReadStream = () => {
    if (isOpened)
      throw new AppError('BAD_USER_INPUT', 'a file can be used in one place: send it once for each');
    const source = openOrThrow(open, maxFileSize);
    isOpened = true;
    const output = new PassThrough();
    source.once('limit', () => output.destroy(tooLarge(maxFileSize)));
    source.once('error', (error) => output.destroy(cut(error)));
    // The resolver may stop reading; the rest of the file must not block the parts behind it.
    output.once('close', () => source.resume());
    // The library's own streams are no fs.ReadStream either, although its type says so.
    return source.pipe(output) as unknown as ReturnType<FileUpload['createReadStream']>;
  };
  return file;
}

function openOrThrow(open: FileUpload['createReadStream'], maxFileSize: number): Readable {
  try {
    return open();
  } catch (error) {
    const status = (error as { status?: number }).status;
    if (status === 413) throw tooLarge(maxFileSize, error);
    throw status === 499 ? cut(error) : error;
  }
}

function cut(cause: unknown): AppError {
  return new AppError('BAD_USER_INPUT', 'the upload ended before the file was whole', { cause });
}

function tooLarge(maxFileSize: number, cause?: unknown): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `a file may have at most ${maxFileSize} bytes`, { cause });
}
