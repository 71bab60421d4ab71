/** What the threads that decode recordings and videos answer. Each is sent the bytes of a whole file, once. */

/** The loudest sample of each slice of equal length, from 0 to 1; null when the recording can't be decoded. */
export type Peaks = Float32Array | null;

/** The first picture of a video. */
export interface FirstFrame {
  /** RGB, three bytes a pixel; null when it can't be decoded here. */
  readonly decoded: { readonly rgb: Uint8Array; readonly width: number; readonly height: number } | null;
  /** The packet of that picture alone, as a Matroska file, for a decoder elsewhere; null when it is decoded. */
  readonly packet: Uint8Array | null;
  /** Degrees, clockwise, by which players turn it. */
  readonly rotation: number;
}
