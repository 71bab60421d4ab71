import { sql } from 'kysely';

import type { MediaDatabase } from '../../database/database.ts';
import { jsonEntries } from '../../database/expressions.ts';
import type { AttemptKey } from '../../domain/attempt.ts';
import { retryOnDeadlock } from './transactor.ts';

/** SQL of following attempts: one process at a time has the upstream's stream of one attempt. */

/** Takes or renews the leases of running attempts' streams for some seconds, in order of their keys; answers those that are ours now. */
export async function leaseWatches(
  database: MediaDatabase,
  keys: readonly AttemptKey[],
  { watcher, seconds }: { watcher: string; seconds: number },
): Promise<readonly AttemptKey[]> {
  if (keys.length === 0) return [];
  const { rows } = await retryOnDeadlock(() =>
    sql<AttemptKey>`/* prepared: attempts.lease-watches */
      with ${jsonEntries(keys, `"taskId" uuid, step integer, number integer`)}, held as materialized (
        select attempt.task_id, attempt.step, attempt.number
        from media.attempts attempt join entry
          on attempt.task_id = entry."taskId" and attempt.step = entry.step and attempt.number = entry.number
        where attempt.state = 'RUNNING'
          and (attempt.watcher = ${watcher}::uuid or attempt.watched_until is null or attempt.watched_until < now())
        order by attempt.task_id, attempt.step, attempt.number for update of attempt
      )
      update media.attempts attempt
      set watcher = ${watcher}::uuid, watched_until = now() + make_interval(secs => ${seconds})
      from held
      where attempt.task_id = held.task_id and attempt.step = held.step and attempt.number = held.number
      returning attempt.task_id as "taskId", attempt.step, attempt.number`.execute(database),
  );
  return rows;
}

/** Ends the lease of a stream that has ended, and makes its attempt due now. */
export async function endWatch(database: MediaDatabase, key: AttemptKey, watcher: string): Promise<void> {
  await sql`/* prepared: attempts.end-watch */
    update media.attempts set watched_until = null, next_poll_at = least(next_poll_at, now())
    where task_id = ${key.taskId}::uuid and step = ${key.step} and number = ${key.number}
      and state = 'RUNNING' and watcher = ${watcher}::uuid`.execute(database);
}
