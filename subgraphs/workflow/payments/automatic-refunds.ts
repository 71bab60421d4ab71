import { AppError } from '../../../platform/errors.ts';
import type { Json } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Job, JobOutcome, Queue, QueueWorker } from '../../../platform/queue/queue.ts';
import type { Execution } from '../domain/execution.ts';
import type { EndHook, ExecutionStore } from '../executions/store.ts';
import { reconcile, type ReconcileDependencies } from './reconcile.ts';
import { isRefusedRefund, refund, type RefundDependencies } from './refunds.ts';
import type { StoredPayment } from './store.ts';

/**
 * Refunds the payment of an execution that failed for a technical reason (PP_AUTO_REFUND). The job is written with the
 * execution's end; it reconciles the payment first, then refunds what is left, under one row per payment. So it may run
 * any number of times without refunding too much.
 */
export interface AutomaticRefundDependencies {
  readonly commerce: ReconcileDependencies & RefundDependencies;
  readonly executions: Pick<ExecutionStore, 'byIds'>;
  readonly logger: Logger;
}

/** Queue of the jobs {executionId}. */
export const refundQueue = 'workflow.refund-failed';
/** Seconds until a retry when the provider does not answer. */
const AGAIN_SECONDS = 30;
/** Refusals of the provider after which an operator must decide. */
const MAX_REFUSALS = 3;

/** Seconds until a retry where the provider does not know the payment, and days of them after which an operator must decide. */
const UNKNOWN_AGAIN_SECONDS = 3_600;
const UNKNOWN_DAYS = 7;

/** Whether nothing was made of what was paid for, and the buyer did not cancel it. Pure. */
function hasFailed({ status }: Pick<Execution, 'status'>): boolean {
  return status === 'FAILED';
}

/** Marks the payment of an execution that failed as due for a refund and enqueues it, in the transaction of its end. */
export function refundWhenFailed(queue: Queue): EndHook {
  return async (transaction, execution) => {
    if (!hasFailed(execution)) return;
    const paid = await transaction
      .updateTable('workflow.payments')
      .set({ refundDue: true })
      .where('executionId', '=', execution.id)
      .returning('id')
      .executeTakeFirst();
    if (paid === undefined) return;
    await queue.enqueue(transaction, { queue: refundQueue, data: { executionId: execution.id } });
  };
}

/** Defines the queue and starts its worker. */
export async function workAutomaticRefunds(dependencies: AutomaticRefundDependencies): Promise<QueueWorker> {
  const { queue } = dependencies.commerce;
  await queue.define(refundQueue, { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 300 });
  return queue.work(refundQueue, { slots: 2 }, async (job) => {
    const executionId = readExecutionId(job);
    return executionId === null ? undefined : refundFailed(dependencies, executionId);
  });
}

/** Runs one job; it is retried while the provider does not answer. */
export async function refundFailed(
  dependencies: AutomaticRefundDependencies,
  executionId: string,
): Promise<JobOutcome> {
  const { commerce, executions } = dependencies;
  const [execution] = await executions.byIds([executionId]);
  const bought = await commerce.store.byExecution(executionId);
  if (execution === undefined || bought === null || !hasFailed(execution)) return;
  try {
    const payment = await reconcile(commerce, bought.id);
    // Otherwise refunded already, decided by a dispute, or free.
    if (payment.status === 'COMPLETED' && !payment.disputed && payment.amount > 0) {
      await refundPayment(dependencies, payment, execution);
      await reconcile(commerce, payment.id);
    }
    await markSettled(commerce, payment.id);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    if (error.code === 'NOT_FOUND') return afterUnknown(dependencies, bought, { execution, error });
    if (!RETRIED.has(error.code)) throw error;
    return { againInSeconds: error.code === 'CONFLICT' ? 1 : AGAIN_SECONDS };
  }
}

/** The key may be that of another account for a while; a payment that is gone for good is not asked about for ever. */
async function afterUnknown(
  { commerce, logger }: AutomaticRefundDependencies,
  { id: paymentId }: StoredPayment,
  { execution, error }: { readonly execution: Execution; readonly error: AppError },
): Promise<JobOutcome> {
  const log = { paymentId, executionId: execution.id, error };
  if (Number(execution.endedAt) > Date.now() - UNKNOWN_DAYS * 86_400_000) {
    logger.warn(log, 'the payment provider does not know a payment whose refund is due');
    return { againInSeconds: UNKNOWN_AGAIN_SECONDS };
  }
  logger.error(log, NOT_GIVEN_BACK);
  await markSettled(commerce, paymentId);
}

const NOT_GIVEN_BACK = 'what was paid for a failed execution could not be given back';

/** The refund is no longer due. No version is needed: nothing else writes this column. */
async function markSettled({ database }: RefundDependencies, id: string): Promise<void> {
  await database
    .updateTable('workflow.payments')
    .set({ refundDue: false })
    .where('id', '=', id)
    .where('refundDue', '=', true)
    .execute();
}

/** Errors after which the job is retried: the provider is unavailable, or refused. */
const RETRIED: ReadonlySet<string> = new Set(['UNAVAILABLE', 'NOT_CONFIGURED', 'CONFLICT']);

async function refundPayment(
  dependencies: AutomaticRefundDependencies,
  payment: StoredPayment,
  execution: Execution,
): Promise<void> {
  const { commerce, logger } = dependencies;
  const log = { paymentId: payment.id, executionId: execution.id };
  try {
    const { amount } = await refund(commerce, payment, {
      reason: 'TECHNICAL_ISSUE',
      amount: null,
      metadata: { execution_id: execution.id, failure: execution.error?.code ?? 'INTERNAL' },
      idempotencyKey: null,
      isAutomatic: true,
    });
    logger.info({ ...log, amount }, 'what was paid for a failed execution is given back');
  } catch (error) {
    if (!isRefusedRefund(error)) throw error;
    if ((await countRefusals(commerce, payment.id)) < MAX_REFUSALS) {
      throw new AppError('CONFLICT', 'the payment provider refused a refund', { cause: error });
    }
    logger.error({ ...log, error }, NOT_GIVEN_BACK);
  }
}

/** The amount was no longer available, because another refund came first: the retry computes it again. */
async function countRefusals({ database }: RefundDependencies, paymentId: string): Promise<number> {
  const { count } = await database
    .selectFrom('workflow.refunds')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('paymentId', '=', paymentId)
    .where('automatic', '=', true)
    .where('status', '=', 'refused')
    .executeTakeFirstOrThrow();
  return count;
}

function readExecutionId({ data }: Job): string | null {
  const { executionId } = (data ?? {}) as { readonly executionId?: Json };
  return typeof executionId === 'string' ? executionId : null;
}
