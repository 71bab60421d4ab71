import type { Size } from '../types/size.ts';

/** A film that can be drawn frame by frame. */
export interface FrameRenderer {
  /** Draws the moment into an I420 frame: 0 is the first frame, 1 the last. */
  draw(moment: number, frame: Uint8Array): void;
}

/** A film whose frames have to be waited for; they are drawn one after the other, from the first on. */
export interface AsyncFrameRenderer {
  /** As that of a film. */
  draw(moment: number, frame: Uint8Array): Promise<void>;
}

/** What every film is drawn by. */
export interface FramePlan {
  readonly prompt: string;
  /** The same numbers give the same film. */
  readonly seed: number;
  readonly size: Size;
}

/** Starts and ends slowly. */
export function eased(moment: number): number {
  return moment * moment * (3 - 2 * moment);
}
