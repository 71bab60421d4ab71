import type { Varied } from '../../../work/batches.ts';
import type { Shot } from './shots.ts';

/** The places of a sheet: columns and rows in the order in which they were started. Pure. */

interface Heading {
  readonly key: string;
  readonly varied: Varied;
}

interface Row {
  readonly key: string;
  readonly varied: Varied | null;
  /** One for each column; undefined where nothing was started, or it was refused. */
  readonly shots: readonly (Shot | undefined)[];
}

/** Puts the shots of a sheet into their places; of several results of one place the first. */
export function gridOf(shots: readonly Shot[]): {
  readonly columns: readonly Heading[];
  readonly rows: readonly Row[];
} {
  const columns = new Map<string, Heading>();
  const rows = new Map<string, Varied | null>();
  const places = new Map<string, Shot>();
  for (const shot of shots) {
    const { cell } = shot.batch;
    if (cell === undefined) continue;
    const column = JSON.stringify(cell.x.value);
    const row = JSON.stringify(cell.y?.value ?? null);
    if (!columns.has(column)) columns.set(column, { key: column, varied: cell.x });
    if (!rows.has(row)) rows.set(row, cell.y ?? null);
    const place = `${row} ${column}`;
    if (!places.has(place)) places.set(place, shot);
  }
  return {
    columns: [...columns.values()],
    rows: [...rows].map(([key, varied]) => ({
      key,
      varied,
      shots: [...columns.keys()].map((column) => places.get(`${key} ${column}`)),
    })),
  };
}
