/** One channel of sound. */
export interface Sound {
  /** From -1 to 1. */
  readonly samples: Float32Array;
  /** Samples a second. */
  readonly sampleRate: number;
}

/** How long it lasts, in seconds. */
export function durationOf({ samples, sampleRate }: Sound): number {
  return samples.length / sampleRate;
}
