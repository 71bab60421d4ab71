import sharp from 'sharp';
import type { Sharp } from 'sharp';

import { StudioError } from '../types/media-types.ts';
import type { Size } from '../types/size.ts';
import { toPlanes } from './yuv.ts';
import type { Planes } from './yuv.ts';

/** A camera view: its centre from 0 to 1, and its zoom (1 shows everything). */
export interface View {
  readonly x: number;
  readonly y: number;
  readonly zoom: number;
}

/** Most pixels that are decoded. */
const MAX_PIXELS = 50_000_000;

/** An image cropped to the frame's aspect ratio, larger by this factor so that the camera can move. Throws UNREADABLE_MEDIA. */
export async function loadPlanes(image: Uint8Array, frame: Size, reserve: number): Promise<Planes> {
  const size = { width: even(frame.width * reserve), height: even(frame.height * reserve) };
  const rgb = await readable(() => covering(image, size).raw().toBuffer());
  return toPlanes(rgb, size);
}

/** An image cropped to the frame's size as RGBA, and its uncropped size at that scale. Throws UNREADABLE_MEDIA. */
export async function loadPixels(
  image: Uint8Array,
  frame: Size,
): Promise<{ rgba: Uint8ClampedArray; whole: Size }> {
  return readable(async () => {
    const { autoOrient } = await open(image).metadata();
    const scale = Math.max(frame.width / autoOrient.width, frame.height / autoOrient.height);
    const rgba = await covering(image, frame).ensureAlpha().raw().toBuffer();
    return {
      rgba: new Uint8ClampedArray(rgba.buffer, rgba.byteOffset, rgba.byteLength),
      whole: { width: autoOrient.width * scale, height: autoOrient.height * scale },
    };
  });
}

function covering(image: Uint8Array, { width, height }: Size): Sharp {
  return open(image)
    .autoOrient()
    .resize(width, height, { fit: 'cover', position: 'centre' })
    .flatten({ background: '#fff' })
    .toColourspace('srgb');
}

/** The aspect ratio of an image as `W:H`. Throws UNREADABLE_MEDIA. */
export async function frameRatio(image: Uint8Array): Promise<string> {
  const { autoOrient } = await readable(() => open(image).metadata());
  return `${autoOrient.width}:${autoOrient.height}`;
}

function open(image: Uint8Array): Sharp {
  return sharp(image, { limitInputPixels: MAX_PIXELS, failOn: 'error' });
}

async function readable<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (cause) {
    throw new StudioError('UNREADABLE_MEDIA', 'an input image cannot be read', { cause });
  }
}

/** Renders a camera view into an I420 frame; the view is clamped to the image. */
export function renderView(image: Planes, view: View, size: Size, frame: Uint8Array): void {
  const step = Math.min(image.width / size.width, image.height / size.height) / view.zoom;
  const left = within(view.x * image.width - (size.width * step) / 2, image.width - size.width * step);
  const top = within(view.y * image.height - (size.height * step) / 2, image.height - size.height * step);
  const pixels = size.width * size.height;
  const half = { width: size.width / 2, height: size.height / 2 };
  const from = { left, top, step };
  sample(image, image.luma, from, { ...size, frame, at: 0 });
  const coarse = { left, top, step: step * 2 };
  sample(image, image.blue, coarse, { ...half, frame, at: pixels });
  sample(image, image.red, coarse, { ...half, frame, at: pixels + pixels / 4 });
}

const ONE = 65_536;

/** Bilinear, in 16-bit fixed point. */
function sample(
  { width, height }: Size,
  plane: Uint8Array,
  from: { readonly left: number; readonly top: number; readonly step: number },
  into: Size & { readonly frame: Uint8Array; readonly at: number },
): void {
  const { frame, width: wide, height: high } = into;
  const columns = places(from.left, from.step, wide, width);
  const rows = places(from.top, from.step, high, height);
  let to = into.at;
  for (let y = 0; y < high; y += 1) {
    const fineY = rows[y] ?? 0;
    const row = (fineY >> 8) * width;
    const down = fineY & 255;
    for (let x = 0; x < wide; x += 1, to += 1) {
      const fineX = columns[x] ?? 0;
      const at = row + (fineX >> 8);
      const across = fineX & 255;
      const upper = mix(plane[at] ?? 0, plane[at + 1] ?? 0, across);
      const lower = mix(plane[at + width] ?? 0, plane[at + width + 1] ?? 0, across);
      frame[to] = ((upper << 8) + (lower - upper) * down) >> 16;
    }
  }
}

/** The source position of each column (or row), in 256ths; clamped before the last one, which has no neighbour. */
function places(start: number, step: number, count: number, length: number): Int32Array {
  const fineStep = Math.floor(step * ONE);
  const last = (length - 1) * ONE - 1;
  let fine = Math.floor(start * ONE);
  const taken = new Int32Array(count);
  for (let index = 0; index < count; index += 1, fine += fineStep) taken[index] = Math.min(fine, last) >> 8;
  return taken;
}

/** 256 times the interpolation of two values, the share in 256ths. */
function mix(one: number, other: number, share: number): number {
  return (one << 8) + (other - one) * share;
}

function within(value: number, most: number): number {
  return Math.max(0, Math.min(most, value));
}

function even(length: number): number {
  return Math.round(length / 2) * 2;
}
