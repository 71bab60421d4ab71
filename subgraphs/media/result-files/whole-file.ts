import type { FileService, StoredFile } from '../files/files.ts';

/** Bytes at the end of a file in which its format's end mark is searched: some tools write a little behind it. */
const TAIL_BYTES = 4_096;

/**
 * Whether a stored image or video is complete. An upstream (or a cache before it) that has half a file also declares half
 * its length, so only the format shows it. Types without an end mark count as complete.
 */
export async function isWhole(files: Pick<FileService, 'open'>, file: StoredFile): Promise<boolean> {
  const { bytes } = file;
  const read = (start: number, end: number) =>
    readBytes(files, file.id, { start, end: Math.min(end, bytes) - 1 });
  switch (file.contentType) {
    case 'image/png':
      return (await read(Math.max(0, bytes - TAIL_BYTES), bytes)).includes('IEND');
    case 'image/jpeg':
      // Within the image's own data every FF is followed by 00.
      return (await read(Math.max(0, bytes - TAIL_BYTES), bytes)).includes(Buffer.from([0xff, 0xd9]));
    case 'image/webp': {
      const head = await read(0, 8);
      return head.length === 8 && head.readUInt32LE(4) + 8 <= bytes;
    }
    case 'video/mp4':
    case 'video/quicktime':
    case 'audio/mp4':
    case 'audio/x-m4a':
      return hasWholeBoxes(bytes, read);
    default:
      return true;
  }
}

/** Most top-level boxes of an MP4 file that are read; one with more (fragments) counts as complete. */
const MAX_BOXES = 1_000;

/** The boxes that stand at the top of MP4 files. */
const BOXES = new Set(
  'ftyp styp moov mdat free skip wide uuid moof mfra sidx ssix pdin meta emsg prft pnot udta'.split(' '),
);

/** Whether every box of an MP4 file ends within it, and its index is among them. */
async function hasWholeBoxes(
  bytes: number,
  read: (start: number, end: number) => Promise<Buffer>,
): Promise<boolean> {
  let hasIndex = false;
  let start = 0;
  for (let box = 0; start < bytes; box += 1) {
    if (box === MAX_BOXES) return true;
    const head = await read(start, start + 16);
    if (head.length < 8) return false;
    const name = head.toString('latin1', 4, 8);
    const short = head.readUInt32BE(0);
    hasIndex ||= name === 'moov';
    // A length of 0 means: to the end of the file. What is no box (some tools leave padding behind) ends it too.
    if (short === 0 || !BOXES.has(name)) return hasIndex;
    // 1: the length is a longer number behind the name.
    const length = short === 1 && head.length === 16 ? Number(head.readBigUInt64BE(8)) : short;
    if (length < 8) return false;
    start += length;
  }
  return hasIndex && start === bytes;
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
