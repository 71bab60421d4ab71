/** One channel of sound. */
export interface Sound {
  /** From -1 to 1. */
  readonly samples: Float32Array;
  /** Samples a second. */
  readonly sampleRate: number;
}

/** The duration in seconds. */
export function measureDuration({ samples, sampleRate }: Sound): number {
  return samples.length / sampleRate;
}

/** Concatenates samples. */
export function joined(pieces: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;
const LOUDEST = 32_767;

/** Encodes a sound as WAV: 16-bit PCM, mono. */
export function writeWav({ samples, sampleRate }: Sound): Buffer {
  const dataBytes = samples.length * BYTES_PER_SAMPLE;
  const wav = Buffer.alloc(HEADER_BYTES + dataBytes);
  wav.write('RIFF', 0, 'latin1');
  wav.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  wav.write('WAVEfmt ', 8, 'latin1');
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20); // plain samples
  wav.writeUInt16LE(1, 22); // one channel
  wav.writeUInt32LE(sampleRate, 24);
  wav.writeUInt32LE(sampleRate * BYTES_PER_SAMPLE, 28);
  wav.writeUInt16LE(BYTES_PER_SAMPLE, 32);
  wav.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  wav.write('data', 36, 'latin1');
  wav.writeUInt32LE(dataBytes, 40);
  for (const [index, value] of samples.entries()) {
    const loud = Math.max(-1, Math.min(1, value)) * LOUDEST;
    wav.writeInt16LE(Math.round(loud), HEADER_BYTES + index * BYTES_PER_SAMPLE);
  }
  return wav;
}

/** Reads a WAV of exactly this format, as Flite writes it; for others use decodeSound. */
export function readPcmWav(wav: Uint8Array): Sound {
  const view = new DataView(wav.buffer, wav.byteOffset, wav.byteLength);
  const length = Math.max(0, Math.floor((wav.byteLength - HEADER_BYTES) / BYTES_PER_SAMPLE));
  const samples = new Float32Array(length);
  for (let index = 0; index < length; index += 1) {
    samples[index] = view.getInt16(HEADER_BYTES + index * BYTES_PER_SAMPLE, true) / 32_768;
  }
  return { samples, sampleRate: view.getUint32(24, true) };
}
