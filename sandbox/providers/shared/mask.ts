import type { Sharp } from 'sharp';

import type { MediaTools } from './perform.ts';

/** An image, what is to be seen in a part of it, and which part. */
export interface Repaint {
  readonly image: Uint8Array;
  readonly drawn: Uint8Array;
  readonly mask: Uint8Array;
  /** What marks the part that is drawn anew: the mask's transparent pixels (OpenAI), or its bright ones (everybody else). */
  readonly marked: 'transparent' | 'bright';
}

/** The image with the masked part drawn anew, as PNG; the mask is stretched over the image. */
export async function repaint({ image, drawn, mask, marked }: Repaint): Promise<Buffer> {
  // Loaded only when needed.
  const { default: sharp } = await import('sharp');
  const base = sharp(image).removeAlpha();
  const { width, height } = await base.metadata();
  const size = { width, height, fit: 'fill' } as const;
  const source = sharp(mask).resize(size);
  const part = marked === 'transparent' ? readAlpha(source).negate() : source.removeAlpha().greyscale();
  const alpha = await part.toColourspace('b-w').raw().toBuffer();
  // In steps: within one, sharp would remove the joined channel too.
  const colours = await sharp(drawn)
    .resize({ width, height, fit: 'cover' })
    .removeAlpha()
    .toColourspace('srgb')
    .raw()
    .toBuffer();
  const cover = await sharp(colours, { raw: { width, height, channels: 3 } })
    .joinChannel(alpha, { raw: { width, height, channels: 1 } })
    .png()
    .toBuffer();
  return base
    .composite([{ input: cover }])
    .png()
    .toBuffer();
}

function readAlpha(source: Sharp): Sharp {
  return source.ensureAlpha().extractChannel('alpha');
}

/** An image and its mask, where there are any. */
interface MaskedPart {
  readonly image: Uint8Array | undefined;
  readonly mask: Uint8Array | undefined;
  readonly marked?: Repaint['marked'];
}

/** The same tools, whose images are the given one with its masked part drawn anew, as PNG; without a mask as they are. */
export function withMask(tools: MediaTools, part: MaskedPart): MediaTools {
  const { image, mask, marked = 'bright' } = part;
  if (image === undefined || mask === undefined) return tools;
  const drawMasked: MediaTools['studio']['image'] = async (request, options) => {
    const drawn = await tools.studio.image({ ...request, hasCaption: false }, options);
    const bytes = await repaint({ image, drawn: drawn.bytes, mask, marked });
    const { default: sharp } = await import('sharp');
    const { width, height } = await sharp(bytes).metadata();
    return { ...drawn, bytes, contentType: 'image/png', width, height };
  };
  return { ...tools, studio: { ...tools.studio, image: drawMasked } };
}
