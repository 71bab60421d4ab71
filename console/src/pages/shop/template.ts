import type { ShopQuery } from '../../api/operations.ts';

/** A template of the catalog. */
export type Template = NonNullable<ShopQuery['templatesConnection']>['edges'][number]['node'];
