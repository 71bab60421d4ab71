import { sql } from 'kysely';

import type { WorkflowDatabase } from '../database/database.ts';

/**
 * Deletes expired login codes, and sessions that expired a day ago, at most `limit` of each. Both may hold an encrypted
 * token of the identity provider.
 */
export async function pruneSignIn(database: WorkflowDatabase, limit: number): Promise<void> {
  await sql`/* sign-in.prune-codes */
    delete from workflow.login_codes where code_hash = any(array(
      select code_hash from workflow.login_codes where expires_at < now() limit ${limit}))`.execute(database);
  await sql`/* sign-in.prune-sessions */
    delete from workflow.sessions where id = any(array(
      select id from workflow.sessions where expires_at < now() - interval '1 day' order by expires_at limit ${limit}))`.execute(
    database,
  );
}
