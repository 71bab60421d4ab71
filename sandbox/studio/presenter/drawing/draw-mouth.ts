import type { SKRSContext2D } from '@napi-rs/canvas';

import type { Mouth } from './mouth.ts';

/** Where a mouth is drawn, in pixels. */
export interface MouthPlace {
  readonly x: number;
  readonly y: number;
  /** Half of its width at rest. */
  readonly reach: number;
}

const LIPS = '#b4575b';
const INSIDE = '#5a1d22';
const TEETH = '#f3efe8';
const TONGUE = '#c4595f';
const ROUND = Math.PI * 2;
/** From this opening on teeth and tongue are drawn. */
const SEEN = 0.25;

/** A mouth: lips, and behind them teeth and tongue when it is open. */
export function drawMouth(brush: SKRSContext2D, { x, y, reach }: MouthPlace, mouth: Mouth): void {
  const across = reach * (0.62 + 0.5 * mouth.wide - 0.35 * mouth.round);
  const down = reach * (0.05 + 0.62 * mouth.open);
  const oval = (reachX = across, reachY = down, offset = 0) => {
    brush.beginPath();
    brush.ellipse(x, y + offset, reachX, reachY, 0, 0, ROUND);
  };
  brush.fillStyle = INSIDE;
  oval();
  brush.fill();
  if (mouth.open > SEEN) {
    brush.save();
    oval();
    brush.clip();
    brush.fillStyle = TEETH;
    brush.fillRect(x - across, y - down, across * 2, down * 0.42);
    brush.fillStyle = TONGUE;
    oval(across * 0.7, down * 0.6, down * 0.9);
    brush.fill();
    brush.restore();
  }
  brush.strokeStyle = LIPS;
  brush.lineWidth = reach * 0.12;
  oval();
  brush.stroke();
}
