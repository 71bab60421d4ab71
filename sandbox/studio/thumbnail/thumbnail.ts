import sharp from 'sharp';

import { readCover } from '../measure/cover.ts';
import { probeMedia } from '../measure/probe.ts';
import { decodeSound } from '../sound/decode.ts';
import type { Sound } from '../sound/sound.ts';
import { StudioError } from '../types/media-types.ts';
import type { StudioThumbnail } from '../types/media-types.ts';
import { drawCard } from './card.ts';
import { drawWaveform } from './waveform.ts';

const EDGE = 320;
/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
/** Seconds of sound that are drawn. */
const DRAWN_SECONDS = 600;

/** The thumbnail of a file. Throws UNREADABLE_MEDIA. */
export async function makeThumbnail(media: Uint8Array): Promise<StudioThumbnail> {
  const facts = await probeMedia(media);
  if (facts.kind === 'image') return shrink(media, 'picture');
  const cover = await readableCover(media);
  if (cover !== null) return cover;
  const sound = facts.kind === 'audio' ? await readableSound(media) : null;
  return sound === null ? asPng(drawCard(facts), 'card') : asPng(drawWaveform(sound), 'waveform');
}

async function shrink(picture: Uint8Array, source: 'picture' | 'cover'): Promise<StudioThumbnail> {
  try {
    const { data, info } = await sharp(picture, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
      .autoOrient()
      .resize(EDGE, EDGE, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .toColourspace('srgb')
      .jpeg({ quality: 80 })
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, contentType: 'image/jpeg', width: info.width, height: info.height, source };
  } catch (cause) {
    throw new StudioError('UNREADABLE_MEDIA', 'the picture cannot be read', { cause });
  }
}

/** A broken cover counts as none. */
async function readableCover(media: Uint8Array): Promise<StudioThumbnail | null> {
  const cover = await readCover(media);
  return cover === null ? null : orNull(() => shrink(cover, 'cover'));
}

async function readableSound(media: Uint8Array): Promise<Sound | null> {
  return orNull(() => decodeSound(media, DRAWN_SECONDS));
}

async function orNull<Value>(read: () => Promise<Value>): Promise<Value | null> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof StudioError) return null;
    throw error;
  }
}

async function asPng(
  canvas: ReturnType<typeof drawCard>,
  source: 'waveform' | 'card',
): Promise<StudioThumbnail> {
  const { width, height } = canvas;
  const raw = { width, height, channels: 4 } as const;
  const bytes = await sharp(canvas.data(), { raw }).removeAlpha().png({ compressionLevel: 9 }).toBuffer();
  return { bytes, contentType: 'image/png', width, height, source };
}
