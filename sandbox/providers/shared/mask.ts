import sharp, { type Sharp } from 'sharp';

/** A picture, what is to be seen in a part of it, and which part. */
export interface Repaint {
  readonly picture: Uint8Array;
  readonly drawn: Uint8Array;
  readonly mask: Uint8Array;
  /** What marks the part that is drawn anew: the mask's transparent pixels (OpenAI), or its bright ones (everybody else). */
  readonly marked: 'transparent' | 'bright';
}

/** The picture with the masked part drawn anew, as PNG; the mask is stretched over the picture. */
export async function repaint({ picture, drawn, mask, marked }: Repaint): Promise<Buffer> {
  const base = sharp(picture).removeAlpha();
  const { width, height } = await base.metadata();
  const size = { width, height, fit: 'fill' } as const;
  const source = sharp(mask).resize(size);
  const part = marked === 'transparent' ? alphaOf(source).negate() : source.removeAlpha().greyscale();
  const alpha = await part.toColourspace('b-w').raw().toBuffer();
  const cover = await sharp(drawn)
    .resize({ width, height, fit: 'cover' })
    .removeAlpha()
    .joinChannel(alpha, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  return base
    .composite([{ input: cover }])
    .png()
    .toBuffer();
}

function alphaOf(source: Sharp): Sharp {
  return source.ensureAlpha().extractChannel('alpha');
}
