import type { Description, ImageRequest, StudioImage } from './types.ts';

/** What a worker is asked; one at a time. */
export type WorkerRequest =
  | {
      readonly kind: 'image';
      readonly request: ImageRequest;
      readonly width: number;
      readonly height: number;
    }
  | { readonly kind: 'describe'; readonly picture: Uint8Array }
  /** Dies at once: how the tests see what a crash does. */
  | { readonly kind: 'crash' };

/** What a worker says. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly percent: number; readonly stage: string }
  | { readonly kind: 'done'; readonly value: WorkerValue; readonly rssBytes: number }
  | { readonly kind: 'failed'; readonly message: string; readonly isUnreadable: boolean };

export type WorkerValue =
  | (Omit<StudioImage, 'bytes' | 'preview'> & {
      readonly bytes: Uint8Array;
      readonly preview: Uint8Array;
    })
  | Description;
