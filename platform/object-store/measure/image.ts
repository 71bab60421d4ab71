import type { Metadata, Sharp } from 'sharp';

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

/** Images of strangers that are decoded here. What is refused by its header takes no memory. */

/** Most pixels by format: libvips unpacks a PNG or JPEG row by row, and takes about 18 bytes for each pixel of an AVIF. */
const MOST_PIXELS: Readonly<Record<string, number>> = {
  png: 100_000_000,
  jpeg: 100_000_000,
  webp: 25_000_000,
  gif: 25_000_000,
  tiff: 25_000_000,
  heif: 9_000_000,
};
/** Of a PNG or JPEG that has to be unpacked whole, as it is interlaced or progressive. */
const MOST_PIXELS_WHOLE = 25_000_000;
/** Many rows are in memory at once, so that a long one takes much: 700 MB at 99,000 pixels. */
const LONGEST_SIDE = 16_384;
/** What we have drawn ourselves. */
const MOST_PIXELS_DRAWN = 25_000_000;

/** An image that may be decoded, and what its header says. */
interface DecodableImage {
  readonly image: Sharp;
  readonly metadata: Metadata;
}

/**
 * Opens an image, so that decoding it takes about 250 MB of memory at most. Throws when it is too large, can't be read, or
 * is of a format that strangers do not send; `isDrawn`: it may also be an SVG of our own.
 */
export async function openImage(content: Uint8Array, isDrawn = false): Promise<DecodableImage> {
  // Loaded only when needed: a start is 50 ms shorter without it.
  const { default: sharp } = await import('sharp');
  const limitInputPixels = MOST_PIXELS['png'] ?? 0;
  const image = sharp(content, { limitInputPixels, failOn: 'error' });
  const metadata = await image.metadata();
  const { format, width, height } = metadata;
  const isWide = Math.max(width, height) > LONGEST_SIDE;
  if (isWide || width * height > mostPixels(metadata, isDrawn)) {
    throw new Error(`a ${format} of ${width} x ${height} pixels is not decoded`);
  }
  return { image, metadata };
}

function mostPixels({ format, isProgressive }: Metadata, isDrawn: boolean): number {
  if (isDrawn && format === 'svg') return MOST_PIXELS_DRAWN;
  const most = MOST_PIXELS[format] ?? 0;
  return isProgressive ? Math.min(most, MOST_PIXELS_WHOLE) : most;
}
