import type { SKRSContext2D } from '@napi-rs/canvas';

import type { Colour } from '../../art/painting.ts';
import { createRandom } from '../../art/random.ts';
import type { Size } from '../../types/size.ts';
import type { Mouth } from './mouth.ts';

/** What a drawn presenter looks like. */
export interface Look {
  readonly skin: Colour;
  readonly hair: Colour;
  readonly iris: Colour;
  readonly shirt: Colour;
  readonly hairStyle: 'short' | 'long' | 'bun';
  readonly hasGlasses: boolean;
  /** Seconds from one blink to the next, one after the other; then from the beginning. */
  readonly blinks: readonly number[];
}

/** The pose of the presenter at a time. */
export interface Pose {
  readonly mouth: Mouth;
  readonly seconds: number;
}

const STYLES = ['short', 'long', 'bun'] as const;
const BLINKS = 16;

/** A look for each seed. */
export function createLook(seed: number): Look {
  const random = createRandom(seed ^ 0x51ed270b);
  const between = (least: number, most: number) => least + (most - least) * random();
  return {
    skin: [between(16, 30), between(35, 55), between(42, 78)],
    hair: [between(16, 42), between(15, 60), between(10, 46)],
    iris: [between(20, 230), between(25, 50), between(22, 38)],
    shirt: [between(0, 360), between(30, 55), between(28, 52)],
    hairStyle: STYLES[Math.floor(random() * STYLES.length)] ?? 'short',
    hasGlasses: random() < 0.3,
    blinks: Array.from({ length: BLINKS }, () => between(2, 5)),
  };
}

const BLINK_SECONDS = 0.16;

/** How far the eyes are open at this moment: 1 mostly, near 0 in a blink. */
export function eyesAt({ blinks }: Look, seconds: number): number {
  const round = blinks.reduce((sum, pause) => sum + pause, 0);
  let left = seconds % round;
  for (const pause of blinks) {
    if (left < pause) {
      const until = pause - left;
      return until < BLINK_SECONDS ? Math.max(0.06, Math.abs((2 * until) / BLINK_SECONDS - 1)) : 1;
    }
    left -= pause;
  }
  return 1;
}

const BARS = 48;

/** Draws a level meter at the bottom of the image: the loudness of the last frames, newest last. */
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
