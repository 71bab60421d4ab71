import { sql } from 'kysely';

import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import type { FileService } from '../../files/files.ts';
import { createProviderResources } from '../../files/provider-resources.ts';
import { pruneQuotas } from '../../uploads/quota-store.ts';
import type { EndListener } from '../rules/end-listener.ts';

/** Removes what is stored for a time only: event logs, webhook deliveries, idempotency records, temporary files, copies at providers. */
export interface PruneOptions {
  readonly database: MediaDatabase;
  readonly files: FileService;
  readonly endListener?: EndListener | undefined;
  /** Days an event log is kept after its task's end; 0 keeps it forever. */
  readonly eventRetentionDays: number;
}

/** Most tasks, records or files per run; the rest waits for the next. */
const BATCH = 500;
/** Hours an idempotency record is kept after its task's end. */
const IDEMPOTENCY_HOURS = 24;

/** One run. Of several processes only the one that gets the lock prunes; the others try later. */
export async function prune(options: PruneOptions): Promise<void> {
  const { database, files, endListener, eventRetentionDays } = options;
  const ours = await database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ held: boolean }>`/* prune.lock */
      select pg_try_advisory_xact_lock(hashtextextended('media.prune', 0)) as held`.execute(transaction);
    if (rows[0]?.held !== true) return false;
    if (eventRetentionDays > 0) {
      await pruneEvents(transaction, eventRetentionDays);
      await endListener?.prune(transaction, { days: eventRetentionDays, limit: BATCH });
    }
    await pruneIdempotency(transaction);
    return true;
  });
  if (!ours) return;
  await files.prune(BATCH);
  await createProviderResources(database).prune(BATCH);
  await pruneQuotas(database);
}

/** Whole logs only: a log with a hole would look complete to a reader. */
async function pruneEvents(transaction: MediaTransaction, days: number): Promise<void> {
  await sql`/* prune.events */
    with old as (
      update media.tasks set events_pruned = true where id in (
        select id from media.tasks
        where ended_at is not null and not events_pruned and ended_at < now() - make_interval(days => ${days})
        order by ended_at limit ${BATCH} for update skip locked)
      returning id
    )
    delete from media.task_events where task_id in (select id from old)`.execute(transaction);
}

async function pruneIdempotency(transaction: MediaTransaction): Promise<void> {
  await sql`/* prune.idempotency */
    delete from media.idempotency where (owner, key) in (
      select entry.owner, entry.key from media.idempotency entry join media.tasks task on task.id = entry.task_id
      where entry.created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
        and task.ended_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
      limit ${BATCH})`.execute(transaction);
}
