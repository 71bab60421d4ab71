import { expect, it } from 'vitest';

import { toRgb } from './h264.ts';

/** Luma, blue and red of colours in BT.709, limited range. */
const [RED, BLUE] = [
  [63, 102, 240],
  [32, 240, 118],
] as const;

it('two blocks of a decoded image are their colours, without its padding', () => {
  // Four by two pixels, the left half red and the right half blue, in rows of eight and four lines.
  const planes = new Uint8Array((8 * 4 * 3) / 2).fill(77);
  for (const y of [0, 1]) for (const x of [0, 1, 2, 3]) planes[y * 8 + x] = (x < 2 ? RED : BLUE)[0];
  for (const [at, [, blue, red]] of [RED, BLUE].entries()) {
    planes[32 + at] = blue;
    planes[40 + at] = red;
  }
  const rgb = [...toRgb(planes, { stride: 8, rows: 4 }, { width: 4, height: 2 })];
  const row = [255, 0, 0, 255, 0, 0, 0, 0, 255, 0, 0, 255];
  expect(rgb).toHaveLength(24);
  for (const [at, value] of rgb.entries()) expect(Math.abs(value - (row[at % 12] ?? 0))).toBeLessThan(4);
});
