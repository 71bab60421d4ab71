/** One colour of an image. */
export interface Swatch {
  readonly name: string;
  readonly hex: string;
  /** 0 to 1 of the image. */
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

/** A colour in OKLab: lightness, green to red, blue to yellow. Distances in it look like distances. */
type Lab = readonly [lightness: number, greenRed: number, blueYellow: number];

/** sRGB (0 to 255) to OKLab. */
export function toLab(red: number, green: number, blue: number): Lab {
  const r = linear(red);
  const g = linear(green);
  const b = linear(blue);
  const long = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const middle = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const short = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}

function linear(channel: number): number {
  const share = channel / 255;
  return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
}

/** The square of the distance of two colours. */
function distance(one: Lab, other: Lab): number {
  return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2 + (one[2] - other[2]) ** 2;
}

const NAMED: readonly (readonly [string, Lab])[] = (
  [
    ['black', 15, 15, 18],
    ['charcoal', 60, 60, 66],
    ['grey', 128, 128, 128],
    ['silver', 190, 190, 192],
    ['white', 245, 245, 245],
    ['red', 205, 40, 40],
    ['maroon', 110, 25, 35],
    ['orange', 235, 130, 40],
    ['brown', 120, 75, 40],
    ['tan', 205, 170, 125],
    ['cream', 245, 232, 200],
    ['gold', 225, 180, 60],
    ['yellow', 240, 225, 70],
    ['olive', 115, 120, 45],
    ['green', 60, 150, 65],
    ['dark green', 30, 75, 45],
    ['mint', 160, 220, 185],
    ['teal', 30, 130, 130],
    ['cyan', 80, 205, 225],
    ['sky blue', 135, 190, 235],
    ['blue', 45, 95, 200],
    ['navy', 22, 32, 80],
    ['indigo', 70, 50, 140],
    ['purple', 120, 60, 160],
    ['lavender', 180, 160, 220],
    ['magenta', 200, 55, 160],
    ['pink', 240, 160, 190],
    ['salmon', 235, 140, 120],
  ] as const
).map(([name, red, green, blue]) => [name, toLab(red, green, blue)]);

/** The nearest colour name; hue counts twice as much as lightness. */
function nameColour(colour: Lab): string {
  const unlikeness = (named: Lab) => 2 * distance(colour, named) - (colour[0] - named[0]) ** 2;
  return NAMED.reduce((best, next) => (unlikeness(next[1]) < unlikeness(best[1]) ? next : best))[0];
}
