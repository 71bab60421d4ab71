import { withAdvisoryLock } from '../../../platform/database/advisory-lock.ts';
import { AppError, toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { cancelQueue } from '../executions/lifecycle.ts';
import { refundQueue } from './automatic-refunds.ts';
import type { CheckoutDependencies } from './checkout.ts';
import { processEvent, pruneEvents } from './events.ts';
import { reconcile, type ReconcileDependencies } from './reconcile.ts';

/** Periodically reconciles payments that stay open, and processes events that were not delivered. */
export type PaymentSweeper = ReturnType<typeof createPaymentSweeper>;

/** The dependencies of the sweeper. */
export interface PaymentSweeperDependencies {
  readonly commerce: ReconcileDependencies & CheckoutDependencies;
  readonly logger: Logger;
  /** Enqueues jobs that were lost. */
  readonly enqueueLostJobs: () => Promise<void>;
  /** Milliseconds between sweeps (default 120,000), and the age from which a payment is checked (default 300,000). */
  readonly everyMs?: number;
  readonly overdueMs?: number;
}

const PRUNED = 1_000;
/** How far back undelivered events are requested. */
const AWAY_MS = 3 * 86_400_000;

/** Creates the sweeper; nothing runs before start(). */
export function createPaymentSweeper(dependencies: PaymentSweeperDependencies) {
  const { everyMs = 120_000 } = dependencies;
  const stopping = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  const sweepOnce = (): Promise<void> => {
    // One at a time: a slow provider must not pile up sweeps.
    running ??= sweepAlone(dependencies, stopping.signal).finally(() => {
      running = null;
    });
    return running;
  };
  return {
    start(): void {
      timer = setInterval(() => void sweepOnce(), everyMs).unref();
    },
    /** Waits for a running sweep. */
    async stop(): Promise<void> {
      clearInterval(timer);
      stopping.abort();
      await running;
    },
    /** Runs one sweep now, unless another process is running one. */
    sweep: sweepOnce,
  };
}

/** Runs the sweep in one process only, so that the provider is not called by each of them. */
async function sweepAlone(dependencies: PaymentSweeperDependencies, stopping: AbortSignal): Promise<void> {
  const { commerce, logger } = dependencies;
  try {
    await withAdvisoryLock(commerce.database, 'workflow.payments.sweep', () => sweep(dependencies, stopping));
  } catch (thrown) {
    logger.warn({ error: toError(thrown) }, 'the sweep of payments could not begin');
  }
}

async function sweep(dependencies: PaymentSweeperDependencies, stopping: AbortSignal): Promise<void> {
  const { commerce, logger } = dependencies;
  /** False when the sweep should end: an unavailable provider is retried by the next one. */
  const guarded = async (what: string, work: () => Promise<unknown>): Promise<boolean> => {
    if (stopping.aborted) return false;
    try {
      await work();
      return true;
    } catch (thrown) {
      // The next sweep retries it; a failure does not stop the others.
      logger.warn({ error: toError(thrown) }, what);
      return !(thrown instanceof AppError && thrown.code === 'UNAVAILABLE');
    }
  };
  await guarded('events of the payment provider could not be pruned', () =>
    pruneEvents(commerce.database, PRUNED),
  );
  await guarded('jobs that were lost could not be made again', dependencies.enqueueLostJobs);
  await guarded('open payments could not be read', () => reconcilePending(dependencies, guarded));
  await guarded('events that did not reach us could not be asked for', () =>
    processUndelivered(commerce, guarded),
  );
}

type Guarded = (what: string, work: () => Promise<unknown>) => Promise<boolean>;

/** Reconciles every open payment of some age. */
async function reconcilePending(
  { commerce, overdueMs = 300_000 }: PaymentSweeperDependencies,
  guarded: Guarded,
): Promise<void> {
  const before = new Date(Date.now() - overdueMs);
  for await (const { id } of commerce.store.pendingSince(before)) {
    if (!(await guarded('a payment could not be looked at', () => reconcile(commerce, id)))) return;
  }
}

async function processUndelivered(
  commerce: PaymentSweeperDependencies['commerce'],
  guarded: Guarded,
): Promise<void> {
  const again = {
    ...commerce,
    reconcile: (id: string, sessionId?: string) =>
      reconcile(commerce, id, sessionId === undefined ? {} : { sessionId }),
  };
  for await (const event of commerce.provider.undelivered(new Date(Date.now() - AWAY_MS))) {
    if (!(await guarded('an event could not be processed', () => processEvent(again, event)))) return;
  }
}

/** Finds what only a job would do next, and enqueues it again where that job was lost. */

interface LostJobDependencies extends Pick<ReconcileDependencies, 'database' | 'queue'> {
  readonly logger: Logger;
  /** Whether failed executions are refunded (PP_AUTO_REFUND). */
  readonly autoRefund: boolean;
}

/** Most executions per sweep; the next one goes on. */
const BATCH = 1_000;

/** Enqueues all of them. */
export async function enqueueLostJobs(dependencies: LostJobDependencies): Promise<void> {
  if (dependencies.autoRefund) await enqueueLostRefunds(dependencies);
  await enqueueLostCancels(dependencies);
}

/** Enqueues refunds that are due. */
async function enqueueLostRefunds(dependencies: LostJobDependencies): Promise<void> {
  const due = await dependencies.database
    .selectFrom('workflow.payments')
    .select('executionId')
    .where('refundDue', '=', true)
    .orderBy('id')
    .limit(BATCH)
    .execute();
  await enqueueLost(dependencies, refundQueue, due);
}

/** Enqueues the cancel of executions that are open although everything paid for them was refunded. */
async function enqueueLostCancels(dependencies: LostJobDependencies): Promise<void> {
  const open = await dependencies.database
    .selectFrom('workflow.executions as execution')
    .innerJoin('workflow.payments as payment', 'payment.executionId', 'execution.id')
    .select('execution.id as executionId')
    // As two conditions: each status has an index of its own.
    .where((where) =>
      where.or([where('execution.status', '=', 'PENDING'), where('execution.status', '=', 'RUNNING')]),
    )
    .where('payment.status', '=', 'REFUNDED')
    .orderBy('execution.id')
    .limit(BATCH)
    .execute();
  await enqueueLost(dependencies, cancelQueue, open);
}

async function enqueueLost(
  { database, queue, logger }: LostJobDependencies,
  name: string,
  waiting: readonly { readonly executionId: string | null }[],
): Promise<void> {
  const lost = await queue.withoutJob(
    name,
    waiting.map(({ executionId }) => ({ executionId })),
  );
  if (lost.length === 0) return;
  logger.warn({ queue: name, executions: lost }, 'jobs of paid executions are made again');
  const jobs = lost.map((data) => ({ queue: name, data }));
  await database.transaction().execute((transaction) => queue.enqueue(transaction, ...jobs));
  queue.wake(name);
}
