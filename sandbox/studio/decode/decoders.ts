import { createRequire } from 'node:module';

import type { InputAudioTrack, InputVideoTrack } from 'mediabunny';

/**
 * Optional decoders for H.264, H.265, VP9, AV1, AAC, Opus and others, used when this package is installed beside Kiln.
 */
const OPTIONAL_PACKAGE = 'node-webcodecs';
/** The decoders of WebCodecs. The encoders are not used, so that the output is the same with and without the package. */
const NEEDED = [
  'VideoDecoder',
  'AudioDecoder',
  'VideoFrame',
  'AudioData',
  'EncodedVideoChunk',
  'EncodedAudioChunk',
  'VideoColorSpace',
] as const;

/** Whether a track can be decoded. */
export async function canDecode(track: InputVideoTrack | InputAudioTrack): Promise<boolean> {
  if (await track.canDecode()) return true;
  return loadDecoders() && track.canDecode();
}

let areLoaded = false;

/** Registers the optional decoders, once per process; false when they are not installed. */
function loadDecoders(): boolean {
  if (areLoaded) return true;
  const found = optionalPackage();
  if (found === null) return false;
  for (const name of NEEDED) {
    if (!(name in globalThis)) Object.defineProperty(globalThis, name, { value: found[name] });
  }
  areLoaded = true;
  return true;
}

function optionalPackage(): Partial<Record<(typeof NEEDED)[number], unknown>> | null {
  const require = createRequire(import.meta.url);
  try {
    return require(OPTIONAL_PACKAGE) as Partial<Record<(typeof NEEDED)[number], unknown>>;
  } catch (error) {
    // An installed package that does not load is an error of the installation.
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}
