import type { StudioSize } from '../plan/plan.ts';
import type { PresenterRequest, SpeechRequest, StudioErrorCode, VideoRequest } from '../types/media-types.ts';
import type { ImageRequest } from '../types/studio.ts';

/** The requests of a worker; one at a time. */
export type WorkerRequest =
  | {
      readonly kind: 'image';
      readonly request: ImageRequest;
      readonly width: number;
      readonly height: number;
    }
  | { readonly kind: 'describe'; readonly image: Uint8Array }
  | { readonly kind: 'video'; readonly request: VideoRequest; readonly size: StudioSize }
  | { readonly kind: 'presenter'; readonly request: PresenterRequest; readonly size: StudioSize }
  | { readonly kind: 'speech'; readonly request: SpeechRequest }
  | {
      readonly kind: 'matchVoice' | 'detectPerson' | 'probe' | 'analyse' | 'thumbnail';
      readonly media: Uint8Array;
    }
  /** Crashes, for tests. */
  | { readonly kind: 'crash' };

/** The messages of a worker. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'progress'; readonly percent: number; readonly stage: string }
  | { readonly kind: 'done'; readonly value: unknown; readonly rssBytes: number }
  | { readonly kind: 'failed'; readonly message: string; readonly failure: WorkerFailure };

/** The error class of a message, because errors lose their class between processes. */
export type WorkerFailure = StudioErrorCode | 'UNREADABLE_IMAGE' | 'UNKNOWN';
