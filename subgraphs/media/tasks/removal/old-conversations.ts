import { sql } from 'kysely';

import type { MediaDatabase } from '../../database/database.ts';

/** Days after its last change that a conversation of nobody is kept. */
export const DAYS_OF_NOBODY = 30;

/** Removes conversations that were last changed more than so many days ago, at most so many; answers how many. */
export async function removeOldConversations(
  database: MediaDatabase,
  { days, limit, isNobodys }: { readonly days: number; readonly limit: number; readonly isNobodys: boolean },
): Promise<number> {
  const whose = isNobodys ? sql`and owner = 'anon'` : sql``;
  const { numAffectedRows } = await sql`/* conversations.prune */
    delete from media.conversations where id = any(array(
      select id from media.conversations where updated_at < now() - make_interval(days => ${days}) ${whose}
      order by updated_at limit ${limit}))`.execute(database);
  return Number(numAffectedRows ?? 0);
}
