import { resample } from '../sound/reshape.ts';
import { measureDuration } from '../sound/sound.ts';
import type { Sound } from '../sound/sound.ts';
import type { VoiceMeasures } from '../types/media-types.ts';
import { formantsAt } from './formants.ts';
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
