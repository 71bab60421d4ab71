/** A list that is read page by page, with what has arrived since by a feed. Pure. */

/** What lists are in order of. */
export interface Dated {
  readonly id: string;
  readonly createdAt: string;
}

/** Newest first; of one moment, by id, which is in order of time too. */
function newestFirst(one: Dated, other: Dated): number {
  if (one.createdAt !== other.createdAt) return one.createdAt < other.createdAt ? 1 : -1;
  return one.id < other.id ? 1 : one.id > other.id ? -1 : 0;
}

/** The list, and how many of what arrived it has that were not in it. */
interface Merged<Item extends Dated> {
  readonly items: readonly Item[];
  readonly added: number;
}

/**
 * Puts what has arrived where it belongs, in whatever order it came. What is in the list stays as the list has it; what
 * is older than a page that has more after it belongs to a page that is not loaded yet, and is left out.
 */
export function merged<Item extends Dated>(
  listed: readonly Item[],
  arrived: Iterable<Item>,
  hasMore: boolean,
): Merged<Item> {
  const known = new Set(listed.map(({ id }) => id));
  const oldest = hasMore ? listed.at(-1) : undefined;
  const added = [...arrived].filter(
    (item) => !known.has(item.id) && (oldest === undefined || newestFirst(item, oldest) < 0),
  );
  if (added.length === 0) return { items: listed, added: 0 };
  return { items: [...listed, ...added].toSorted(newestFirst), added: added.length };
}

/** What was kept with what came last, without the oldest beyond `most`. */
export function kept<Item extends Dated>(
  before: ReadonlyMap<string, Item>,
  items: readonly Item[],
  most: number,
): ReadonlyMap<string, Item> {
  const all = new Map([...before, ...items.map((item) => [item.id, item] as const)]);
  if (all.size <= most) return all;
  const newest = [...all.values()].toSorted(newestFirst).slice(0, most);
  return new Map(newest.map((item) => [item.id, item]));
}
