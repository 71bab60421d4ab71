import type { Measures } from './measurable.ts';

/** Messages to the thread that measures recordings. */
export type ToMeasurer =
  | { readonly kind: 'measure'; readonly bytes: number; readonly contentType: string }
  /** The response to a `read`; null when the file could not be read. */
  | { readonly kind: 'range'; readonly read: number; readonly content: Uint8Array | null };

/** Messages of the thread: a range it wants to read, and finally the measures. */
export type FromMeasurer =
  | { readonly kind: 'read'; readonly read: number; readonly start: number; readonly end: number }
  | { readonly kind: 'measured'; readonly measures: Measures };
