import { expect, it } from 'vitest';

import { frameBytes, toRgb, writeI420 } from './yuv.ts';

const size = { width: 2, height: 2 };

/** The frame of four pixels: their luma, then blue and red of all four. */
function makeFrame(...pixels: readonly (readonly [number, number, number])[]): Uint8Array {
  const frame = new Uint8Array(frameBytes(size));
  writeI420(Uint8Array.from(pixels.flatMap((pixel) => [...pixel, 255])), size, frame);
  return frame;
}

const [RED, GREEN, BLUE, WHITE] = [
  [255, 0, 0],
  [0, 255, 0],
  [0, 0, 255],
  [255, 255, 255],
] as const;

it.each([
  ['red', RED],
  ['green', GREEN],
  ['blue', BLUE],
  ['white', WHITE],
  ['grey', [90, 90, 90]],
] as const)('%s comes back from a frame as it went in, but for rounding', (_name, colour) => {
  const rgb = [...toRgb(makeFrame(colour, colour, colour, colour), size)];
  for (const [at, value] of rgb.entries()) expect(Math.abs(value - (colour[at % 3] ?? 0))).toBeLessThan(4);
});

it('four pixels keep their own light and share the mean of their colours', () => {
  const frame = makeFrame(RED, GREEN, BLUE, WHITE);
  expect(frame.slice(0, 4)).toEqual(Uint8Array.of(63, 172, 32, 235));
  const mean = [128, 128, 128] as const;
  expect(frame.slice(4)).toEqual(makeFrame(mean, mean, mean, mean).slice(4));
});
