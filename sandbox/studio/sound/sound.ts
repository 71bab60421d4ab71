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
