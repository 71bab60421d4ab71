import type { PageInfoShape } from '../../../platform/graphql/schema/paging.ts';
import { builder } from './builder.ts';

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
