import type { StoredFile } from './files.ts';

/** What a browser may show by itself. Everything else, SVG and HTML above all, could run script in our name: it is saved. */
const SHOWN = /^(image\/(?!svg)|video\/|audio\/|text\/plain$|application\/json$)/;

/** The headers of a file's answer, but for those that say how much of it comes. */
export function headersOf(file: StoredFile, cacheControl: string): Record<string, string> {
  const isShown = SHOWN.test(file.contentType);
  return {
    'Content-Type': isText(file.contentType) ? `${file.contentType}; charset=utf-8` : file.contentType,
    'Content-Disposition': dispositionOf(isShown ? 'inline' : 'attachment', file.name),
    ETag: etagOf(file),
    'Last-Modified': file.createdAt.toUTCString(),
    'Accept-Ranges': 'bytes',
    'Cache-Control': cacheControl,
    'X-Content-Type-Options': 'nosniff',
    // Pages of other origins may show the file; the file itself may do nothing.
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ...(isShown ? {} : { 'Content-Security-Policy': "default-src 'none'; sandbox" }),
  };
}

/** The bytes never change, so their hash names them. */
export function etagOf({ sha256 }: StoredFile): string {
  return `"${sha256}"`;
}

function isText(contentType: string): boolean {
  return contentType.startsWith('text/') || contentType === 'application/json';
}

/** The name in ASCII for old readers, and as it is (RFC 6266) when that differs. */
function dispositionOf(disposition: string, name: string): string {
  const ascii = name.replaceAll(/[^A-Za-z0-9._-]/g, '_');
  const extended = ascii === name ? '' : `; filename*=UTF-8''${encodeURIComponent(name)}`;
  return `${disposition}; filename="${ascii}"${extended}`;
}
