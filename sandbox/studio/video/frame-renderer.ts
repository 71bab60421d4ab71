import type { Size } from '../types/size.ts';

/** Draws the frames of a video. */
export interface FrameRenderer {
  /** Draws the moment into an I420 frame: 0 is the first frame, 1 the last. */
  draw(moment: number, frame: Uint8Array): void;
}

/** Draws the frames of a video asynchronously; they are requested in order. */
export interface AsyncFrameRenderer {
  /** As in FrameRenderer. */
  draw(moment: number, frame: Uint8Array): Promise<void>;
}

/** The input of a renderer. */
export interface FramePlan {
  readonly prompt: string;
  /** The same plan gives the same frames. */
  readonly seed: number;
  readonly size: Size;
}

/** Eases in and out. */
export function eased(moment: number): number {
  return moment * moment * (3 - 2 * moment);
}
