import { type RawBuilder, sql } from 'kysely';

import type { WorkflowDatabase } from '../database/database.ts';

/** What a gateway keeps of a person, where one uses this database: batches of calls, and answers of an old service. */

/** Whether a gateway uses this database; its newest table stands for all. */
export async function hasGateway(database: WorkflowDatabase): Promise<boolean> {
  const { rows } = await sql<{ isThere: boolean }>`/* personal-data.gateway-there */
    select to_regclass('gateway.batches') is not null as is_there`.execute(database);
  return rows[0]?.isThere === true;
}

/** Which answers of an old service were stored for a person. */
export function storedFor(userId: string): RawBuilder<boolean> {
  return sql<boolean>`(id = ${userId} or id like ${`% of ${userId}`})`;
}

/** Erases both. Batches are cancelled first, and go once no process runs them; answers how many are left. */
export async function eraseFromGateways(database: WorkflowDatabase, userId: string): Promise<number> {
  if (!(await hasGateway(database))) return 0;
  await sql`/* erase.answers */ delete from gateway.stored_answers where ${storedFor(userId)}`.execute(
    database,
  );
  await sql`/* erase.cancel-batches */ update gateway.batches set status = 'cancelling', cancelling_at = now()
    where owner = ${userId} and status in ('validating', 'in_progress')`.execute(database);
  await sql`/* erase.batches */ delete from gateway.batches
    where owner = ${userId} and (ended_at is not null or coalesce(leased_until, '-infinity') < now())`.execute(
    database,
  );
  const { rows } = await sql<{ left: number }>`/* erase.batches-left */
    select count(*)::int as left from gateway.batches where owner = ${userId}`.execute(database);
  return rows[0]?.left ?? 0;
}
