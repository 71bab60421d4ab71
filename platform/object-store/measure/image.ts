import { type Measurable, type Measures, readRange } from './measurable.ts';

/** Most formats have their size in the first megabyte; others are read whole up to this size. */
const FIRST_BYTES = 1024 * 1024;
const WHOLE_BYTES = 32 * 1024 * 1024;

/** Measures an image, with its EXIF orientation applied. One that can't be read keeps its type and has no size. */
export async function measureImage(file: Measurable, contentType: string): Promise<Measures> {
  const size = (await readSize(file, FIRST_BYTES)) ?? (await readSize(file, WHOLE_BYTES));
  return { contentType, width: size?.width ?? null, height: size?.height ?? null, duration: null };
}

async function readSize(file: Measurable, most: number): Promise<{ width: number; height: number } | null> {
  const bytes = Math.min(file.bytes, most);
  if (most > FIRST_BYTES && (file.bytes <= FIRST_BYTES || file.bytes > most)) return null;
  return readImageSize(await readRange(file, { start: 0, end: bytes - 1 }));
}

/** An image's size by the head of its file, nothing of which is decoded; null where the head does not say it. */
export async function readImageSize(head: Uint8Array): Promise<{ width: number; height: number } | null> {
  // Loaded only when needed: a start is 50 ms shorter without it.
  const { default: sharp } = await import('sharp');
  try {
    const { autoOrient } = await sharp(head, { limitInputPixels: false, failOn: 'none' }).metadata();
    return { width: autoOrient.width, height: autoOrient.height };
  } catch {
    // Damaged, incomplete or of an unknown format: no size.
    return null;
  }
}
