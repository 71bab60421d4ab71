import { createRandom } from '../art/random.ts';
import type { Sound } from './sound.ts';

const SAMPLE_RATE = 32_000;
const CHORD_SECONDS = 2.5;
/** Overlap of chords in seconds. */
const RING_SECONDS = 3;
/** Semitones above the root. */
const CHORDS = [
  [0, 7, 12, 16],
  [5, 9, 12, 17],
  [-3, 4, 9, 12],
  [-5, 2, 7, 11],
] as const;
/** Partials of a note: frequency factor and loudness. */
const OVERTONES = [
  [1, 1],
  [2.003, 0.35],
  [0.5, 0.15],
] as const;
const LOUDNESS = 0.055;

/** Composes quiet chords; the seed chooses the key. */
export function composeAmbient(seed: number, seconds: number): Sound {
  const random = createRandom(seed);
  const samples = new Float32Array(Math.round(seconds * SAMPLE_RATE));
  const root = 110 * 2 ** (Math.floor(random() * 12) / 12);
  const chords = Math.max(1, Math.ceil(seconds / CHORD_SECONDS));
  for (let index = 0; index < chords; index += 1) {
    const chord = CHORDS[(index + Math.floor(random() * 2)) % CHORDS.length] ?? CHORDS[0];
    const start = Math.floor(index * CHORD_SECONDS * SAMPLE_RATE);
    for (const note of chord) addNote(samples, start, root * 2 ** (note / 12), random() * Math.PI * 2);
  }
  return { samples, sampleRate: SAMPLE_RATE };
}

function addNote(samples: Float32Array, start: number, pitch: number, phase: number): void {
  const end = Math.min(samples.length, start + RING_SECONDS * SAMPLE_RATE);
  for (let at = start; at < end; at += 1) {
    const seconds = (at - start) / SAMPLE_RATE;
    const swell = Math.min(1, seconds / 0.6) * Math.min(1, (RING_SECONDS - seconds) / 0.9);
    let value = 0;
    for (const [times, loud] of OVERTONES) {
      value += loud * Math.sin(2 * Math.PI * pitch * times * seconds + phase);
    }
    samples[at] = (samples[at] ?? 0) + LOUDNESS * swell * value;
  }
}
