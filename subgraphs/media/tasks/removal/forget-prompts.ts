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

/** Removes the words of tasks that ended more than so many days ago; answers of how many, null while another process does. */
export async function forgetPrompts(
  database: MediaDatabase,
  days: number,
  limit: number,
): Promise<number | null> {
  return database.transaction().execute(async (transaction) => {
    const walk = {
      marks: 'media.retention_marks',
      name: 'prompts',
      table: 'media.tasks',
      column: 'ended_at',
    };
    const ids = await nextPassed(transaction, { ...walk, days, limit });
    if (ids === null || ids.length === 0) return ids === null ? null : 0;
    await sql`update media.tasks set input = input - ${WORDS}::text[] where id = any(${ids}::uuid[])`.execute(
      transaction,
    );
    await sql`update media.task_steps set input = input - ${WORDS}::text[]
      where task_id = any(${ids}::uuid[])`.execute(transaction);
    return ids.length;
  });
}
