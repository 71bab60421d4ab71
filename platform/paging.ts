import { badInput } from './errors.ts';
import { isUuid } from './ids.ts';

/** Cursor pagination and filters, the same in every subgraph. */

/** The position of a page in its list. */
export interface PageInfoShape {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** The page info of a page with these cursors. `after` is the cursor it was requested with. */
export function createPageInfo(
  cursors: readonly string[],
  { hasNextPage, after }: { readonly hasNextPage: boolean; readonly after: string | null },
): PageInfoShape {
  return {
    hasNextPage,
    hasPreviousPage: after !== null,
    startCursor: cursors[0] ?? null,
    endCursor: cursors.at(-1) ?? null,
  };
}

/** Rows up to which the items of a list are counted: counting on would read the whole of a long history. */
export const MOST_COUNTED = 10_000;

/** Checks a `first` argument against its bounds, BAD_USER_INPUT otherwise. */
export function boundedFirst(first: number, most: number): number {
  if (first >= 1 && first <= most) return first;
  throw badInput('first', `first must be from 1 to ${most}`);
}

/** Checks an `after` argument: cursors are UUIDs, unless the list says otherwise; BAD_USER_INPUT for anything else. */
export function checkedCursor(
  after: string | null | undefined,
  isCursor: (text: string) => boolean = isUuid,
): string | null {
  if (after === null || after === undefined || isCursor(after)) return after ?? null;
  throw badInput('after', 'after must be a cursor of this list');
}

/** The members of a filter that were given; null is the same as absent. */
export function givenMembers<Filter extends object>(
  filter: Filter,
): { [Name in keyof Filter]?: NonNullable<Filter[Name]> } {
  return Object.fromEntries(
    Object.entries(filter).filter(([, value]) => value !== null && value !== undefined),
  ) as { [Name in keyof Filter]?: NonNullable<Filter[Name]> };
}
