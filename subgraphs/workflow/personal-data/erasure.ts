import { sql } from 'kysely';

import { nextPassed } from '../../../platform/database/passed-rows.ts';
import { newTraceId } from '../../../platform/ids.ts';
import type { Job, JobOutcome, Queue, QueueWorker } from '../../../platform/queue/queue.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';
import { UNPAID_DAYS } from '../domain/payment.ts';
import type { ExecutionLifecycle } from '../executions/lifecycle.ts';
import type { MediaClient } from '../executions/media-client.ts';
import type { ExecutionStore } from '../executions/store.ts';
import { eraseFromGateways } from './rows-of-gateways.ts';

/**
 * Erasing a person: what they made and bought is deleted, or stays without them. Their work is cancelled first, so it
 * takes as long as that; it goes on after a restart, and again is harmless.
 */

const eraseQueue = 'workflow.erase-person';

/** Who stands in rows that stay: what was paid has to be kept. */
const NOBODY = 'deleted';
/** Between looks at work that has not ended, and at payments that may still be paid. */
const AGAIN_SECONDS = 5;
const AGAIN_UNPAID_SECONDS = 3_600;
const BATCH = 200;
const EMPTY = JSON.stringify({});

/** Enqueues it, in the transaction that deletes the user; after the commit call `queue.wake`. */
export async function requestErasure(
  queue: Queue,
  transaction: WorkflowTransaction,
  userId: string,
): Promise<void> {
  await queue.enqueue(transaction, { queue: eraseQueue, data: { userId } });
}

interface ErasureDependencies {
  readonly database: WorkflowDatabase;
  readonly queue: Queue;
  readonly store: Pick<ExecutionStore, 'byIds'>;
  readonly lifecycle: Pick<ExecutionLifecycle, 'cancel'>;
  readonly media: Pick<MediaClient, 'eraseOwner'>;
}

/** Makes the worker of erasures; it does nothing until it is started. */
export function createErasures(dependencies: ErasureDependencies) {
  const { queue } = dependencies;
  let worker: QueueWorker | undefined;
  return {
    async start(): Promise<void> {
      await queue.define(eraseQueue, { retryLimit: 1_000, retryDelaySeconds: 2, retryDelayMaxSeconds: 300 });
      worker = await queue.work(eraseQueue, { slots: 1 }, (job) => erase(dependencies, job));
    },
    async stop(graceSeconds: number): Promise<void> {
      await worker?.stop(graceSeconds);
    },
  };
}

/** One round: ends what runs, erases what has ended, and says when to look again at what is left. */
async function erase(dependencies: ErasureDependencies, { data }: Job): Promise<JobOutcome> {
  const userId: unknown = Object(data).userId;
  if (typeof userId !== 'string') return undefined;
  const { database, store, lifecycle, media } = dependencies;
  const open = await database
    .selectFrom('workflow.executions')
    .select('id')
    .where((where) => where.or([where('owner', '=', userId), where('userId', '=', userId)]))
    .where('endedAt', 'is', null)
    .limit(BATCH)
    .execute();
  for (const execution of await store.byIds(open.map(({ id }) => id))) await lifecycle.cancel(execution);
  // Their calls begin work, so they end before what was begun is erased.
  const batches = await eraseFromGateways(database, userId);
  await media.eraseOwner(userId, newTraceId());
  const unpaid = await database.transaction().execute((transaction) => eraseEnded(transaction, userId));
  if (open.length > 0 || batches > 0) return { againInSeconds: AGAIN_SECONDS };
  return unpaid > 0 ? { againInSeconds: AGAIN_UNPAID_SECONDS } : undefined;
}

/** Erases what has ended; answers how many payments may still be paid, and keep what they would start. */
async function eraseEnded(transaction: WorkflowTransaction, userId: string): Promise<number> {
  await transaction.deleteFrom('workflow.idempotency').where('owner', '=', userId).execute();
  await erasePayments(transaction, userId);
  await eraseExecutions(transaction, userId);
  const { left } = await transaction
    .selectFrom('workflow.payments')
    .select((select) => select.fn.countAll<number>().as('left'))
    .where((where) => where.or([where('owner', '=', userId), where('userId', '=', userId)]))
    .executeTakeFirstOrThrow();
  return left;
}

