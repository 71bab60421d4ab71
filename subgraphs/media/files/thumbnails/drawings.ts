/** Thumbnails that are drawn, as SVG. Pure. */

const GROUND = '#1c2330';
const INK = '#8fb7ff';
/** Pixels from one bar of a waveform to the next, and of its own. */
const [STEP, BAR] = [4, 3];

/** The waveform of a recording: bars as high as their part is loud, a quarter as high as it is wide. */
export function waveformDrawing(peaks: Float32Array, width: number): string {
  const height = Math.round(width / 4);
  const count = Math.floor(width / STEP);
  const bars = Array.from({ length: count }, (_, index) => {
    const peak = loudest(peaks, index / count, (index + 1) / count);
    const tall = Math.max(1, Math.round(peak * (height - 4)));
    const top = Math.round((height - tall) / 2);
    return `<rect x="${index * STEP}" y="${top}" width="${BAR}" height="${tall}" fill="${INK}"/>`;
  });
  return drawing(width, height, bars.join(''));
}

/** A video whose pictures can't be decoded here: its shape, with a triangle that says play. */
export function videoDrawing(
  { width, height }: { readonly width: number | null; readonly height: number | null },
  wide: number,
): string {
  const ratio = width !== null && height !== null && width > 0 && height > 0 ? height / width : 9 / 16;
  const high = Math.max(1, Math.round(wide * Math.min(4, ratio)));
  const size = Math.min(wide, high) / 5;
  const [x, y] = [wide / 2, high / 2];
  const triangle = `<path d="M${x - size * 0.8} ${y - size}L${x + size} ${y}L${x - size * 0.8} ${y + size}z" fill="${INK}"/>`;
  return drawing(wide, high, triangle);
}

function loudest(peaks: Float32Array, from: number, to: number): number {
  const first = Math.floor(from * peaks.length);
  const last = Math.max(first + 1, Math.floor(to * peaks.length));
  return peaks.subarray(first, last).reduce((most, peak) => Math.max(most, peak), 0);
}

function drawing(width: number, height: number, shapes: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="${GROUND}"/>${shapes}</svg>`;
}
