/** Deterministic random numbers: integers only, no Math.sin, so that a seed gives the same image on every machine. */

/** A 32-bit hash of a text (FNV-1a). */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash ^= text.charCodeAt(index);
    hash = Math.imul(hash, 0x01000193);
  }
  return hash >>> 0;
}

/** A generator of numbers from 0 to below 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Smooth noise from 0 to 1; more `octaves` are rougher. */
export type Noise = (x: number, y: number, octaves: number) => number;

/** Value noise in octaves, for this seed. */
export function createNoise(seed: number): Noise {
  const plane = createNoisePlane(seed);
  return (x, y, octaves) => {
    let sum = 0;
    let total = 0;
    let weight = 0.5;
    let scale = 1;
    for (let octave = 0; octave < octaves; octave += 1) {
      sum += weight * plane(x * scale, y * scale);
      total += weight;
      scale *= 2.03;
      weight *= 0.5;
    }
    return sum / total;
  };
}

function createNoisePlane(seed: number): (x: number, y: number) => number {
  const at = (x: number, y: number) => {
    const mixed = Math.imul(x, 374_761_393) + Math.imul(y, 668_265_263) + Math.imul(seed, 1_274_126_177);
    const spread = Math.imul(mixed ^ (mixed >>> 13), 1_274_126_177);
    return ((spread ^ (spread >>> 16)) >>> 0) / 4_294_967_296;
  };
  return (x, y) => {
    const left = Math.floor(x);
    const top = Math.floor(y);
    const across = smooth(x - left);
    const down = smooth(y - top);
    const upper = mix(at(left, top), at(left + 1, top), across);
    const lower = mix(at(left, top + 1), at(left + 1, top + 1), across);
    return mix(upper, lower, down);
  };
}

function smooth(value: number): number {
  return value * value * (3 - 2 * value);
}

function mix(one: number, other: number, share: number): number {
  return one + (other - one) * share;
}
