import type { Caller } from '../../../platform/access/caller.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { ListedPage, ListedRows } from './listed-rows.ts';

/** Where the rows of a list are read, and who may read them. */
export interface ListSource<Row> {
  readonly list: (page: ListedPage) => Promise<readonly Row[]>;
  readonly count: (rows: ListedRows) => Promise<number>;
  readonly mayRead: (caller: Caller, row: Row) => boolean;
  /** Whether this caller lists everybody's rows. */
  readonly seesAll: boolean;
}

/** A page of the caller's own rows, or of one user's. */
export async function listPage<Row>(
  { list, count, mayRead, seesAll }: ListSource<Row>,
  caller: Caller,
  { userId, first, after }: PageRequest,
): Promise<Page<Row>> {
  const isStranger = caller.kind === 'anonymous';
  // Anonymous callers list only rows without an owner, of the user that they name (enforceSelf).
  if (isStranger && userId === null) return { items: [], hasNextPage: false, after, count: async () => 0 };
  const rows = {
    callerId: seesAll || isStranger ? null : caller.id,
    owner: isStranger ? caller.id : null,
    userId,
  };
  const found = await list({ ...rows, first, after });
  return {
    items: found.slice(0, first).filter((row) => mayRead(caller, row)),
    hasNextPage: found.length > first,
    after,
    count: () => count(rows),
  };
}
