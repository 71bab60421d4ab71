import type { ShopQuery } from '../../api/operations.ts';

/** A template of the catalog. */
export type Template = ShopQuery['templates'][number];
