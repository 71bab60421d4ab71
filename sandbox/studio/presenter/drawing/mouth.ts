import { measureDuration } from '../../sound/sound.ts';
import type { Sound } from '../../sound/sound.ts';
import type { Phone } from '../../speech/flite.ts';

/** The shape of the mouth in one frame; all values from 0 to 1. */
export interface Mouth {
  readonly open: number;
  readonly wide: number;
  readonly round: number;
  /** Loudness, relative to the loud parts of the voice. */
  readonly level: number;
}

type Shape = readonly [open: number, wide: number, round: number];

const CLOSED: Shape = [0, 0.4, 0];
const UNKNOWN: Shape = [0.3, 0.4, 0.1];
const [NARROW, TEETH, HISS]: readonly Shape[] = [
  [0.12, 0.8, 0],
  [0.12, 0.5, 0],
  [0.2, 0.2, 0.7],
];
/** Mouth shapes by phone of Flite's voices (CMU's set). */
const SHAPES: Readonly<Record<string, Shape | undefined>> = {
  aa: [1, 0.5, 0.1],
  ae: [0.85, 0.7, 0],
  ah: [0.7, 0.45, 0.1],
  ao: [0.8, 0.2, 0.6],
  aw: [0.8, 0.3, 0.5],
  ax: [0.45, 0.4, 0.1],
  ay: [0.8, 0.6, 0],
  eh: [0.6, 0.65, 0],
  er: [0.4, 0.3, 0.4],
  ey: [0.5, 0.8, 0],
  ih: [0.4, 0.7, 0],
  iy: [0.3, 0.95, 0],
  ow: [0.55, 0.1, 0.9],
  oy: [0.6, 0.2, 0.8],
  uh: [0.4, 0.1, 0.7],
  uw: [0.3, 0.05, 1],
  m: CLOSED,
  b: CLOSED,
  p: CLOSED,
  f: TEETH,
  v: TEETH,
  w: [0.2, 0, 1],
  th: [0.25, 0.5, 0],
  dh: [0.25, 0.5, 0],
  l: [0.35, 0.5, 0],
  r: [0.3, 0.2, 0.5],
  s: NARROW,
  z: NARROW,
  sh: HISS,
  zh: HISS,
  ch: HISS,
  jh: HISS,
};

/** The mouth shape of every frame: from phones if known, else from loudness and zero crossings. */
export function mouthTrack(
  sound: Sound,
  frames: number,
  { framesPerSecond, phones }: { readonly framesPerSecond: number; readonly phones: readonly Phone[] | null },
): Mouth[] {
  const heard = Array.from({ length: frames }, (_value, frame) => hear(sound, frame, framesPerSecond));
  const loudest = Math.max(loudPlace(heard.map(({ loudness }) => loudness)), QUIETEST);
  const shapes = heard.map(({ loudness, crossings }, frame) => {
    const level = Math.min(1, loudness / loudest);
    const shape = phones === null ? heardShape(level, crossings) : null;
    return { shape: shape ?? spokenShape(phones ?? [], (frame + 0.5) / framesPerSecond), level };
  });
  return softened(shapes);
}

/** Silence threshold: normalizing below this would amplify noise. */
const QUIETEST = 0.002;

/** The loudness (RMS) of a frame, and its share of zero crossings. */
function hear(sound: Sound, frame: number, framesPerSecond: number): { loudness: number; crossings: number } {
  const { samples, sampleRate } = sound;
  const start = Math.round((frame * sampleRate) / framesPerSecond);
  const end = Math.min(samples.length, Math.round(((frame + 1) * sampleRate) / framesPerSecond));
  let energy = 0;
  let signs = 0;
  for (let at = start; at < end; at += 1) {
    const value = samples[at] ?? 0;
    energy += value * value;
    if (at > start && value * (samples[at - 1] ?? 0) < 0) signs += 1;
  }
  const length = Math.max(1, end - start);
  return { loudness: Math.sqrt(energy / length), crossings: (signs * sampleRate) / length / HEARD_AS };
}

/** The sample rate that the shares of zero crossings are normalized to. */
const HEARD_AS = 16_000;

/** The 95th percentile of loudness, so that a single bang does not make the rest quiet. */
function loudPlace(levels: readonly number[]): number {
  return levels.toSorted((one, other) => one - other)[Math.floor(levels.length * 0.95)] ?? 0;
}

/** Vowels are loud with few zero crossings, fricatives have many. */
function heardShape(level: number, crossings: number): Shape {
  if (level < 0.06) return CLOSED;
  const open = Math.min(1, level ** 0.7) * (crossings > 0.25 ? 0.35 : 1);
  return [open, Math.min(1, 0.25 + crossings * 3), crossings < 0.06 ? 0.5 : 0];
}

function spokenShape(phones: readonly Phone[], seconds: number): Shape {
  const phone = phones.find(({ start, end }) => seconds >= start && seconds < end);
  return phone === undefined ? CLOSED : (SHAPES[phone.name] ?? UNKNOWN);
}

/** Smooths the movement over frames. */
function softened(frames: readonly { readonly shape: Shape; readonly level: number }[]): Mouth[] {
  let [open, wide, round] = CLOSED;
  return frames.map(({ shape, level }) => {
    open += (shape[0] - open) * 0.6;
    wide += (shape[1] - wide) * 0.5;
    round += (shape[2] - round) * 0.5;
    return { open, wide, round, level };
  });
}

/** Frames that a sound lasts; at least one. */
export function countFrames(sound: Sound, framesPerSecond: number): number {
  return Math.max(1, Math.ceil(measureDuration(sound) * framesPerSecond));
}
