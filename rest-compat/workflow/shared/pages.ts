import { query } from '../../route/params.ts';

/** Parts of lists: not in the documents, which know whole lists only. */
export const pageParameters = {
  limit: query.integer({ optional: true, extension: true, clamp: [1, 1_000] }),
  offset: query.integer({ optional: true, extension: true, clamp: [0, 1_000_000] }),
} as const;

/** The part of a list that was asked for; the whole of it when nothing was. */
export function pageOf<Item>(
  items: readonly Item[],
  { limit, offset = 0 }: { readonly limit: number | undefined; readonly offset: number | undefined },
): readonly Item[] {
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}
