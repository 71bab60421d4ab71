import { createCanvas, type Canvas } from '@napi-rs/canvas';
import sharp from 'sharp';

import { registerFonts } from '../art/caption.ts';
import { readCover, probeMedia } from '../measure/probe.ts';
import { decodeSound } from '../sound/decode.ts';
import type { Sound } from '../sound/sound.ts';
import { StudioError, type StudioThumbnail, type MediaFacts } from '../types/media-types.ts';

const EDGE = 320;
/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;
/** Seconds of sound that are drawn. */
const DRAWN_SECONDS = 600;

/** The thumbnail of a file. Throws UNREADABLE_MEDIA. */
export async function makeThumbnail(media: Uint8Array): Promise<StudioThumbnail> {
  const facts = await probeMedia(media);
  if (facts.kind === 'image') return shrink(media, 'image');
  const cover = await readableCover(media);
  if (cover !== null) return cover;
  const sound = facts.kind === 'audio' ? await readableSound(media) : null;
  return sound === null ? asPng(drawCard(facts), 'card') : asPng(drawWaveform(sound), 'waveform');
}

async function shrink(image: Uint8Array, source: 'image' | 'cover'): Promise<StudioThumbnail> {
  try {
    const { data, info } = await sharp(image, { limitInputPixels: MAX_PIXELS, failOn: 'error' })
      .autoOrient()
      .resize(EDGE, EDGE, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#fff' })
      .toColourspace('srgb')
      .jpeg({ quality: 80 })
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, contentType: 'image/jpeg', width: info.width, height: info.height, source };
  } catch (cause) {
    throw new StudioError('UNREADABLE_MEDIA', 'the image cannot be read', { cause });
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

const LONG_EDGE = 320;
const SHORTEST_EDGE = 120;

/** Draws a card with the facts of a file that can't be decoded, with the aspect ratio of its images. */
function drawCard(facts: MediaFacts): Canvas {
  const { width, height } = cardSize(facts);
  const canvas = createCanvas(width, height);
  const brush = canvas.getContext('2d');
  const shade = brush.createLinearGradient(0, 0, width, height);
  shade.addColorStop(0, '#26324a');
  shade.addColorStop(1, '#101521');
  brush.fillStyle = shade;
  brush.fillRect(0, 0, width, height);
  brush.fillStyle = 'rgba(255,255,255,.16)';
  brush.beginPath();
  brush.arc(width / 2, height * 0.36, Math.min(width, height) * 0.2, 0, Math.PI * 2);
  brush.fill();
  drawSign(canvas, facts.kind);
  registerFonts();
  const lines = writeLines(facts);
  const size = Math.min(width / 13, height / 9);
  brush.fillStyle = '#fff';
  brush.textAlign = 'center';
  for (const [index, line] of lines.entries()) {
    brush.font = `${index === 0 ? 700 : 400} ${size}px "Kiln Sans","Kiln CJK"`;
    brush.fillText(line, width / 2, height * 0.72 + index * size * 1.3, width * 0.92);
  }
  return canvas;
}

/** A triangle for videos, bars for sounds. */
function drawSign(canvas: Canvas, kind: MediaFacts['kind']): void {
  const { width, height } = canvas;
  const brush = canvas.getContext('2d');
  const unit = Math.min(width, height) * 0.09;
  const [x, y] = [width / 2, height * 0.36];
  brush.fillStyle = '#fff';
  if (kind === 'audio') {
    for (const [index, tall] of [0.7, 1.4, 1, 1.8, 0.8].entries()) {
      brush.fillRect(x + (index - 2.4) * unit * 0.6, y - (tall * unit) / 2, unit * 0.35, tall * unit);
    }
    return;
  }
  brush.beginPath();
  brush.moveTo(x - unit * 0.7, y - unit);
  brush.lineTo(x + unit * 1.1, y);
  brush.lineTo(x - unit * 0.7, y + unit);
  brush.fill();
}

function writeLines({ container, duration, width, height, videoCodec, audioCodec }: MediaFacts): string[] {
  const size = width === null || height === null ? [] : [`${width}x${height}`];
  const seconds = duration === null ? [] : [`${Math.round(duration * 10) / 10} s`];
  const codecs = [videoCodec, audioCodec].filter((codec) => codec !== null);
  return [[container.toUpperCase(), ...size].join(' '), [...seconds, ...codecs].join(' · ')];
}

function cardSize({ width, height }: MediaFacts): { width: number; height: number } {
  const ratio = width === null || height === null || width * height === 0 ? 16 / 9 : width / height;
  const short = Math.round(Math.max(SHORTEST_EDGE, LONG_EDGE * Math.min(ratio, 1 / ratio)));
  return ratio >= 1 ? { width: LONG_EDGE, height: short } : { width: short, height: LONG_EDGE };
}

const WIDTH = 320;
const HEIGHT = 120;
const BAR = 4;

/** The loudness of a sound from left to right; the loudest bar fills the height. */
function drawWaveform({ samples }: Sound): Canvas {
  const canvas = createCanvas(WIDTH, HEIGHT);
  const brush = canvas.getContext('2d');
  brush.fillStyle = '#101521';
  brush.fillRect(0, 0, WIDTH, HEIGHT);
  brush.fillStyle = '#7fb2ff';
  const bars = WIDTH / BAR;
  const peaks = Array.from({ length: bars }, (_value, bar) => {
    const start = Math.floor((bar * samples.length) / bars);
    const end = Math.floor(((bar + 1) * samples.length) / bars);
    return samples.subarray(start, end).reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  });
  const loudest = Math.max(...peaks, 0.01);
  for (const [bar, peak] of peaks.entries()) {
    const tall = Math.max(2, (peak / loudest) * (HEIGHT - 16));
    brush.fillRect(bar * BAR, (HEIGHT - tall) / 2, BAR - 1, tall);
  }
  return canvas;
}
