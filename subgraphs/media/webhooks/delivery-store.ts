import { sql } from 'kysely';

import type { NewJob, Queue } from '../../../platform/queue/queue.ts';
import type { DeliveryState } from '../database/column-types.ts';
import type { DeliveryRow, MediaDatabase, MediaTransaction } from '../database/database.ts';
import type { Transactor } from '../tasks/storage/transactor.ts';

/** SQL of deliveries. Inserting one is in enqueue.ts. */

/** One round of attempts of a delivery. */
export type WebhookJob = { readonly deliveryId: string; readonly round: number };

/** Begins an attempt: counted before it is made. Null when none is due in this round. */
export async function beginAttempt(
  database: MediaDatabase,
  { deliveryId, round }: WebhookJob,
): Promise<DeliveryRow | null> {
  const { rows } = await sql<DeliveryRow>`/* webhooks.begin */
    update media.webhook_deliveries set
      attempts = attempts + 1, tries = tries + 1, next_attempt_at = null, touched_at = now()
    where id = ${deliveryId}::uuid and round = ${round} and state = 'PENDING'
      and (next_attempt_at is null or next_attempt_at <= now())
    returning *`.execute(database);
  return rows[0] ?? null;
}

/** Seconds until this round's next attempt is due; null when there is none. */
export async function secondsUntilDue(
  database: MediaDatabase,
  { deliveryId, round }: WebhookJob,
): Promise<number | null> {
  const { rows } = await sql<{ seconds: number }>`/* webhooks.due */
    select greatest(0, extract(epoch from next_attempt_at - now()))::float8 as seconds
    from media.webhook_deliveries
    where id = ${deliveryId}::uuid and round = ${round} and state = 'PENDING' and next_attempt_at is not null`.execute(
    database,
  );
  return rows[0]?.seconds ?? null;
}

/** How an attempt ended, and what follows. */
export interface AttemptEnd {
  readonly state: DeliveryState;
  readonly status: number | null;
  readonly error: string | null;
  /** Until the next attempt; null when there is none. */
  readonly pauseSeconds: number | null;
}

/**
 * Stores the end of an attempt, unless its round is over. A worker that was paused may come back after another one has
 * begun the next attempt: then only its success counts, since the receiver has the message.
 */
export async function endAttempt(
  database: MediaDatabase,
  { id, round, tries }: Pick<DeliveryRow, 'id' | 'round' | 'tries'>,
  end: AttemptEnd,
): Promise<void> {
  await sql`/* webhooks.end */
    update media.webhook_deliveries set
      state = ${end.state},
      last_status = ${end.status}::integer,
      last_error = ${end.error}::text,
      delivered_at = case when ${end.state} = 'DELIVERED' then now() end,
      next_attempt_at = now() + make_interval(secs => ${end.pauseSeconds}::float8)
    where id = ${id}::uuid and round = ${round} and state = 'PENDING'
      and (tries = ${tries} or ${end.state} = 'DELIVERED')`.execute(database);
}

/** A round of attempts, and where they go. */
type AddressedRound = WebhookJob & { readonly url: string };

/** The next pending deliveries that nothing has touched for so many seconds, in order of their ids. */
export async function readUntouched(
  database: MediaDatabase,
  { afterId, seconds, limit }: { readonly afterId: string; readonly seconds: number; readonly limit: number },
): Promise<readonly AddressedRound[]> {
  const { rows } = await sql<AddressedRound>`/* webhooks.untouched */
    select id as delivery_id, round, url from media.webhook_deliveries
    where state = 'PENDING' and id > ${afterId}::uuid and touched_at <= now() - make_interval(secs => ${seconds}::float8)
    order by id limit ${limit}`.execute(database);
  return rows;
}

/** The deliveries of a task, oldest first, as its owner sees them. */
export async function listDeliveries(database: MediaDatabase, taskId: string) {
  return database
    .selectFrom('media.webhookDeliveries')
    .select(['id', 'url', 'attempts', 'deliveredAt', 'lastStatus', 'lastError'])
    .where('taskId', '=', taskId)
    .where('endpointId', 'is', null)
    .orderBy('id')
    .execute();
}

/** One delivery; null when there is none. */
export async function readDelivery(
  database: MediaDatabase | MediaTransaction,
  id: string,
): Promise<DeliveryRow | null> {
  const { rows } = await sql<DeliveryRow>`/* webhooks.read */
    select * from media.webhook_deliveries where id = ${id}::uuid`.execute(database);
  return rows[0] ?? null;
}

/**
 * Begins a new round. Null when an attempt is queued or running already; one without a change for ten minutes counts as
 * gone.
 */
async function beginRound(transaction: MediaTransaction, id: string): Promise<DeliveryRow | null> {
  const { rows } = await sql<DeliveryRow>`/* webhooks.round */
    update media.webhook_deliveries set
      state = 'PENDING', round = round + 1, tries = 0, next_attempt_at = null, touched_at = now(),
      delivered_at = null, last_status = null, last_error = null
    where id = ${id}::uuid
      and (state <> 'PENDING' or next_attempt_at is not null or touched_at < now() - interval '10 minutes')
    returning *`.execute(transaction);
  return rows[0] ?? null;
}

/** Removes deliveries that are over and older than so many days, at most `limit`; answers how many. */
export async function pruneDeliveries(
  transaction: MediaTransaction,
  { days, limit }: { readonly days: number; readonly limit: number },
): Promise<number> {
  const { numAffectedRows } = await sql`/* webhooks.prune */
    delete from media.webhook_deliveries where id = any(array(
      select id from media.webhook_deliveries
      where created_at < now() - make_interval(days => ${days}) and state <> 'PENDING'
      order by created_at limit ${limit}))`.execute(transaction);
  return Number(numAffectedRows ?? 0);
}

/** The queue of deliveries. */

/** Queue of deliveries to callback addresses and endpoints. */
export const WEBHOOK_QUEUE = 'media.webhook-out';

/** Declares the queue. Its own retries are for a failing database only: pauses between attempts are the worker's. */
export async function defineWebhookQueue(queue: Queue): Promise<void> {
  await queue.define(WEBHOOK_QUEUE, { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 60 });
}

/** The job of the attempts of one round. Receivers are served in turn: one that hangs holds up its own messages. */
export function roundJob({ url, deliveryId, round }: AddressedRound): NewJob {
  const job: WebhookJob = { deliveryId, round };
  return { queue: WEBHOOK_QUEUE, data: job, owner: URL.parse(url)?.origin ?? url };
}

/** Begins a new round. Under the row's lock, one of several concurrent requests begins the round; the others find it begun. */
export async function beginNewRound(transactor: Transactor, id: string): Promise<DeliveryRow | null> {
  return transactor.run(async (scope) => {
    const begun = await beginRound(scope.transaction, id);
    if (begun !== null) await scope.enqueue(roundJob({ ...begun, deliveryId: begun.id }));
    return begun ?? (await readDelivery(scope.transaction, id));
  });
}
