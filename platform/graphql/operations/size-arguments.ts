/** Arguments for the number of entries of a field, in the order in which they count: what a document costs depends on them. */
export const SIZE_ARGUMENTS: readonly string[] = ['first', 'last', 'limit', 'pageSize'];
