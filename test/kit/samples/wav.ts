import { writeWav } from '../../../sandbox/studio/sound/sound.ts';

const SAMPLE_RATE = 8_000;

/** A recording with a second of a square wave for each of these levels (0 to 1). */
export function makeWav(levels: readonly number[]): Buffer<ArrayBuffer> {
  return encoded(levels.length, (index) => {
    const level = levels[Math.floor(index / SAMPLE_RATE)] ?? 0;
    return index % 20 < 10 ? level : -level;
  });
}

/** A recording of nothing. */
export function silence(seconds: number): Buffer<ArrayBuffer> {
  return encoded(seconds, () => 0);
}

function encoded(seconds: number, sampleAt: (index: number) => number): Buffer<ArrayBuffer> {
  const samples = Float32Array.from({ length: Math.round(seconds * SAMPLE_RATE) }, (_, index) =>
    sampleAt(index),
  );
  return Buffer.from(writeWav({ samples, sampleRate: SAMPLE_RATE }));
}
