import type { StoredFile } from './files.ts';

/** Types that browsers may show inline. Others, above all HTML and XML, could run scripts on our origin: they are saved. */
const SHOWN = /^((image|video|audio)\/(?!svg|.*xml)|text\/plain$|application\/json$)/;

/** The headers of a file's response, but for those of its length and range. */
export function createFileHeaders(file: StoredFile, cacheControl: string): Record<string, string> {
  return {
    'Content-Type': formatContentType(file),
    'Content-Disposition': formatDisposition(file),
    ETag: formatEtag(file),
    'Last-Modified': file.createdAt.toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': cacheControl,
    'X-Content-Type-Options': 'nosniff',
    // Pages of other origins may show the file; the file itself may do nothing.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ...(SHOWN.test(file.contentType) ? {} : { 'Content-Security-Policy': "default-src 'none'; sandbox" }),
  };
}

/** The bytes never change, so the tag is their hash. */
export function formatEtag({ sha256 }: StoredFile): string {
  return `"${sha256}"`;
}

/** The type, with the encoding where it is a text. */
export function formatContentType({ contentType }: Pick<StoredFile, 'contentType'>): string {
  const isText = contentType.startsWith('text/') || contentType === 'application/json';
  return isText ? `${contentType}; charset=utf-8` : contentType;
}

/** Shown or saved, by the type; the name in ASCII for old readers, and as it is (RFC 6266) when that differs. */
export function formatDisposition({ contentType, name }: Pick<StoredFile, 'contentType' | 'name'>): string {
  const disposition = SHOWN.test(contentType) ? 'inline' : 'attachment';
  const ascii = name.replaceAll(/[^A-Za-z0-9._-]/g, '_');
  const extended = ascii === name ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`;
  return `${disposition}; filename="${ascii}"${extended}`;
}

/** What a Range header asks for, of a file of so many bytes. */
type RangeAnswer =
  /** No range, several, or one in a form that is not ours: the whole file (RFC 9110 14.2). */
  | 'whole'
  /** Nothing of the file is in it: 416. */
  | 'unsatisfiable'
  /** Both ends inclusive. */
  | { readonly start: number; readonly end: number };

/** Reads a Range header: `bytes=a-b`, `bytes=a-` or `bytes=-last`. */
export function readRangeHeader(header: string | undefined, bytes: number): RangeAnswer {
  const found = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? '');
  const [, first = '', last = ''] = found ?? [];
  if (found === null || (first === '' && last === '')) return 'whole';
  if (first === '') return satisfiable(Math.max(0, bytes - Number(last)), bytes - 1);
  const end = last === '' ? bytes - 1 : Number(last);
  if (end < Number(first) && last !== '') return 'whole';
  return satisfiable(Number(first), Math.min(end, bytes - 1));
}

function satisfiable(start: number, end: number): RangeAnswer {
  return start <= end ? { start, end } : 'unsatisfiable';
}
