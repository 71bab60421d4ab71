/** Rows of one width: each is filled until it is about as high as wished, and every day begins with its name. Pure. */

/** Something with a shape that was made on a day. */
export interface Shaped {
  readonly media: {
    readonly width: number | null;
    readonly height: number | null;
    readonly createdAt: string;
  };
}

/** One row of the grid: the name of a day, or pieces. */
export interface Row<Piece> {
  /** When the newest of the day was made, in the row that names it. */
  readonly day: string | null;
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
  /** Pixels of the row that names a day. */
  readonly heading: number;
}

/** A row takes one more while it stays this share of the wished height. */
const LEAST_SHARE = 0.85;
const SOUND_SHAPE = 1.6;

/** Width by height; what has no image gets the shape of a card. */
export function measureShape({ media: { width, height } }: Shaped): number {
  return width === null || height === null || height === 0 ? SOUND_SHAPE : width / height;
}

/** The rows of these pieces in their order, newest first; the last one of a day keeps the wished height. */
export function fillRows<Piece extends Shaped>(
  pieces: readonly Piece[],
  { width, target, gap, heading }: Space,
): readonly Row<Piece>[] {
  const rows: Row<Piece>[] = [];
  let open: Piece[] = [];
  let shapes = 0;
  let midnight = '';
  const computeHeight = (count: number, sum: number) => (width - gap * (count - 1)) / sum;
  const close = (most: number) => {
    if (open.length > 0)
      rows.push({ day: null, pieces: open, height: Math.min(most, computeHeight(open.length, shapes)) });
    [open, shapes] = [[], 0];
  };
  for (const piece of pieces) {
    const { createdAt } = piece.media;
    // Times of the API are all in UTC, so their texts are in order.
    if (rows.length + open.length === 0 || createdAt < midnight) {
      close(target);
      midnight = findMidnight(createdAt);
      rows.push({ day: createdAt, pieces: [], height: heading });
    }
    const shape = measureShape(piece);
    if (open.length > 0 && computeHeight(open.length + 1, shapes + shape) < target * LEAST_SHARE)
      close(Number.POSITIVE_INFINITY);
    open.push(piece);
    shapes += shape;
  }
  close(target);
  return rows;
}

/** The beginning of its day in the reader's own time. */
function findMidnight(at: string): string {
  const day = new Date(at);
  day.setHours(0, 0, 0, 0);
  return day.toISOString();
}

/**
 * The piece above (-1) or below (1) another one: that of the next row whose middle is nearest. Undefined at the end.
 */
export function pieceBeside<Piece extends Shaped>(
  rows: readonly Row<Piece>[],
  piece: Piece,
  step: -1 | 1,
): Piece | undefined {
  const from = rows.findIndex(({ pieces }) => pieces.includes(piece));
  const row = rows[from];
  if (row === undefined) return undefined;
  let to = from + step;
  while (rows[to]?.pieces.length === 0) to += step;
  const next = rows[to];
  if (next === undefined) return undefined;
  const middle = findMiddle(row, piece);
  return next.pieces.reduce((best, one) =>
    Math.abs(findMiddle(next, one) - middle) < Math.abs(findMiddle(next, best) - middle) ? one : best,
  );
}

function findMiddle<Piece extends Shaped>({ pieces, height }: Row<Piece>, piece: Piece): number {
  const before = pieces.slice(0, pieces.indexOf(piece)).reduce((sum, one) => sum + measureShape(one), 0);
  return (before + measureShape(piece) / 2) * height;
}
