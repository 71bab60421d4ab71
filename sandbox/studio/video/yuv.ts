import type { Size } from '../types/size.ts';

/** Pixels of video frames: BT.709, limited range, integer arithmetic, so that they are the same on every machine. */

/** An image with full-size planes, as the camera samples it. */
export interface Planes extends Size {
  readonly luma: Uint8Array;
  readonly blue: Uint8Array;
  readonly red: Uint8Array;
}

/** Bytes of an I420 frame: a luma for each pixel, two chroma values for each four. */
export function frameBytes({ width, height }: Size): number {
  return (width * height * 3) / 2;
}

/** RGBA into an I420 frame; width and height are even. */
export function writeI420(
  rgba: Uint8Array | Uint8ClampedArray,
  { width, height }: Size,
  frame: Uint8Array,
): void {
  const pixels = width * height;
  let chroma = pixels;
  // Unrolled for the four pixels of a chroma value: this runs for every pixel of every frame, and an array here would
  // cost four times the rest.
  for (let y = 0; y < height; y += 2) {
    for (let x = 0; x < width; x += 2, chroma += 1) {
      const at = y * width + x;
      const upper = at * 4;
      const lower = (at + width) * 4;
      const r0 = rgba[upper] ?? 0;
      const g0 = rgba[upper + 1] ?? 0;
      const b0 = rgba[upper + 2] ?? 0;
      const r1 = rgba[upper + 4] ?? 0;
      const g1 = rgba[upper + 5] ?? 0;
      const b1 = rgba[upper + 6] ?? 0;
      const r2 = rgba[lower] ?? 0;
      const g2 = rgba[lower + 1] ?? 0;
      const b2 = rgba[lower + 2] ?? 0;
      const r3 = rgba[lower + 4] ?? 0;
      const g3 = rgba[lower + 5] ?? 0;
      const b3 = rgba[lower + 6] ?? 0;
      frame[at] = toLuma(r0, g0, b0);
      frame[at + 1] = toLuma(r1, g1, b1);
      frame[at + width] = toLuma(r2, g2, b2);
      frame[at + width + 1] = toLuma(r3, g3, b3);
      const red = (r0 + r1 + r2 + r3 + 2) >> 2;
      const green = (g0 + g1 + g2 + g3 + 2) >> 2;
      const blue = (b0 + b1 + b2 + b3 + 2) >> 2;
      frame[chroma] = toBlueChroma(red, green, blue);
      frame[chroma + (pixels >> 2)] = toRedChroma(red, green, blue);
    }
  }
}

/** RGB (three channels) as planes. */
export function toPlanes(rgb: Uint8Array, { width, height }: Size): Planes {
  const pixels = width * height;
  const planes = {
    width,
    height,
    luma: new Uint8Array(pixels),
    blue: new Uint8Array(pixels),
    red: new Uint8Array(pixels),
  };
  for (let pixel = 0; pixel < pixels; pixel += 1) {
    const r = rgb[pixel * 3] ?? 0;
    const g = rgb[pixel * 3 + 1] ?? 0;
    const b = rgb[pixel * 3 + 2] ?? 0;
    planes.luma[pixel] = toLuma(r, g, b);
    planes.blue[pixel] = toBlueChroma(r, g, b);
    planes.red[pixel] = toRedChroma(r, g, b);
  }
  return planes;
}

/** An I420 frame as RGB (three channels). */
export function toRgb(frame: Uint8Array, { width, height }: Size): Buffer {
  const pixels = width * height;
  const rgb = Buffer.alloc(pixels * 3);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = y * width + x;
      const chroma = pixels + (y >> 1) * (width >> 1) + (x >> 1);
      const luma = 298 * ((frame[at] ?? 0) - 16) + 128;
      const blue = (frame[chroma] ?? 0) - 128;
      const red = (frame[chroma + (pixels >> 2)] ?? 0) - 128;
      rgb[at * 3] = clamp((luma + 459 * red) >> 8);
      rgb[at * 3 + 1] = clamp((luma - 55 * blue - 136 * red) >> 8);
      rgb[at * 3 + 2] = clamp((luma + 541 * blue) >> 8);
    }
  }
  return rgb;
}

/** Removes the colour of an I420 frame. */
export function withoutColour(frame: Uint8Array, { width, height }: Size): void {
  frame.fill(128, width * height);
}

function toLuma(red: number, green: number, blue: number): number {
  return 16 + ((47 * red + 157 * green + 16 * blue + 128) >> 8);
}

function toBlueChroma(red: number, green: number, blue: number): number {
  return 128 + ((-26 * red - 87 * green + 112 * blue + 128) >> 8);
}

function toRedChroma(red: number, green: number, blue: number): number {
  return 128 + ((112 * red - 102 * green - 10 * blue + 128) >> 8);
}

function clamp(value: number): number {
  if (value < 0) return 0;
  return value > 255 ? 255 : value;
}
