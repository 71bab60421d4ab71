/** Rows of one width: each is filled until it is about as high as wished. Pure. */

/** Something with a shape. */
export interface Shaped {
  readonly media: { readonly width: number | null; readonly height: number | null };
}

/** One row of the grid. */
export interface Row<Piece> {
  readonly pieces: readonly Piece[];
  /** Pixels; the gap below is not in it. */
  readonly height: number;
}

interface Space {
  /** Pixels of a row. */
  readonly width: number;
  /** Height that is wished for. */
  readonly target: number;
  readonly gap: number;
}

/** A row takes one more while it stays this share of the wished height. */
const LEAST_SHARE = 0.85;
const SOUND_SHAPE = 1.6;

/** Width by height; what has no picture gets the shape of a card. */
export function shapeOf({ media: { width, height } }: Shaped): number {
  return width === null || height === null || height === 0 ? SOUND_SHAPE : width / height;
}

/** The rows of these pieces in their order; the last one keeps the wished height. */
export function rowsOf<Piece extends Shaped>(
  pieces: readonly Piece[],
  { width, target, gap }: Space,
): readonly Row<Piece>[] {
  const rows: Row<Piece>[] = [];
  let open: Piece[] = [];
  let shapes = 0;
  const heightOf = (count: number, sum: number) => (width - gap * (count - 1)) / sum;
  for (const piece of pieces) {
    const shape = shapeOf(piece);
    if (open.length > 0 && heightOf(open.length + 1, shapes + shape) < target * LEAST_SHARE) {
      rows.push({ pieces: open, height: heightOf(open.length, shapes) });
      [open, shapes] = [[], 0];
    }
    open.push(piece);
    shapes += shape;
  }
  if (open.length > 0) {
    rows.push({ pieces: open, height: Math.min(target, heightOf(open.length, shapes)) });
  }
  return rows;
}
