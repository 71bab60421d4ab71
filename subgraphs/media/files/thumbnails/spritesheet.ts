import { decodeInThread, decodeWithFfmpeg } from './decode.ts';
import { type DecodedPicture, SHEET_PICTURES, type SheetPictures } from './decoder-messages.ts';

/** Pictures in a row. */
const COLUMNS = 4;
/** Widest picture in pixels. */
const MAX_WIDTH = 320;
const ENCODING = { quality: 78, effort: 2 };

/** Up to 16 pictures of a video at even distances, as one WebP; null when nothing here decodes it. `ffmpeg` is a program's path, or null. */
export async function readSpritesheet(video: Uint8Array, ffmpeg: string | null): Promise<Buffer | null> {
  const script = new URL('./spritesheet-thread.ts', import.meta.url);
  const found = await decodeInThread<SheetPictures>(script, video);
  if (found === null) return null;
  const { decoded, film, duration, rotation } = found;
  if (decoded !== null) return composeSheet(decoded, rotation);
  if (film === null || ffmpeg === null || !(duration > 0)) return null;
  // Players turn the film, ffmpeg does not: the packets alone say nothing of it.
  const filter = `fps=${SHEET_PICTURES / duration},scale='min(${MAX_WIDTH},iw)':-2,tile=${COLUMNS}x${SHEET_PICTURES / COLUMNS}`;
  const sheet = await decodeWithFfmpeg(ffmpeg, film, ['-vf', filter]).catch(() => null);
  if (sheet === null) return null;
  const { default: sharp } = await import('sharp');
  return sharp(sheet).webp(ENCODING).toBuffer();
}

async function composeSheet(pictures: readonly DecodedPicture[], rotation: number): Promise<Buffer> {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  const tiles = await Promise.all(
    pictures.map(({ rgb, width, height }) =>
      sharp(rgb, { raw: { width, height, channels: 3 } })
        .rotate(rotation)
        .resize({ width: MAX_WIDTH, withoutEnlargement: true })
        .png()
        .toBuffer({ resolveWithObject: true }),
    ),
  );
  const { width = 1, height = 1 } = tiles[0]?.info ?? {};
  const sheet = {
    width: width * Math.min(COLUMNS, tiles.length),
    height: height * Math.ceil(tiles.length / COLUMNS),
    channels: 3,
    background: '#000',
  } as const;
  const placed = tiles.map(({ data }, index) => ({
    input: data,
    left: (index % COLUMNS) * width,
    top: Math.floor(index / COLUMNS) * height,
  }));
  return sharp({ create: sheet }).composite(placed).webp(ENCODING).toBuffer();
}
