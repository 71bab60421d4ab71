import type { Sound } from '../sound/sound.ts';

const WINDOW_SECONDS = 0.03;
/** Order of the linear prediction: two per formant, and two. */
const ORDER = 12;
const [LOWEST_HZ, HIGHEST_HZ, STEP_HZ] = [150, 4_500, 20] as const;

/** The formants of the voice at this time, in Hz, lowest first: peaks of the linear prediction's envelope. */
export function formantsAt({ samples, sampleRate }: Sound, second: number): number[] {
  const start = Math.round(second * sampleRate);
  const length = Math.round(WINDOW_SECONDS * sampleRate);
  const piece = Float64Array.from({ length }, (_value, index) => {
    // Pre-emphasis of high frequencies.
    const raised = (samples[start + index] ?? 0) - 0.97 * (samples[start + index - 1] ?? 0);
    return raised * (0.54 - 0.46 * Math.cos((2 * Math.PI * index) / (length - 1)));
  });
  const prediction = predict(piece);
  const peaks: number[] = [];
  let [before, last] = [0, 0];
  for (let pitch = LOWEST_HZ; pitch < HIGHEST_HZ; pitch += STEP_HZ) {
    const now = envelope(prediction, (2 * Math.PI * pitch) / sampleRate);
    if (last > before && last > now && pitch > LOWEST_HZ + 2 * STEP_HZ) peaks.push(pitch - STEP_HZ);
    [before, last] = [last, now];
  }
  return peaks;
}

/** Levinson-Durbin. */
function predict(piece: Float64Array): Float64Array {
  const correlation = Float64Array.from({ length: ORDER + 1 }, (_value, lag) => {
    let sum = 0;
    for (let index = lag; index < piece.length; index += 1)
      sum += (piece[index] ?? 0) * (piece[index - lag] ?? 0);
    return sum;
  });
  const coefficients = new Float64Array(ORDER + 1);
  coefficients[0] = 1;
  let error = Math.max(correlation[0] ?? 0, 1e-9);
  for (let order = 1; order <= ORDER; order += 1) {
    let sum = correlation[order] ?? 0;
    for (let index = 1; index < order; index += 1) {
      sum += (coefficients[index] ?? 0) * (correlation[order - index] ?? 0);
    }
    const reflection = -sum / error;
    const previous = coefficients.slice();
    for (let index = 1; index < order; index += 1) {
      coefficients[index] = (previous[index] ?? 0) + reflection * (previous[order - index] ?? 0);
    }
    coefficients[order] = reflection;
    error *= 1 - reflection * reflection;
  }
  return coefficients;
}

function envelope(prediction: Float64Array, angle: number): number {
  let [real, imaginary] = [0, 0];
  for (const [index, coefficient] of prediction.entries()) {
    real += coefficient * Math.cos(angle * index);
    imaginary -= coefficient * Math.sin(angle * index);
  }
  return 1 / (real * real + imaginary * imaginary + 1e-12);
}
