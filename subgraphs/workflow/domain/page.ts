/** Which page of a list is wanted. */
export interface PageRequest {
  /** Only what is for this user; null for the caller's own. */
  readonly userId: string | null;
  /** Most items. */
  readonly first: number;
  /** The last id of the page before; null for the first page. */
  readonly after: string | null;
}

/** A page of a list, newest first. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly hasNextPage: boolean;
  /** As it was requested. */
  readonly after: string | null;
  /** How many there are on all pages. */
  readonly count: () => Promise<number>;
}