/** Books are kept: payments stay without the person, once nothing can start for them any more. */
async function erasePayments(transaction: WorkflowTransaction, userId: string): Promise<void> {
  await transaction
    .updateTable('workflow.payments')
    .set({
      owner: NOBODY,
      userId: NOBODY,
      taskOwner: NOBODY,
      buyerEmail: null,
      parameters: EMPTY,
      start: EMPTY,
      successUrl: null,
      cancelUrl: null,
      ppUrl: null,
      idempotencyKey: null,
    })
    .where((where) => where.or([where('owner', '=', userId), where('userId', '=', userId)]))
    .where('status', '<>', 'PENDING')
    // For each payment its execution: as a join, every execution might be read.
    .where(
      sql<boolean>`coalesce((select executions.ended_at is not null from workflow.executions
        where executions.id = payments.execution_id), true)`,
    )
    .execute();
}

/** Executions go, but for those that were paid: their payments name them. */
async function eraseExecutions(transaction: WorkflowTransaction, userId: string): Promise<void> {
  await transaction
    .deleteFrom('workflow.executions')
    .where((where) => where.or([where('owner', '=', userId), where('userId', '=', userId)]))
    .where('endedAt', 'is not', null)
    // For each execution its payment: as a join, every payment might be read.
    .where(
      sql<boolean>`(select payments.id from workflow.payments where payments.execution_id = executions.id) is null`,
    )
    .execute();
  await transaction
    .updateTable('workflow.executions')
    .set({
      owner: NOBODY,
      userId: null,
      taskOwner: NOBODY,
      parameters: EMPTY,
      start: EMPTY,
      externalId: null,
    })
    .where((where) => where.or([where('owner', '=', userId), where('userId', '=', userId)]))
    .where('endedAt', 'is not', null)
    .execute();
}

/**
 * Empties the parameters of executions that ended more than so many days ago, those of their payments, and those of
 * checkouts that nobody paid. At most so many of each; answers of how many.
 */
export async function forgetParameters(
  database: WorkflowDatabase,
  days: number,
  limit: number,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const executions = await forgetExecutions(transaction, days, limit);
    return Math.max(executions, await forgetUnpaid(transaction, days, limit));
  });
}

async function forgetExecutions(
  transaction: WorkflowTransaction,
  days: number,
  limit: number,
): Promise<number> {
  const walk = { name: 'executions', table: 'workflow.executions', column: 'ended_at' };
  const ids = (await nextPassed(transaction, { ...walk, ...MARKS, days, limit })) ?? [];
  if (ids.length === 0) return 0;
  await sql`update workflow.executions set parameters = '{}', start = '{}'
    where id = any(${ids}::uuid[])`.execute(transaction);
  await sql`update workflow.payments set parameters = '{}', start = '{}'
    where execution_id = any(${ids}::uuid[])`.execute(transaction);
  return ids.length;
}

async function forgetUnpaid(transaction: WorkflowTransaction, days: number, limit: number): Promise<number> {
  const walk = { name: 'payments', table: 'workflow.payments', column: 'created_at' };
  // A day more: by then those that nobody can pay any more have ended, and each is passed only once.
  const after = Math.max(days, UNPAID_DAYS + 1);
  const ids = (await nextPassed(transaction, { ...walk, ...MARKS, days: after, limit })) ?? [];
  if (ids.length === 0) return 0;
  await sql`update workflow.payments set parameters = '{}', start = '{}'
    where id = any(${ids}) and execution_id is null and status in ('FAILED', 'CANCELLED', 'REFUNDED')`.execute(
    transaction,
  );
  return ids.length;
}

const MARKS = { marks: 'workflow.retention_marks' };
