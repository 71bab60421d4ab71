import { createHmac, timingSafeEqual } from 'node:crypto';

import { isUuid } from '../../../platform/ids.ts';

/** Names and addresses of files: pure text rules. */

const MAX_NAME = 100;

/** The safe tail of a file name: no folders, only letters, digits, dots, dashes and underscores, at most 100 characters. */
export function safeName(name: string): string {
  const tail = name.split(/[/\\]/).at(-1) ?? '';
  const plain = tail
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '-')
    .replace(/^[.-]+/, '');
  const characters = Array.from(plain);
  if (characters.length <= MAX_NAME) return plain === '' ? 'file' : plain;
  const ending = /\.[A-Za-z0-9]{1,8}$/.exec(plain)?.[0] ?? '';
  return characters.slice(0, MAX_NAME - ending.length).join('') + ending;
}

/** Extensions by type, for files without one. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/png': 'png',
  'image/apng': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/gif': 'gif',
  'image/avif': 'avif',
  'image/heic': 'heic',
  'image/bmp': 'bmp',
  'image/tiff': 'tiff',
  'image/svg+xml': 'svg',
  'video/mp4': 'mp4',
  'video/webm': 'webm',
  'video/quicktime': 'mov',
  'video/x-matroska': 'mkv',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/wav': 'wav',
  'audio/flac': 'flac',
  'audio/ogg': 'ogg',
  'audio/aac': 'aac',
  'audio/pcm': 'pcm',
  'application/json': 'json',
  'application/pdf': 'pdf',
  'application/zip': 'zip',
  'application/x-subrip': 'srt',
  'text/plain': 'txt',
  'text/csv': 'csv',
  'text/markdown': 'md',
  'text/vtt': 'vtt',
  'text/html': 'html',
};

/** A file extension; a number behind a dot (`take.2`) is none. */
const ENDING = /\.(?!\d+$)[A-Za-z0-9]{1,8}$/;

/** The safe name under which a file is stored: its own, with the extension of its type when it has none. */
export function storedName(name: string, contentType: string | null): string {
  const safe = safeName(name);
  const ending = ENDINGS[plainType(contentType)];
  return ending === undefined || ENDING.test(safe) ? safe : safeName(`${safe}.${ending}`);
}

/** The declared type without parameters, in lower case; application/octet-stream when it is absent or malformed. */
export function plainType(declaredType: string | null): string {
  const type = declaredType?.split(';')[0]?.trim().toLowerCase() ?? '';
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,80}$/.test(type) ? type : 'application/octet-stream';
}

/** The path of a file's address below PUBLIC_URL or a CDN; the same as its key in the object store, encoded. */
export function formatFilePath(id: string, name: string): string {
  return `/files/${id}/${encodeURIComponent(name)}`;
}

/** The key of a file's bytes in the object store. */
export function formatObjectKey(id: string, name: string): string {
  return `files/${id}/${name}`;
}

/** The id in the path of a file's address, under any prefix; null for other paths. */
export function readIdInPath(pathname: string): string | null {
  const found = /\/files\/([^/]+)\/[^/]+$/.exec(pathname)?.[1];
  return found !== undefined && isUuid(found) ? found.toLowerCase() : null;
}

/**
 * Expiring file addresses (FILES_URL_TTL): `exp` and `sig` in the query are the proof. Signs with HMAC-SHA-256.
 * `ttlSeconds` and the clock decide when an address ends.
 */
export function createSigner({
  secret,
  ttlSeconds,
  clock,
}: {
  readonly secret: string;
  readonly ttlSeconds: number;
  readonly clock: () => number;
}) {
  const signature = (id: string, expires: number) =>
    createHmac('sha256', secret).update(`kiln file address\n${id}\n${expires}`).digest();
  return {
    /** The query that makes an address valid from now on for the configured time. */
    sign(id: string): string {
      const expires = Math.floor(clock() / 1_000) + ttlSeconds;
      return `exp=${expires}&sig=${signature(id, expires).toString('base64url')}`;
    },
    /** Whether the query proves that the address of this id may be used now. */
    verify(id: string, query: URLSearchParams): boolean {
      const expires = Number(query.get('exp') ?? Number.NaN);
      if (!Number.isSafeInteger(expires) || expires * 1_000 <= clock()) return false;
      const received = Buffer.from(query.get('sig') ?? '', 'base64url');
      const right = signature(id, expires);
      return received.length === right.length && timingSafeEqual(received, right);
    },
  };
}
