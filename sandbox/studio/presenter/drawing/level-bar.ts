import type { SKRSContext2D } from '@napi-rs/canvas';

import type { Size } from '../../types/size.ts';
import type { Mouth } from './mouth.ts';

const BARS = 48;

/** Draws a level meter at the bottom of the picture: the loudness of the last frames, newest last. */
export function drawLevelBar(
  brush: SKRSContext2D,
  { width, height }: Size,
  track: readonly Mouth[],
  frame: number,
): void {
  const step = (width * 0.72) / BARS;
  brush.fillStyle = '#fff';
  for (let bar = 0; bar < BARS; bar += 1) {
    const level = track[frame - BARS + 1 + bar]?.level ?? 0;
    const high = height * (0.004 + 0.06 * level);
    brush.globalAlpha = 0.2 + (0.6 * bar) / BARS;
    brush.fillRect(width * 0.14 + bar * step, height * 0.92 - high / 2, step * 0.6, high);
  }
  brush.globalAlpha = 1;
}
