/** A colour in OKLab: lightness, green to red, blue to yellow. Distances in it look like distances. */
export type Lab = readonly [lightness: number, greenRed: number, blueYellow: number];

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
export function distance(one: Lab, other: Lab): number {
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
export function nameColour(colour: Lab): string {
  const unlikeness = (named: Lab) => 2 * distance(colour, named) - (colour[0] - named[0]) ** 2;
  return NAMED.reduce((best, next) => (unlikeness(next[1]) < unlikeness(best[1]) ? next : best))[0];
}
