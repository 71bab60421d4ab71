import type { FileService, StoredFile } from '../files/files.ts';

/** Bytes at the end of a file in which its format's own end mark is looked for: some tools leave a little behind it. */
const TAIL_BYTES = 4_096;

/**
 * Whether a stored picture has its end. An upstream (or a cache before it) that keeps half a file also announces its
 * length, so only the format itself tells. Types without an end mark count as whole.
 */
export async function isWhole(files: Pick<FileService, 'open'>, file: StoredFile): Promise<boolean> {
  const { bytes } = file;
  const read = (start: number, end: number) =>
    readBytes(files, file.id, { start, end: Math.min(end, bytes) - 1 });
  switch (file.contentType) {
    case 'image/png':
      return (await read(Math.max(0, bytes - TAIL_BYTES), bytes)).includes('IEND');
    case 'image/jpeg':
      // Within the picture's own data every FF is followed by 00.
      return (await read(Math.max(0, bytes - TAIL_BYTES), bytes)).includes(Buffer.from([0xff, 0xd9]));
    case 'image/webp': {
      const head = await read(0, 8);
      return head.length === 8 && head.readUInt32LE(4) + 8 <= bytes;
    }
    default:
      return true;
  }
}

async function readBytes(
  files: Pick<FileService, 'open'>,
  id: string,
  range: { readonly start: number; readonly end: number },
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await files.open(id, range)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
