import { sql } from 'kysely';

import { nextPassed } from '../../../../platform/database/passed-rows.ts';
import type { MediaDatabase } from '../../database/database.ts';

/** What people wrote, among the inputs of tasks: a graph of ComfyUI holds its prompts in its nodes, and options may hold words. */
const WORDS: readonly string[] = [
  'prompt',
  'negativePrompt',
  'text',
  'system',
  'name',
  'presetPrompts',
  'templatePrompt',
  'workflow',
  'options',
];

/** Removes the words of tasks that ended more than so many days ago; answers of how many: none while another process does. */
export async function forgetPrompts(database: MediaDatabase, days: number, limit: number): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const walk = {
      marks: 'media.retention_marks',
      name: 'prompts',
      table: 'media.tasks',
      column: 'ended_at',
    };
    const ids = (await nextPassed(transaction, { ...walk, days, limit })) ?? [];
    await sql`update media.tasks set input = input - ${WORDS}::text[] where id = any(${ids}::uuid[])`.execute(
      transaction,
    );
    await sql`update media.task_steps set input = input - ${WORDS}::text[]
      where task_id = any(${ids}::uuid[])`.execute(transaction);
    return ids.length;
  });
}

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
