import type { Caller } from '../../../platform/access/caller.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { ListedPage, ListedRows } from './listed-rows.ts';

/** Where the rows of a list are read, and who may read them. */
export interface ListSource<Row, Sums = never> {
  readonly list: (page: ListedPage) => Promise<readonly Row[]>;
  readonly count: (rows: ListedRows) => Promise<number>;
  /** Totals over all pages, for lists that have them. */
  readonly sums?: (rows: ListedRows) => Promise<readonly Sums[]>;
  readonly mayRead: (caller: Caller, row: Row) => boolean;
  /** Whether this caller lists everybody's rows. */
  readonly seesAll: boolean;
}

/** A page of the caller's own rows, or of one user's. */
export async function listPage<Row, Sums = never>(
  { list, count, sums = () => Promise.resolve([]), mayRead, seesAll }: ListSource<Row, Sums>,
  caller: Caller,
  { userId, filter, first, after }: PageRequest,
): Promise<Page<Row, Sums>> {
  const isStranger = caller.kind === 'anonymous';
  // Anonymous callers list only rows without an owner, of the user that they name (enforceSelf).
  if (isStranger && userId === null) {
    return { items: [], hasNextPage: false, after, count: async () => 0, sums: async () => [] };
  }
  const rows = {
    callerId: seesAll || isStranger ? null : caller.id,
    owner: isStranger ? caller.id : null,
    userId,
    filter,
  };
  const found = await list({ ...rows, first, after });
  return {
    items: found.slice(0, first).filter((row) => mayRead(caller, row)),
    hasNextPage: found.length > first,
    after,
    count: () => count(rows),
    sums: () => sums(rows),
  };
}
