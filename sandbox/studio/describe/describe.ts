import sharp from 'sharp';

import { UnreadableImage } from '../types/studio.ts';
import type { Description } from '../types/studio.ts';
import { measure } from './measure.ts';
import { ownDescription } from './own-description.ts';
import { findPalette } from './palette.ts';
import { writeCaption, writePrompts } from './words.ts';

/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
const SMALL_EDGE = 160;

/**
 * Describes a picture by measurements: size, colours, light, detail. Nothing is recognized; the file's own description is
 * quoted. Throws UnreadableImage.
 */
export async function describeImage(picture: Uint8Array): Promise<Description> {
  const { width, height, format, small, metadata } = await read(picture);
  const own = ownDescription(metadata);
  const palette = findPalette(small.data);
  const facts = { width, height, format, palette, measures: measure(small), ownDescription: own };
  return {
    prompts: writePrompts(facts),
    caption: `${writeCaption(facts)}.`,
    note:
      own === null ? 'measured only: objects and people are not recognised' : `the file itself says: ${own}`,
    width,
    height,
    format,
    palette: palette.map(({ name, hex, share }) => ({ name, hex, share: Math.round(share * 1_000) / 1_000 })),
  };
}

async function read(picture: Uint8Array) {
  try {
    const image = sharp(picture, { limitInputPixels: MAX_PIXELS, failOn: 'error' });
    const metadata = await image.metadata();
    const { autoOrient, format } = metadata;
    const { data, info } = await image
      .autoOrient()
      .resize(SMALL_EDGE, SMALL_EDGE, { fit: 'inside' })
      .flatten({ background: '#fff' })
      .toColourspace('srgb')
      .raw()
      .toBuffer({ resolveWithObject: true });
    const small = { data: threeChannels(data, info.channels), width: info.width, height: info.height };
    return { width: autoOrient.width, height: autoOrient.height, format, small, metadata };
  } catch (error) {
    throw new UnreadableImage(error);
  }
}

function threeChannels(data: Uint8Array, channels: number): Uint8Array {
  if (channels === 3) return data;
  const pixels = Math.floor(data.length / channels);
  const at = (index: number) => Math.floor(index / 3) * channels + (channels < 3 ? 0 : index % 3);
  return Uint8Array.from({ length: pixels * 3 }, (_value, index) => data[at(index)] ?? 0);
}
