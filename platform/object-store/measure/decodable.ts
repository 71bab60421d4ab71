import type { Metadata, Sharp } from 'sharp';

/** Pictures of strangers that are decoded here. What is refused by its header takes no memory. */

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

/** A picture that may be decoded, and what its header says. */
export interface DecodablePicture {
  readonly picture: Sharp;
  readonly metadata: Metadata;
}

/**
 * Opens a picture, so that decoding it takes about 250 MB of memory at most. Throws when it is too large, can't be read, or
 * is of a format that strangers do not send; `isDrawn`: it may also be an SVG of our own.
 */
export async function openPicture(content: Uint8Array, isDrawn = false): Promise<DecodablePicture> {
  // Loaded only when needed: a start is 50 ms shorter without it.
  const { default: sharp } = await import('sharp');
  const limitInputPixels = MOST_PIXELS['png'] ?? 0;
  const picture = sharp(content, { limitInputPixels, failOn: 'error' });
  const metadata = await picture.metadata();
  const { format, width, height } = metadata;
  const isWide = Math.max(width, height) > LONGEST_SIDE;
  if (isWide || width * height > mostPixels(metadata, isDrawn)) {
    throw new Error(`a ${format} of ${width} x ${height} pixels is not decoded`);
  }
  return { picture, metadata };
}

function mostPixels({ format, isProgressive }: Metadata, isDrawn: boolean): number {
  if (isDrawn && format === 'svg') return MOST_PIXELS_DRAWN;
  const most = MOST_PIXELS[format] ?? 0;
  return isProgressive ? Math.min(most, MOST_PIXELS_WHOLE) : most;
}
