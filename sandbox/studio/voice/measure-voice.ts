import { resample } from '../sound/reshape.ts';
import { measureDuration, type Sound } from '../sound/sound.ts';
import type { VoiceMeasures } from '../types/media-types.ts';
import { PITCH_STEP_SECONDS, trackPitch } from './pitch.ts';

/** Sample rate of the analysis: frequencies above 5 kHz are not needed. */
const SAMPLE_RATE = 10_000;
const FORMANTS = 3;

/** Measures pitch, formants and tempo of a voice. */
export function measureVoice(sound: Sound): VoiceMeasures {
  const voice = resample(sound, SAMPLE_RATE);
  const pitches = trackPitch(voice);
  const voiced = pitches.filter((pitch) => pitch > 0);
  const pitch = median(voiced);
  const offsets = voiced.map((value) => Math.log2(value / pitch) ** 2);
  return {
    pitch,
    pitchSpread: Math.sqrt(average(offsets)),
    formants: measureFormants(voice, pitches),
    syllableRate: syllableRate(voice, pitches),
    voicedShare: voiced.length / Math.max(1, pitches.length),
    duration: measureDuration(sound),
  };
}

function measureFormants(voice: Sound, pitches: readonly number[]): number[] {
  const found: number[][] = Array.from({ length: FORMANTS }, () => []);
  for (const [step, pitch] of pitches.entries()) {
    if (pitch === 0) continue;
    for (const [index, formant] of formantsAt(voice, step * PITCH_STEP_SECONDS).entries()) {
      found[index]?.push(formant);
    }
  }
  return found.map(median);
}

/** Half width of the loudness smoothing, in steps. */
const SMOOTHED = 3;

/** Silence threshold, as a share of the maximum. */
const QUIET = 0.05;
/** Minimum rise and fall of the loudness at a syllable. */
const [RISE, FALL] = [1.2, 0.85] as const;

/** Syllables per second of speech: rises of the loudness in voiced sound. */
function syllableRate(voice: Sound, pitches: readonly number[]): number {
  const loudness = smooth(measureLoudness(voice));
  const loudest = loudness.reduce((most, value) => Math.max(most, value), 1e-6);
  let syllables = 0;
  let isWithin = false;
  let extreme = 0; // the minimum since the last syllable, or the maximum of this one
  for (const [step, value] of loudness.entries()) {
    extreme = isWithin ? Math.max(extreme, value) : Math.min(extreme, value);
    if (isWithin && value < FALL * extreme) [isWithin, extreme] = [false, value];
    const rises = !isWithin && value > RISE * extreme && value > 2 * QUIET * loudest;
    if (!rises || (pitches[step] ?? 0) === 0) continue;
    syllables += 1;
    [isWithin, extreme] = [true, value];
  }
  const spoken = loudness.filter((value) => value > QUIET * loudest).length * PITCH_STEP_SECONDS;
  return spoken === 0 ? 0 : syllables / spoken;
}

function measureLoudness({ samples, sampleRate }: Sound): number[] {
  const step = Math.round(sampleRate * PITCH_STEP_SECONDS);
  return Array.from({ length: Math.floor(samples.length / step) }, (_value, index) => {
    const piece = samples.subarray(index * step, (index + 1) * step);
    return Math.sqrt(piece.reduce((sum, value) => sum + value * value, 0) / step);
  });
}

function smooth(values: readonly number[]): number[] {
  return values.map((_value, index) =>
    average(values.slice(Math.max(0, index - SMOOTHED), index + SMOOTHED + 1)),
  );
}

function average(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;
}

const WINDOW_SECONDS = 0.03;
/** Order of the linear prediction: two per formant, and two. */
const ORDER = 12;
const [LOWEST_HZ, HIGHEST_HZ, STEP_HZ] = [150, 4_500, 20] as const;

/** The formants of the voice at this time, in Hz, lowest first: peaks of the linear prediction's envelope. */
function formantsAt({ samples, sampleRate }: Sound, second: number): number[] {
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
