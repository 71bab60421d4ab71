import { sql } from 'kysely';

import type { MediaDatabase } from '../../database/database.ts';
import type { Binding } from '../bindings/binding.ts';

/**
 * SQL of pauses. A row is of the binding that it names. Its key is the id that the binding had when it was paused, as processes of
 * the release before look for that and for nothing else; a row that one of them has written has no name, and gets it from the
 * first process that reads it.
 */

/** Why a binding gets no new work. */
export interface Pause {
  /** Its name. */
  readonly binding: string;
  readonly reason: string;
  /** Id of the caller. */
  readonly pausedBy: string;
  readonly pausedAt: Date;
}

/** Every pause, by the names of bindings; those without a name get it. */
export async function readPauses(
  database: MediaDatabase,
  bindings: readonly Binding[],
): Promise<readonly Pause[]> {
  const rows = await database.selectFrom('media.pausedBindings').selectAll().execute();
  const named = rows.map((row) => {
    const name = row.name ?? bindings.find(({ id }) => id === row.binding)?.name ?? row.binding;
    return { ...row, binding: name, key: row.binding, isNamed: row.name !== null || name === row.binding };
  });
  for (const { key, binding } of named.filter(({ isNamed }) => !isNamed)) {
    await sql`/* pauses.name */ update media.paused_bindings set name = ${binding}
      where binding = ${key} and name is null`.execute(database);
  }
  return named;
}

/** Pauses a binding that has this place now; where another one was paused at it, that one keeps the key. */
export async function writePause(
  database: MediaDatabase,
  { binding, reason, pausedBy }: Omit<Pause, 'pausedAt'>,
  place: string,
): Promise<void> {
  await sql`/* pauses.write */
    with again as (
      update media.paused_bindings set reason = ${reason}, paused_by = ${pausedBy} where name = ${binding} returning 1
    )
    insert into media.paused_bindings as pause (binding, name, reason, paused_by)
    select case when exists (select from media.paused_bindings where binding = ${place} and name <> ${binding})
      then ${binding} else ${place} end, ${binding}, ${reason}, ${pausedBy}
    where not exists (select from again)
    on conflict (binding) do update set name = excluded.name, reason = excluded.reason, paused_by = excluded.paused_by`.execute(
    database,
  );
}

/** Ends the pause of a binding that has this place now. */
export async function removePause(database: MediaDatabase, binding: string, place: string): Promise<void> {
  await sql`/* pauses.remove */ delete from media.paused_bindings
    where name = ${binding} or binding = ${place} and name is null`.execute(database);
}
