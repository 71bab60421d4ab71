import {
  brotliDecompressSync,
  constants,
  gunzipSync,
  inflateSync,
  type InputType,
  zstdDecompressSync,
} from 'node:zlib';

/** Bodies before they were compressed: secrets are looked for in them, and answers are compared. */

type Expand = (bytes: InputType, maxOutputLength: number) => Buffer;

// What was cut off is read as far as it came.
const expandGzip: Expand = (bytes, maxOutputLength) =>
  gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength });

const expanders: Readonly<Record<string, Expand>> = {
  gzip: expandGzip,
  'x-gzip': expandGzip,
  deflate: (bytes, maxOutputLength) =>
    inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength }),
  br: (bytes, maxOutputLength) =>
    brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength }),
  zstd: (bytes, maxOutputLength) =>
    zstdDecompressSync(bytes, { finishFlush: constants.ZSTD_e_flush, maxOutputLength }),
};

/** The body that a Content-Encoding has compressed; null when it can't be read, or is larger than `mostBytes`. */
export function expandBody(bytes: Buffer, coding: string, mostBytes: number): Buffer | null {
  const name = coding.trim().toLowerCase();
  if (name === 'identity' || bytes.length === 0) return bytes;
  const expand = Object.hasOwn(expanders, name) ? expanders[name] : undefined;
  try {
    return expand?.(bytes, mostBytes) ?? null;
  } catch {
    return null;
  }
}
