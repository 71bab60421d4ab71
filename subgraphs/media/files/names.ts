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

/** The path of a file's address below PUBLIC_URL or a CDN; the same as its key in the object store, encoded. */
export function pathOf(id: string, name: string): string {
  return `/files/${id}/${encodeURIComponent(name)}`;
}

/** The key of a file's bytes in the object store. */
export function objectKeyOf(id: string, name: string): string {
  return `files/${id}/${name}`;
}

/** The id in the path of a file's address, under any prefix; null for other paths. */
export function idOfPath(pathname: string): string | null {
  const found = /\/files\/([^/]+)\/[^/]+$/.exec(pathname)?.[1];
  return found !== undefined && isUuid(found) ? found.toLowerCase() : null;
}
