/** What images of an aspect ratio measure. */
export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The shorter edge of the largest videos that the studio renders. */
export const MOST_LINES = 1_080;

const RATIO = /^\s*(\d+(?:\.\d+)?)\s*[:x/]\s*(\d+(?:\.\d+)?)\s*$/;

/** Even width and height of a `W:H` ratio with this long edge. Ratios beyond 1:4 and 4:1 are brought to those; no ratio is 1:1. */
export function sizeFor(aspectRatio: string | undefined, longEdge: number): Size {
  const ratio = parseRatio(aspectRatio);
  const short = even(ratio >= 1 ? longEdge / ratio : longEdge * ratio);
  return ratio >= 1 ? { width: even(longEdge), height: short } : { width: short, height: even(longEdge) };
}

/** The same by the shorter edge, as the resolution of a video is told: 16:9 of 720 is 1280x720. */
export function sizeByShortEdge(aspectRatio: string | undefined, shortEdge: number): Size {
  const ratio = parseRatio(aspectRatio);
  const long = even(ratio >= 1 ? shortEdge * ratio : shortEdge / ratio);
  return ratio >= 1 ? { width: long, height: even(shortEdge) } : { width: even(shortEdge), height: long };
}

function parseRatio(aspectRatio: string | undefined): number {
  const match = RATIO.exec(aspectRatio ?? '1:1');
  const requested = match === null ? 1 : Number(match[1]) / Number(match[2]);
  return Number.isFinite(requested) && requested > 0 ? Math.min(4, Math.max(0.25, requested)) : 1;
}

function even(length: number): number {
  return Math.max(2, Math.round(length / 2) * 2);
}
