/** Which rows of a list are wanted, beyond whose they are; absent members do not matter. */
export interface RowFilter {
  readonly statuses?: readonly string[];
  readonly templateCode?: string;
  /** Created at this time or later. */
  readonly createdAfter?: Date;
  /** Created before this time. */
  readonly createdBefore?: Date;
}

/** Which page of a list is wanted. */
export interface PageRequest {
  /** Only what is for this user; null for the caller's own. */
  readonly userId: string | null;
  readonly filter?: RowFilter | undefined;
  /** Most items. */
  readonly first: number;
  /** The last id of the page before; null for the first page. */
  readonly after: string | null;
}

/** A page of a list, newest first. */
export interface Page<Item, Sums = never> {
  readonly items: readonly Item[];
  readonly hasNextPage: boolean;
  /** As it was requested. */
  readonly after: string | null;
  /** How many there are on all pages. */
  readonly count: () => Promise<number>;
  /** Totals over all pages; empty for lists without. */
  readonly sums: () => Promise<readonly Sums[]>;
}
