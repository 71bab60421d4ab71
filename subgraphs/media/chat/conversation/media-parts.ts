import type { Caller } from '../../../../platform/access/caller.ts';
import { AppError, badInput } from '../../../../platform/errors.ts';
import { HttpFailure, type HttpClient } from '../../../../platform/http/http-client.ts';
import { isUuid } from '../../../../platform/ids.ts';
import type { Json, JsonObject } from '../../../../platform/json.ts';
import { readDataUrl } from '../../domain/inputs/input-files.ts';
import type { FileService, StoredFile } from '../../files/files.ts';
import {
  KINDS,
  listMediaKinds,
  type Conversation,
  type MediaKind,
  type MediaPart,
  type Part,
} from './messages.ts';

/** The files of a conversation as language models take them: bytes within the message. */

/** Where the media of a conversation come from. */
export interface MediaPartDependencies {
  readonly files: FileService;
  readonly http: HttpClient;
}

/** Most bytes of all files of one conversation: they are sent inside one request. */
const MAX_MEDIA_BYTES = 14 << 20;
const FETCH_TIMEOUT_MS = 30_000;

/**
 * Refuses files that are gone, others' or too large, before anything is paid for. Answers what kinds of media there are,
 * as far as that is known: foreign addresses are fetched later.
 */
export async function checkMedia(
  { files }: Pick<MediaPartDependencies, 'files'>,
  caller: Caller,
  conversation: Conversation,
): Promise<readonly MediaKind[]> {
  let bytes = 0;
  const kinds = new Set(listMediaKinds(allParts(conversation)));
  for (const part of mediaParts(conversation)) {
    const id = findFileId(files, part);
    if (id === null) checkAddress(part);
    else {
      const file = await ownFile(files, id, part);
      if ('fileId' in part.media && !files.opens(caller, file)) throw notThere(part);
      bytes += file.bytes;
      const kind = toMediaKind(file.contentType);
      if (kind !== null) kinds.add(kind);
    }
    if (bytes > MAX_MEDIA_BYTES) throw tooLarge(part);
  }
  return [...kinds];
}

function toMediaKind(contentType: string): MediaKind | null {
  return Object.values(KINDS).find((kind) => contentType.startsWith(`${kind}/`)) ?? null;
}

/** The messages as the provider takes them. BAD_USER_INPUT naming the field when a file can't be had. */
export async function messagesWithMedia(
  dependencies: MediaPartDependencies,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<Json> {
  let room = MAX_MEDIA_BYTES;
  const messages: JsonObject[] = [];
  for (const { role, content, calls } of conversation.messages) {
    if (typeof content === 'string') {
      messages.push({ role, content, ...calls });
      continue;
    }
    const parts: JsonObject[] = [];
    for (const part of content) {
      if ('plain' in part) parts.push(part.plain);
      else {
        const media = await readMedia(dependencies, part, { room, signal });
        room -= media.bytes.length;
        const { contentType, bytes } = media;
        parts.push(createMediaPart({ contentType, data: bytes.toString('base64') }, part.field));
      }
    }
    messages.push({ role, content: parts, ...calls });
  }
  return messages;
}

function allParts({ messages }: Conversation): readonly Part[] {
  return messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
}

function mediaParts(conversation: Conversation): readonly MediaPart[] {
  return allParts(conversation).flatMap((part) => ('media' in part ? [part] : []));
}

function findFileId(files: FileService, { media }: MediaPart): string | null {
  return 'fileId' in media ? media.fileId : files.idOfUrl(media.url);
}

function checkAddress({ media, field }: MediaPart): void {
  const url = 'url' in media && URL.canParse(media.url) ? new URL(media.url) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '') {
    throw badInput(field, `${field} must be an http or https address, or a file uploaded here`);
  }
}

async function ownFile(files: FileService, id: string, part: MediaPart): Promise<StoredFile> {
  const [file] = isUuid(id) ? await files.byIds([id]) : [];
  if (!file) throw notThere(part);
  return file;
}

function notThere({ field }: MediaPart): AppError {
  return badInput(field, `${field} names a file that does not exist (any more)`);
}

interface ReadMedia {
  readonly bytes: Buffer;
  readonly contentType: string;
}

interface Reading {
  readonly room: number;
  readonly signal: AbortSignal;
}

async function readMedia(
  { files, http }: MediaPartDependencies,
  part: MediaPart,
  { room, signal }: Reading,
): Promise<ReadMedia> {
  const id = findFileId(files, part);
  if (id === null) return fetchMedia(http, part, { room, signal });
  const { contentType, bytes } = await ownFile(files, id, part);
  if (bytes > room) throw tooLarge(part);
  const stream = await files.open(id);
  return { bytes: Buffer.concat(await stream.toArray({ signal })), contentType };
}

async function fetchMedia(http: HttpClient, part: MediaPart, { room, signal }: Reading): Promise<ReadMedia> {
  try {
    const { status, headers, body } = await http.request({
      method: 'GET',
      url: 'url' in part.media ? part.media.url : '',
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: room,
      signal,
      retry: 'safe',
    });
    if (status !== 200) throw badInput(part.field, `${part.field}: fetching it answered HTTP ${status}`);
    // Loaded only when needed.
    const { fileTypeFromBuffer } = await import('file-type');
    const declared = headers['content-type']?.split(';')[0]?.trim() ?? '';
    return { bytes: body, contentType: (await fileTypeFromBuffer(body))?.mime ?? declared };
  } catch (error) {
    if (error instanceof HttpFailure && error.code === 'TOO_LARGE') throw tooLarge(part);
    if (signal.aborted || !(error instanceof HttpFailure)) throw error;
    const message = `${part.field} could not be fetched: ${error.message}`;
    throw new AppError('BAD_USER_INPUT', message, { field: part.field, cause: error });
  }
}

function tooLarge({ field }: MediaPart): AppError {
  return badInput(field, `${field}: all files of a conversation may have at most ${MAX_MEDIA_BYTES} bytes`);
}

/** Media as parts in OpenAI's format; a video as in the compatible servers that take videos. */

/** The part of a file. `data` is base64. Throws BAD_USER_INPUT when no part can hold it. */
function createMediaPart(
  { contentType, data }: { readonly contentType: string; readonly data: string },
  field: string,
): JsonObject {
  const url = `data:${contentType};base64,${data}`;
  if (contentType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (contentType.startsWith('video/')) return { type: 'video_url', video_url: { url } };
  if (contentType.startsWith('audio/')) {
    return { type: 'input_audio', input_audio: { data, format: readFormat(contentType) } };
  }
  throw badInput(field, `${field} is neither an image, a sound nor a video but ${contentType || 'unknown'}`);
}

/** The part of a data: address. */
export function createDataPart(url: string, field: string): JsonObject {
  const media = readDataUrl(url);
  if (media === null) throw badInput(field, `${field} must be a data: address with a media type and base64`);
  return createMediaPart(media, field);
}

const FORMATS: ReadonlyMap<string, string> = new Map([
  ['mpeg', 'mp3'],
  ['wave', 'wav'],
  ['mp4', 'm4a'],
]);

/** The short name of an audio format in OpenAI's API. */
function readFormat(contentType: string): string {
  const name = contentType.slice('audio/'.length).replace(/^x-|^vnd\./, '');
  return FORMATS.get(name) ?? name;
}
