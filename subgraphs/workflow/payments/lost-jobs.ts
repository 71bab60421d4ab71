import type { Logger } from '../../../platform/process/logger.ts';
import { cancelQueue } from '../executions/lifecycle.ts';
import { refundQueue } from './automatic-refunds.ts';
import type { ReconcileDependencies } from './reconcile.ts';

/** Finds what only a job would do next, and enqueues it again where that job was lost. */

/** The dependencies of finding lost jobs. */
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
