import { badInput } from '../../../platform/errors.ts';
import { isUuid } from '../../../platform/ids.ts';
import { builder } from './builder.ts';

/** Where a page of a list stands. */
export interface PageInfoShape {
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
  readonly startCursor: string | null;
  readonly endCursor: string | null;
}

/** Both subgraphs have this type: the descriptions must stay equal, or composition gives hints. */
export const PageInfo = builder.objectRef<PageInfoShape>('PageInfo').implement({
  description: 'Where a page of a list stands.',
  shareable: true,
  fields: (t) => ({
    hasNextPage: t.exposeBoolean('hasNextPage', { description: 'Whether more comes after this page.' }),
    hasPreviousPage: t.exposeBoolean('hasPreviousPage', {
      description: 'Whether the page was asked for after a cursor.',
    }),
    startCursor: t.exposeString('startCursor', {
      nullable: true,
      description: 'Cursor of the first item; null when the page is empty.',
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Cursor of the last item, to be sent as `after`; null when the page is empty.',
    }),
  }),
});

/** Where a page stands in a list whose cursors are the ids of its items. */
export function pageInfoOf(
  items: readonly { readonly id: string }[],
  { hasNextPage, after }: { readonly hasNextPage: boolean; readonly after: string | null },
): PageInfoShape {
  return {
    hasNextPage,
    hasPreviousPage: after !== null,
    startCursor: items[0]?.id ?? null,
    endCursor: items.at(-1)?.id ?? null,
  };
}

/** Checks a `first` argument against its bounds, BAD_USER_INPUT otherwise. */
export function boundedFirst(first: number, most: number): number {
  if (first >= 1 && first <= most) return first;
  throw badInput('first', `first must be from 1 to ${most}`);
}

/** Checks an `after` argument: cursors are ids; BAD_USER_INPUT for anything else. */
export function checkedCursor(after: string | null | undefined): string | null {
  if (after === null || after === undefined || isUuid(after)) return after ?? null;
  throw badInput('after', 'after must be a cursor of this list');
}
