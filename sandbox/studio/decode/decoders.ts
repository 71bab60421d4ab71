import { createRequire } from 'node:module';

import type { InputAudioTrack, InputVideoTrack } from 'mediabunny';

/**
 * Decoders for H.264, H.265, VP9, AV1, AAC, Opus and others are not on board. They are there when whoever runs Kiln has
 * put this package beside it; nothing is missing without it.
 */
const OPTIONAL_PACKAGE = 'node-webcodecs';
/** What decoding needs of WebCodecs. Encoders stay our own: the same request makes the same bytes with and without the package. */
const NEEDED = [
  'VideoDecoder',
  'AudioDecoder',
  'VideoFrame',
  'AudioData',
  'EncodedVideoChunk',
  'EncodedAudioChunk',
  'VideoColorSpace',
] as const;

/** Whether what is in a track can be decoded here. */
export async function canDecode(track: InputVideoTrack | InputAudioTrack): Promise<boolean> {
  if (await track.canDecode()) return true;
  return loadDecoders() && track.canDecode();
}

let areLoaded = false;

/** Makes the optional decoders known, once for each process; false when they are not installed. */
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
    // One that is installed and does not start is an error of the installation: let it be seen.
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}
