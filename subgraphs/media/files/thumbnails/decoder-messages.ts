/** What the threads that decode recordings and videos answer. Each is sent the bytes of a whole file, once. */

/** The loudest sample of each slice of equal length, from 0 to 1; null when the recording can't be decoded. */
export type Peaks = Float32Array | null;

/** An image in RGB, three bytes a pixel. */
export interface DecodedImage {
  readonly rgb: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Images of a sprite sheet at most. */
export const SHEET_IMAGES = 16;

/** Images of a video at even distances. */
export interface SheetImages {
  /** In their order; null when they can't be decoded here. */
  readonly decoded: readonly DecodedImage[] | null;
  /** All packets of the video as a Matroska file, for a decoder elsewhere; null when they are decoded. */
  readonly film: Uint8Array | null;
  /** Seconds from the first image to the end. */
  readonly duration: number;
  /** Degrees, clockwise, by which players turn them. */
  readonly rotation: number;
}

/** The first image of a video. */
export interface FirstFrame {
  /** Null when it can't be decoded here. */
  readonly decoded: DecodedImage | null;
  /** The packet of that image alone, as a Matroska file, for a decoder elsewhere; null when it is decoded. */
  readonly packet: Uint8Array | null;
  /** Degrees, clockwise, by which players turn it. */
  readonly rotation: number;
}
