import { sql, type RawBuilder } from 'kysely';

/**
 * Which executions or payments are in a caller's list: those that the caller started, and those that somebody else started
 * for that user. An anonymous caller may name anybody as the user: that alone must not put a row into somebody's list.
 */
export function inListOf(callerId: string): RawBuilder<boolean> {
  return sql<boolean>`(owner = ${callerId} or (user_id = ${callerId} and owner <> 'anon'))`;
}
