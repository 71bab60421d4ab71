import { sql } from 'kysely';

import type { Logger } from '../../../../platform/process/logger.ts';
import type { MediaDatabase, MediaTransaction } from '../../database/database.ts';
import type { FileService } from '../../files/files.ts';
import { createProviderResources } from '../../files/provider-resources.ts';
import { pruneQuotas } from '../../uploads/quota-store.ts';
import { removeOldOperations } from '../bulk/store.ts';
import { removeOldTasks, type RemovalParts } from '../removal/remove.ts';
import { forgetPrompts, DAYS_OF_NOBODY, removeOldConversations } from '../removal/retention.ts';
import type { EndListener } from '../rules/hooks.ts';

/** Removes what is stored for a time only: event logs, webhook deliveries, idempotency records, temporary files, copies at providers. */
export interface PruneOptions extends Pick<RemovalParts, 'queue' | 'registry' | 'stopping'> {
  readonly database: MediaDatabase;
  readonly files: Pick<FileService, 'prune' | 'remove'>;
  readonly logger: Logger;
  readonly endListener?: EndListener | undefined;
  /** Days an event log is kept after its task's end; 0 keeps it forever. */
  readonly eventRetentionDays: number;
  /** Days a task is kept after its end, with the files that it made; 0 (default) keeps it forever. */
  readonly taskRetentionDays?: number | undefined;
  /** Days that prompts and texts are kept after the end of their task; 0 (default) keeps them as long as it. */
  readonly promptRetentionDays?: number | undefined;
}

/** Most tasks, records or files of one transaction. */
const BATCH = 500;
/** Most transactions of a run; the rest waits for the next. */
const MOST_BATCHES = 100;
/** Days that operations on many tasks are kept after their end. */
const OPERATION_DAYS = 30;
/** Hours an idempotency record is kept after its task's end. */
const IDEMPOTENCY_HOURS = 24;

/** One run. Of several processes only the one that gets the lock prunes; the others try later. */
export async function prune(options: PruneOptions): Promise<void> {
  const { database, files, stopping } = options;
  const repeat = (batch: () => Promise<number | null>) => repeated(batch, stopping);
  const isOurs = await repeat(() => pruneBatch(options));
  if (!isOurs) return;
  await repeat(() => files.prune(BATCH));
  const { taskRetentionDays: days = 0, promptRetentionDays: wordDays = 0 } = options;
  const left = new Set<string>();
  if (days > 0) await repeat(() => removeOldTasks(options, { days, limit: BATCH, left }));
  if (wordDays > 0) await repeat(() => forgetPrompts(database, wordDays, BATCH));
  const old = { limit: BATCH, days: DAYS_OF_NOBODY, isNobodys: true };
  await repeat(() => removeOldConversations(database, old));
  if (wordDays > 0)
    await repeat(() => removeOldConversations(database, { ...old, days: wordDays, isNobodys: false }));
  await repeat(() => removeOldOperations(database, { days: OPERATION_DAYS, limit: BATCH }));
  await repeat(() => createProviderResources(database).prune(BATCH));
  await pruneQuotas(database);
}

/**
 * Goes on while there is a whole batch, as more ends in a minute than one batch holds, and the process does not stop. False when another
 * process is at it.
 */
async function repeated(
  batch: () => Promise<number | null>,
  stopping: AbortSignal | undefined,
): Promise<boolean> {
  for (let count = 0; count < MOST_BATCHES; count += 1) {
    if (stopping?.aborted) break;
    const removed = await batch();
    if (removed === null) return count > 0;
    if (removed < BATCH) break;
  }
  return true;
}

/** The most that was removed of one kind; null when another process holds the lock. */
async function pruneBatch({
  database,
  endListener,
  eventRetentionDays: days,
}: PruneOptions): Promise<number | null> {
  return database.transaction().execute(async (transaction) => {
    const { rows } = await sql<{ held: boolean }>`/* prune.lock */
      select pg_try_advisory_xact_lock(hashtextextended('media.prune', 0)) as held`.execute(transaction);
    if (rows[0]?.held !== true) return null;
    const idempotency = await pruneIdempotency(transaction);
    if (days === 0) return idempotency;
    const logs = await pruneEvents(transaction, days);
    const deliveries = (await endListener?.prune(transaction, { days, limit: BATCH })) ?? 0;
    return Math.max(idempotency, logs, deliveries);
  });
}

/**
 * Whole logs only: a log with a hole would look complete to a reader. Answers how many. What to remove is an array here and
 * below: PostgreSQL takes it for few, and reads no table through to compare it with.
 */
async function pruneEvents(transaction: MediaTransaction, days: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`/* prune.events */
    with old as (
      update media.tasks set events_pruned = true where id = any(array(
        select id from media.tasks
        where ended_at is not null and not events_pruned and ended_at < now() - make_interval(days => ${days})
        order by ended_at limit ${BATCH} for update skip locked))
      returning id
    ), removed as (
      delete from media.task_events where task_id = any(array(select id from old))
    )
    select count(*)::integer as count from old`.execute(transaction);
  return rows[0]?.count ?? 0;
}

async function pruneIdempotency(transaction: MediaTransaction): Promise<number> {
  const { numAffectedRows } = await sql`/* prune.idempotency */
    delete from media.idempotency where ctid = any(array(
      select entry.ctid from media.idempotency entry join media.tasks task on task.id = entry.task_id
      where entry.created_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
        and task.ended_at < now() - make_interval(hours => ${IDEMPOTENCY_HOURS})
      order by entry.created_at limit ${BATCH} for update of entry skip locked))`.execute(transaction);
  return Number(numAffectedRows ?? 0);
}
