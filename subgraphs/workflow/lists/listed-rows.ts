import { sql, type RawBuilder } from 'kysely';

/** Which executions or payments a list has; both tables name their people alike. */
export interface ListedRows {
  /** The caller's own rows, started (or bought) by or for them; null for everybody's. */
  readonly callerId: string | null;
  /** Rows of exactly this owner; null for any. */
  readonly owner: string | null;
  /** Rows for exactly this user; null for any. */
  readonly userId: string | null;
}

/** A page of such a list, newest first. */
export interface ListOptions extends ListedRows {
  /** Most rows; one more is read, which tells whether there are others. */
  readonly first: number;
  /** The last id of the page before; null for the first page. */
  readonly after: string | null;
}

/** Whether a row is in the list. */
export function isListed({ callerId, owner, userId }: ListedRows): RawBuilder<boolean> {
  const wanted = [
    sql`true`,
    ...(callerId === null ? [] : [ofCaller(callerId)]),
    ...(owner === null ? [] : [sql`owner = ${owner}`]),
    ...(userId === null ? [] : [sql`user_id = ${userId}`]),
  ];
  return sql<boolean>`(${sql.join(wanted, sql` and `)})`;
}

/**
 * What the caller started, and what somebody else started for that user. An anonymous caller may name anybody as the user:
 * that alone must not put a row into somebody's list.
 */
function ofCaller(callerId: string): RawBuilder<boolean> {
  return sql<boolean>`(owner = ${callerId} or (user_id = ${callerId} and owner <> 'anon'))`;
}
