import type { Sound } from '../sound/sound.ts';

/** Step of the pitch track, in seconds. */
export const PITCH_STEP_SECONDS = 0.01;
const WINDOW_SECONDS = 0.04;
const LOWEST_HZ = 60;
const HIGHEST_HZ = 400;
/** Silence threshold of the mean square. */
const QUIET = 1e-4;
/** Minimum autocorrelation of voiced sound. */
const ALIKE = 0.6;

/** The pitch every 10 ms in Hz, 0 where there is none: by normalized autocorrelation. */
export function trackPitch({ samples, sampleRate }: Sound): number[] {
  const step = Math.round(sampleRate * PITCH_STEP_SECONDS);
  const window = Math.round(sampleRate * WINDOW_SECONDS);
  const longest = Math.ceil(sampleRate / LOWEST_HZ);
  const pitches: number[] = [];
  for (let start = 0; start + window + longest < samples.length; start += step) {
    pitches.push(pitchAt(samples.subarray(start, start + window + longest), window, sampleRate));
  }
  return pitches;
}

function pitchAt(piece: Float32Array, window: number, sampleRate: number): number {
  const power = sumSquares(piece, 0, window);
  if (power / window < QUIET) return 0;
  const shortest = Math.floor(sampleRate / HIGHEST_HZ);
  const longest = Math.ceil(sampleRate / LOWEST_HZ);
  const likeness = new Float32Array(longest + 1);
  for (let lag = shortest; lag <= longest; lag += 1) {
    let product = 0;
    for (let index = 0; index < window; index += 1)
      product += (piece[index] ?? 0) * (piece[index + lag] ?? 0);
    likeness[lag] = product / Math.sqrt(power * sumSquares(piece, lag, window) + 1e-9);
  }
  const best = Math.max(...likeness);
  const period = best > ALIKE ? firstPeak(likeness, shortest, 0.85 * best) : 0;
  return period === 0 ? 0 : sampleRate / period;
}

/** Prefers the shortest period that is nearly as good as the best, against octave errors. */
function firstPeak(likeness: Float32Array, shortest: number, least: number): number {
  for (let lag = shortest + 1; lag < likeness.length - 1; lag += 1) {
    const value = likeness[lag] ?? 0;
    if (value > least && value >= (likeness[lag - 1] ?? 0) && value >= (likeness[lag + 1] ?? 0)) return lag;
  }
  return 0;
}

function sumSquares(piece: Float32Array, start: number, length: number): number {
  let sum = 0;
  for (let index = start; index < start + length; index += 1) sum += (piece[index] ?? 0) ** 2;
  return sum;
}
