import { openPicture } from '../../../../platform/object-store/measure/image.ts';
import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import { readInput } from './exchange.ts';

/** Most pixels of the picture of a mask, which is not decoded. */
const MAX_PIXELS = 64_000_000;

/**
 * A mask for wires that draw anew what is transparent: a PNG of the picture's size, transparent where the mask is white.
 * Throws INVALID_INPUT when it is no picture.
 */
export async function transparentMask(
  mask: InputFile,
  picture: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  try {
    const { width, height } = await sharp(picture, { limitInputPixels: MAX_PIXELS }).metadata();
    const white = await openPicture(await readInput(mask, 'mask'));
    const grey = await white.picture
      .flatten({ background: 'white' })
      .resize({ width, height, fit: 'fill' })
      .greyscale()
      .negate()
      .toColourspace('b-w')
      .raw()
      .toBuffer();
    const black = { create: { width, height, channels: 3, background: 'black' } } as const;
    const alpha = { raw: { width, height, channels: 1 } } as const;
    return new Uint8Array(await sharp(black).joinChannel(grey, alpha).png().toBuffer());
  } catch (cause) {
    throw invalidInput('mask', 'it or its picture can not be read', cause);
  }
}
