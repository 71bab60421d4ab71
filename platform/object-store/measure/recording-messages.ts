import type { Measures } from './measurable.ts';

/** What the main thread and the thread that measures recordings say to each other. */
export type ToMeasurer =
  | { readonly kind: 'measure'; readonly bytes: number; readonly contentType: string }
  /** The answer to a `read`; null when the file could not be read. */
  | { readonly kind: 'range'; readonly read: number; readonly content: Uint8Array | null };

/** What the thread answers: a stretch of the file it wants to see, and in the end the measures. */
export type FromMeasurer =
  | { readonly kind: 'read'; readonly read: number; readonly start: number; readonly end: number }
  | { readonly kind: 'measured'; readonly measures: Measures };
