import { toLab } from './palette.ts';

/** Small RGB pixels of an image. */
export interface Pixels {
  readonly data: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** The measurements; from 0 to 1 unless noted. */
export interface Measures {
  readonly brightness: number;
  /** Standard deviation of the brightness. */
  readonly contrast: number;
  /** Mean chroma in OKLab (0 to about 0.3). */
  readonly chroma: number;
  /** Mean of red minus blue, -1 to 1. */
  readonly warmth: number;
  /** Share of pixels that lie on an edge. */
  readonly edges: number;
  /** Where detail is, from the left and from the top; 0.5 is the middle. */
  readonly centre: { readonly x: number; readonly y: number };
  /** Brightness of the upper third minus that of the lower one, -1 to 1. */
  readonly fall: number;
}

/** Measures an image. */
export function measure(pixels: Pixels): Measures {
  const { data } = pixels;
  const count = pixels.width * pixels.height;
  const luma = new Float32Array(count);
  let chroma = 0;
  let warmth = 0;
  for (let index = 0; index < count; index += 1) {
    const [red, green, blue] = [data[3 * index] ?? 0, data[3 * index + 1] ?? 0, data[3 * index + 2] ?? 0];
    const [, greenRed, blueYellow] = toLab(red, green, blue);
    luma[index] = (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
    chroma += Math.hypot(greenRed, blueYellow);
    warmth += red - blue;
  }
  const brightness = average(luma, 0, count);
  const spread = luma.reduce((sum, value) => sum + (value - brightness) ** 2, 0) / count;
  const third = Math.floor(pixels.height / 3) * pixels.width;
  return {
    brightness,
    contrast: Math.sqrt(spread),
    chroma: chroma / count,
    warmth: warmth / count / 255,
    ...measureDetail(luma, pixels),
    fall: average(luma, 0, third) - average(luma, count - third, count),
  };
}

const EDGE = 0.12;

function measureDetail(luma: Float32Array, { width, height }: Pixels): Pick<Measures, 'edges' | 'centre'> {
  let edges = 0;
  let total = 0;
  let sumX = 0;
  let sumY = 0;
  for (let y = 1; y < height - 1; y += 1) {
    for (let x = 1; x < width - 1; x += 1) {
      const at = y * width + x;
      const across = (luma[at + 1] ?? 0) - (luma[at - 1] ?? 0);
      const down = (luma[at + width] ?? 0) - (luma[at - width] ?? 0);
      const strength = Math.hypot(across, down);
      if (strength > EDGE) edges += 1;
      total += strength;
      sumX += strength * x;
      sumY += strength * y;
    }
  }
  const isFlat = total === 0;
  return {
    edges: edges / (width * height),
    centre: { x: isFlat ? 0.5 : sumX / total / width, y: isFlat ? 0.5 : sumY / total / height },
  };
}

function average(values: Float32Array, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index += 1) sum += values[index] ?? 0;
  return to > from ? sum / (to - from) : 0;
}
