import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { AppError } from '../../../platform/errors.ts';
import { isHangUp } from '../../../platform/http/server.ts';
import { isUuid } from '../../../platform/ids.ts';
import type { ByteRange, ObjectStore } from '../../../platform/object-store/object-store.ts';
import {
  formatContentType,
  formatDisposition,
  formatEtag,
  createFileHeaders,
  readRangeHeader,
} from './file-headers.ts';
import type { FileAccess, LocatedFile, StoredFile } from './files.ts';
import { findThumbnailKind, type ThumbnailVariant, readVariant } from './thumbnails/sizes.ts';
import { createThumbnails, type Thumbnails } from './thumbnails/thumbnails.ts';

/** Answers one request for a file. Rejects when the store or the database fails before anything was answered. */
export type FileHandler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

export interface FileHandlerOptions {
  readonly files: FileAccess;
  readonly store: ObjectStore;
  /** Seconds that addresses stay valid (FILES_URL_TTL); 0 for ever. Decides how long caches may keep a file. */
  readonly urlTtlSeconds: number;
  /** Program that decodes first images of videos for thumbnails (FFMPEG_PATH); none when absent. */
  readonly ffmpeg?: string | null;
}

/** A request with this header gets the bytes from here, and no redirect to the store. */
const BYTES_HEADER = 'x-kiln-bytes';

const DAY_SECONDS = 86_400;
/** How long an address that the store gives out stays valid at most: enough to start, and to resume, a download. */
const ADDRESS_SECONDS = 3_600;

/**
 * Serves stored files: GET and HEAD of `/files/{id}/{name}`, the whole or one range. The unguessable id is the
 * capability. Where the store gives out addresses, GET is answered by a redirect to a fresh one. Mount it at `/files` or
 * at the root; it looks at the last two parts of the path.
 */
export function createFileHandler({
  files,
  store,
  urlTtlSeconds,
  ffmpeg = null,
}: FileHandlerOptions): FileHandler {
  // An address of the store must not live longer than one of ours.
  const expiresIn = urlTtlSeconds === 0 ? ADDRESS_SECONDS : Math.min(urlTtlSeconds, ADDRESS_SECONDS);
  const cacheControl =
    urlTtlSeconds === 0
      ? `public, max-age=${DAY_SECONDS}`
      : `private, max-age=${Math.min(urlTtlSeconds, DAY_SECONDS)}`;
  const thumbnails = createThumbnails(store, ffmpeg);
  return async (request, response) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      return refuse(response, 405, 'files can only be read here', { Allow: 'GET, HEAD' });
    }
    const { id, token, name, query } = parseAddress(request);
    if (id === null) return sendShared({ files, store, request, response, token });
    const file = await files.locate(id);
    if (file === null) return refuse(response, 404, 'there is no such file');
    if (!files.admits(file.id, query))
      return refuse(response, 403, 'this address has expired: ask for a new one');
    const variant = name === file.name ? null : readVariant(name);
    if (variant !== null)
      return sendThumbnail({ thumbnails, request, response, file, variant, cacheControl });
    await answer({ request, response, file, store, cacheControl, expiresIn, mayRedirect: true });
  };
}

/** Opens a file by the path and query of its address; null where there is none, or the address has expired. */
export type OpenFile = (address: string) => Promise<Readable | null>;

/** Makes what opens files for this process itself, without a request. */
export function createFileOpener({ files, store }: Pick<FileHandlerOptions, 'files' | 'store'>): OpenFile {
  return async (address) => {
    const { id, query } = parseAddress({ url: address });
    const file = id === null ? null : await files.locate(id);
    return file === null || !files.admits(file.id, query) ? null : store.get(file.objectKey);
  };
}

interface SendingShared extends Pick<Answering, 'request' | 'response' | 'store'> {
  readonly files: FileAccess;
  readonly token: string;
}

/** A shared address. The store's own address would tell the id, so the bytes pass through here. */
async function sendShared({ files, token, ...rest }: SendingShared): Promise<void> {
  const file = await files.shared(token);
  if (file === null) return refuse(rest.response, 404, 'there is no such file');
  if (file === 'ended')
    return refuse(rest.response, 410, 'this address has ended: ask whoever has shared it for a new one');
  // Asked for again each time, so that it ends in caches too.
  await answer({ ...rest, file, cacheControl: 'private, no-cache', expiresIn: 0, mayRedirect: false });
}

interface SendingThumbnail {
  readonly thumbnails: Thumbnails;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly file: LocatedFile;
  readonly variant: ThumbnailVariant;
  readonly cacheControl: string;
}

