import type { Colour } from '../../art/painting.ts';
import { createRandom } from '../../art/random.ts';
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
