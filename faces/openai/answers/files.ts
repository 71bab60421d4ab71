import { Readable } from 'node:stream';

import { AppError } from '../../../platform/errors.ts';
import { fileAddress } from '../../shared/request.ts';
import type { FaceParts } from '../table/route.ts';

/** The bytes of results, by the addresses that the graph answers. */

type Opener = Pick<FaceParts, 'openFile'>;

/** Opens a file. Throws NOT_FOUND where it is gone. */
export async function openFile({ openFile: open }: Opener, url: string): Promise<Readable> {
  const file = await open(fileAddress(url));
  if (file === null) throw new AppError('NOT_FOUND', 'the file was deleted');
  return file;
}

/** A file in base64, in pieces: only a few bytes of it are held at once. */
export async function* encodeFile(file: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of file as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = bytes.length - (bytes.length % 3);
    rest = bytes.subarray(whole);
    if (whole > 0) yield bytes.toString('base64', 0, whole);
  }
  if (rest.length > 0) yield rest.toString('base64');
}

/** Makes the place of a file's base64 in a JSON text; `jsonWithFiles` fills it. */
export function fileMark(index: number): string {
  return `\u0000file ${index}\u0000`;
}

/** JSON in which marks are replaced by the base64 of files: images are streamed, never held whole. */
export async function jsonWithFiles(
  parts: Opener,
  { body, urls }: { readonly body: object; readonly urls: readonly string[] },
): Promise<Readable> {
  // The first is opened before anything is answered, so that one that is gone has an answer of its own.
  const first = urls[0] === undefined ? null : await openFile(parts, urls[0]);
  const texts = JSON.stringify(body).split(/\\u0000file \d+\\u0000/);
  return Readable.from(pieces(parts, { texts, urls, first }));
}

async function* pieces(
  parts: Opener,
  {
    texts,
    urls,
    first,
  }: { readonly texts: readonly string[]; readonly urls: readonly string[]; readonly first: Readable | null },
): AsyncGenerator<string> {
  for (const [index, text] of texts.entries()) {
    yield text;
    const url = urls[index];
    if (url === undefined) continue;
    yield* encodeFile(index === 0 && first !== null ? first : await openFile(parts, url));
  }
}