async function sendThumbnail(sending: SendingThumbnail): Promise<void> {
  const { thumbnails, request, response, file, variant, cacheControl } = sending;
  if (findThumbnailKind(file.contentType) === null) {
    return refuse(response, 404, 'there are thumbnails of images, recordings and videos only');
  }
  try {
    const body = await thumbnails.read(file, variant);
    response.writeHead(200, {
      'Content-Type': 'image/webp',
      'Content-Length': body.length,
      'Cache-Control': cacheControl,
      'X-Content-Type-Options': 'nosniff',
    });
    response.end(request.method === 'HEAD' ? undefined : body);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const isMissing = error.code === 'NOT_FOUND';
    refuse(response, isMissing ? 404 : 503, error.message, isMissing ? {} : { 'Retry-After': '5' });
  }
}

interface Answering {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly file: LocatedFile;
  readonly store: ObjectStore;
  readonly cacheControl: string;
  /** Seconds that an address of the store stays valid. */
  readonly expiresIn: number;
  readonly mayRedirect: boolean;
}

async function answer(answering: Answering): Promise<void> {
  const { request, response, file, store, cacheControl } = answering;
  const headers = createFileHeaders(file, cacheControl);
  if (isUnchanged(request, file)) {
    response.writeHead(304, headers).end();
    return;
  }
  // Responses without bytes are made here: an address of the store is valid for GET, not for HEAD.
  if (
    answering.mayRedirect &&
    request.headers[BYTES_HEADER] === undefined &&
    request.method === 'GET' &&
    (await redirect(answering))
  )
    return;
  const range = mayRange(request, file) ? readRangeHeader(request.headers.range, file.bytes) : 'whole';
  if (range === 'unsatisfiable') {
    return refuse(response, 416, 'there are no bytes in this range', {
      'Content-Range': `bytes */${file.bytes}`,
    });
  }
  const part: ByteRange | undefined = range === 'whole' ? undefined : range;
  const length = part === undefined ? file.bytes : part.end - part.start + 1;
  const partHeaders =
    part === undefined ? {} : { 'Content-Range': `bytes ${part.start}-${part.end}/${file.bytes}` };
  const begin = () =>
    response.writeHead(part === undefined ? 200 : 206, {
      ...headers,
      ...partHeaders,
      'Content-Length': length,
    });
  if (request.method === 'HEAD') {
    begin().end();
    return;
  }
  const body = await store.get(file.objectKey, part);
  begin();
  await send(body, response);
}

/** Redirects to the object store, when it gives out addresses; ranges are requested there. */
async function redirect({ response, file, store, expiresIn }: Answering): Promise<boolean> {
  const address = await store.address(file.objectKey, {
    expiresIn,
    contentType: formatContentType(file),
    contentDisposition: formatDisposition(file),
  });
  if (address === null) return false;
  response.writeHead(302, { Location: address, 'Cache-Control': 'no-store' }).end();
  return true;
}

/** A reader that goes away ends the stream from the store; that is no failure of ours. */
async function send(body: NodeJS.ReadableStream, response: ServerResponse): Promise<void> {
  try {
    await pipeline(body, response);
  } catch (error) {
    // The headers are sent, so only a broken connection can say that the rest is missing.
    response.destroy();
    if (!isHangUp(error)) throw error;
  }
}

function parseAddress(request: Pick<IncomingMessage, 'url'>) {
  const url = URL.parse(request.url ?? '', 'http://files');
  const [, id = '', name = ''] = /\/([^/]+)\/([^/]+)$/.exec(url?.pathname ?? '') ?? [];
  return { id: isUuid(id) ? id : null, token: id, name, query: url?.searchParams ?? new URLSearchParams() };
}

/** If-None-Match wins over If-Modified-Since (RFC 9110 13.2.2). */
function isUnchanged({ headers }: IncomingMessage, file: StoredFile): boolean {
  const known = headers['if-none-match'];
  if (known !== undefined) {
    const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    return tags.includes('*') || tags.includes(formatEtag(file));
  }
  return isNotAfter(file, headers['if-modified-since']);
}

/** With If-Range, a range is only sent of the same version of the file. */
function mayRange({ headers }: IncomingMessage, file: StoredFile): boolean {
  const condition = headers['if-range'];
  return typeof condition !== 'string' || condition === formatEtag(file) || isNotAfter(file, condition);
}

function isNotAfter({ createdAt }: StoredFile, date: string | undefined): boolean {
  const at = Date.parse(date ?? '');
  return !Number.isNaN(at) && Math.floor(createdAt.getTime() / 1_000) * 1_000 <= at;
}

function refuse(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'text/plain; charset=utf-8',
    'Cache-Control': 'no-store',
  });
  response.end(`${message}\n`);
}
