import { query } from '../../route/params.ts';

/** Parameters for a part of a list; the documents have whole lists only. */
export const pageParameters = {
  limit: query.integer({ optional: true, extension: true, clamp: [1, 1_000] }),
  offset: query.integer({ optional: true, extension: true, clamp: [0, 1_000_000] }),
} as const;

/** The requested part of a list; all of it when none was requested. */
export function takePage<Item>(
  items: readonly Item[],
  { limit, offset = 0 }: { readonly limit: number | undefined; readonly offset: number | undefined },
): readonly Item[] {
  return items.slice(offset, limit === undefined ? undefined : offset + limit);
}
