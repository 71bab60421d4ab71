import type { Sound } from './sound.ts';

/** Half width of the sinc window, in samples. */
const REACH = 12;

/** The same sound at another sample rate, by windowed sinc. */
export function resample(sound: Sound, sampleRate: number): Sound {
  if (sampleRate === sound.sampleRate) return sound;
  return { samples: rescale(sound.samples, sampleRate / sound.sampleRate), sampleRate };
}

/** Resamples by this factor. */
function rescale(samples: Float32Array, ratio: number): Float32Array {
  const scaled = new Float32Array(Math.floor(samples.length * ratio));
  const cutoff = Math.min(1, ratio);
  const reach = Math.ceil(REACH / cutoff);
  for (let index = 0; index < scaled.length; index += 1) {
    const middle = index / ratio;
    const first = Math.max(0, Math.floor(middle) - reach + 1);
    const last = Math.min(samples.length - 1, Math.floor(middle) + reach);
    let sum = 0;
    for (let at = first; at <= last; at += 1) {
      const away = middle - at;
      sum += (samples[at] ?? 0) * sinc(away * cutoff) * (0.5 + 0.5 * Math.cos((Math.PI * away) / reach));
    }
    scaled[index] = sum * cutoff;
  }
  return scaled;
}

function sinc(value: number): number {
  const angle = Math.PI * value;
  return Math.abs(angle) < 1e-9 ? 1 : Math.sin(angle) / angle;
}

/** Shifts formants and pitch by this factor and keeps the duration. */
export function shiftFormants(sound: Sound, factor: number): Sound {
  if (Math.abs(factor - 1) < 0.01) return sound;
  const { sampleRate } = sound;
  return {
    samples: stretch({ samples: rescale(sound.samples, 1 / factor), sampleRate }, factor),
    sampleRate,
  };
}

const WINDOW_SECONDS = 0.03;
const SEARCH_SECONDS = 0.008;

/** Stretches the sound by this factor and keeps its pitch (WSOLA). */
function stretch({ samples, sampleRate }: Sound, factor: number): Float32Array {
  const size = Math.round((sampleRate * WINDOW_SECONDS) / 2) * 2;
  const hop = size / 2;
  const length = Math.floor(samples.length * factor);
  const stretched = new Float32Array(length + size);
  let previous = 0;
  for (let at = 0; at + size < stretched.length; at += hop) {
    const wanted = Math.round(at / factor);
    const from = at === 0 ? 0 : bestStart(samples, { wanted, goOn: previous + hop, hop, sampleRate });
    for (let index = 0; index < size; index += 1) {
      const loud = 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / size);
      stretched[at + index] = (stretched[at + index] ?? 0) + loud * (samples[from + index] ?? 0);
    }
    previous = from;
  }
  return stretched.subarray(0, length);
}

/** The position near the target with the best correlation to the natural continuation. */
function bestStart(
  samples: Float32Array,
  search: {
    readonly wanted: number;
    readonly goOn: number;
    readonly hop: number;
    readonly sampleRate: number;
  },
): number {
  const { wanted, goOn, hop, sampleRate } = search;
  const reach = Math.round(sampleRate * SEARCH_SECONDS);
  const lastStart = samples.length - 2 * hop;
  let best = Math.max(0, Math.min(wanted, lastStart));
  let likeness = Number.NEGATIVE_INFINITY;
  if (goOn + hop >= samples.length) return best;
  for (let start = Math.max(0, wanted - reach); start <= Math.min(lastStart, wanted + reach); start += 2) {
    let product = 0;
    let power = 1e-9;
    for (let index = 0; index < hop; index += 3) {
      const value = samples[start + index] ?? 0;
      product += value * (samples[goOn + index] ?? 0);
      power += value * value;
    }
    if (product / Math.sqrt(power) > likeness) {
      likeness = product / Math.sqrt(power);
      best = start;
    }
  }
  return best;
}
