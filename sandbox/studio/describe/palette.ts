import { distance, nameColour, toLab } from './colours.ts';
import type { Lab } from './colours.ts';

/** One colour of a picture. */
export interface Swatch {
  readonly name: string;
  readonly hex: string;
  /** 0 to 1 of the picture. */
  readonly share: number;
}

const CLUSTERS = 6;
const ROUNDS = 12;
const SMALLEST_SHARE = 0.02;

/** The main colours of RGB pixels, largest share first: k-means with fixed starts, so that it is deterministic. */
export function findPalette(rgb: Uint8Array): Swatch[] {
  const colours: Lab[] = [];
  for (let at = 0; at + 2 < rgb.length; at += 3) {
    colours.push(toLab(rgb[at] ?? 0, rgb[at + 1] ?? 0, rgb[at + 2] ?? 0));
  }
  let centres = firstCentres(colours);
  let nearest: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    nearest = colours.map((colour) => findNearest(colour, centres));
    centres = middles(colours, nearest, centres);
  }
  return centres
    .map((centre, index) => swatch(rgb, nearest, index, centre))
    .filter(({ share }) => share > SMALLEST_SHARE)
    .toSorted((one, other) => other.share - one.share);
}

/** The first pixel, then repeatedly the one furthest from those chosen. */
function firstCentres(colours: readonly Lab[]): Lab[] {
  const centres = colours.slice(0, 1);
  while (centres.length < Math.min(CLUSTERS, colours.length)) {
    let furthest = colours[0] as Lab;
    let gap = -1;
    for (let at = 0; at < colours.length; at += 7) {
      const colour = colours[at] as Lab;
      const own = Math.min(...centres.map((centre) => distance(colour, centre)));
      if (own > gap) {
        gap = own;
        furthest = colour;
      }
    }
    centres.push(furthest);
  }
  return centres;
}

function findNearest(colour: Lab, centres: readonly Lab[]): number {
  let best = 0;
  let gap = Number.POSITIVE_INFINITY;
  for (const [index, centre] of centres.entries()) {
    const own = distance(colour, centre);
    if (own < gap) {
      gap = own;
      best = index;
    }
  }
  return best;
}

/** The mean of each cluster; an empty one does not move. */
function middles(colours: readonly Lab[], nearest: readonly number[], centres: readonly Lab[]): Lab[] {
  const sums = centres.map(() => [0, 0, 0, 0] as [number, number, number, number]);
  for (const [index, colour] of colours.entries()) {
    const sum = sums[nearest[index] ?? 0];
    if (sum === undefined) continue;
    sum[0] += colour[0];
    sum[1] += colour[1];
    sum[2] += colour[2];
    sum[3] += 1;
  }
  return sums.map(([l, a, b, count], index) =>
    count === 0 ? (centres[index] as Lab) : [l / count, a / count, b / count],
  );
}

function swatch(rgb: Uint8Array, nearest: readonly number[], cluster: number, centre: Lab): Swatch {
  const sum = [0, 0, 0];
  let count = 0;
  for (const [pixel, own] of nearest.entries()) {
    if (own !== cluster) continue;
    count += 1;
    for (const channel of [0, 1, 2]) sum[channel] = (sum[channel] ?? 0) + (rgb[pixel * 3 + channel] ?? 0);
  }
  const hex = sum.map((value) =>
    Math.round(value / Math.max(1, count))
      .toString(16)
      .padStart(2, '0'),
  );
  return { name: nameColour(centre), hex: `#${hex.join('')}`, share: count / Math.max(1, nearest.length) };
}
