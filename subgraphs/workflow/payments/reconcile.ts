import { badInput, notFound, AppError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import { startsExecution, statusBy, type MoneyTruth } from '../domain/payment.ts';
import { acceptExecution, type NewExecution } from '../executions/accept.ts';
import type { StoredExecution } from '../executions/store.ts';
import { asked } from './failures.ts';
import type { PayProvider } from './provider/pay-provider.ts';
import { updatePayment, type PaymentStore, type StoredPayment } from './store.ts';

/**
 * The only writer of payment truth. The row's version is read, the provider asked outside of any transaction, then one
 * short transaction writes status, ids, execution and its job where the version still holds; who lost the race asks
 * again. So a slow provider holds no connection, and no answer is applied over a newer one.
 */
export interface ReconcileDependencies {
  readonly database: WorkflowDatabase;
  readonly store: PaymentStore;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly provider: PayProvider;
  /** Has the new execution started at once, beside the queued job. */
  readonly startSoon: (execution: StoredExecution) => void;
  /** Tests stop here, between two steps. */
  readonly onStep?: (step: ReconcileStep) => void;
}

/** The steps of a reconciliation in their order; tests stop it between them. */
export type ReconcileStep = 'read' | 'asked' | 'execution written' | 'payment written' | 'committed';

export interface ReconcileOptions {
  /** The session that the caller names: it must be the payment's. */
  readonly sessionId?: string;
  /** Ends an open checkout first, so that it can't be paid any more. */
  readonly expire?: boolean;
}

/** Topic of the bus: a payment (by id) has reached a version. */
export const paymentTopic = 'payment';
/** Times that a lost race is asked again. */
const MAX_RACES = 8;

/** The payment as it is by the provider's truth now. NOT_FOUND, BAD_USER_INPUT (another payment's session), UNAVAILABLE. */
export async function reconcile(
  dependencies: ReconcileDependencies,
  id: string,
  options: ReconcileOptions = {},
): Promise<StoredPayment> {
  for (let race = 0; race < MAX_RACES; race += 1) {
    const done = await once(dependencies, id, options);
    if (done !== null) return done;
  }
  throw new AppError('UNAVAILABLE', `payment ${id} changes all the time: try again`, { retryAfter: 1 });
}

/** One round; null when somebody else wrote meanwhile. */
async function once(
  dependencies: ReconcileDependencies,
  id: string,
  options: ReconcileOptions,
): Promise<StoredPayment | null> {
  const { store, onStep } = dependencies;
  const [payment] = await store.byIds([id]);
  if (payment === undefined) throw notFound('payment', id);
  onStep?.('read');
  const sessionId = sessionFor(payment, options.sessionId);
  if (sessionId === null) return unopened(dependencies, payment);
  const truth = await askedTruth(dependencies, payment, { sessionId, expire: options.expire ?? false });
  onStep?.('asked');
  return apply(dependencies, payment, truth);
}

/** A checkout without a page: nothing can have been paid, and nothing ever will be once its time is over. */
async function unopened(
  { database, bus }: ReconcileDependencies,
  payment: StoredPayment,
): Promise<StoredPayment | null> {
  if (payment.status !== 'PENDING' || payment.expiresAt.getTime() > Date.now()) return payment;
  const updated = await database
    .transaction()
    .execute((transaction) => updatePayment(transaction, payment, { status: 'CANCELLED' }));
  if (updated !== null) bus.publish(paymentTopic, updated.id, updated.version);
  return updated;
}

function sessionFor({ id, ppSessionId }: StoredPayment, named: string | undefined): string | null {
  if (named !== undefined && ppSessionId !== null && named !== ppSessionId) {
    throw badInput('sessionId', `this session does not belong to payment ${id}`);
  }
  return ppSessionId ?? named ?? null;
}

async function askedTruth(
  { provider }: ReconcileDependencies,
  { id, status }: StoredPayment,
  { sessionId, expire }: { readonly sessionId: string; readonly expire: boolean },
): Promise<MoneyTruth> {
  const isOpen = status === 'PENDING';
  const truth = await asked(() =>
    expire && isOpen ? provider.expireCheckout(sessionId) : provider.truthOf(sessionId),
  );
  if (truth.paymentId !== id) throw badInput('sessionId', `this session does not belong to payment ${id}`);
  return truth;
}

async function apply(
  dependencies: ReconcileDependencies,
  payment: StoredPayment,
  truth: MoneyTruth,
): Promise<StoredPayment | null> {
  if (isAsKnown(payment, truth)) return payment;
  const { database, bus, startSoon, onStep } = dependencies;
  const written = await database
    .transaction()
    .execute(async (transaction) => {
      const execution = startsExecution(payment, truth)
        ? await acceptExecution(transaction, dependencies.queue, boughtExecution(payment))
        : null;
      onStep?.('execution written');
      const updated = await updatePayment(transaction, payment, {
        status: statusBy(payment.status, truth),
        ppSessionId: truth.sessionId,
        ppPaymentIntentId: truth.paymentIntentId,
        amountRefunded: truth.amountRefunded,
        disputed: truth.isDisputed,
        ...(execution === null ? {} : { executionId: execution.id }),
      });
      // Somebody was faster: what was written here must not stay.
      if (updated === null) throw new LostRace();
      onStep?.('payment written');
      return { updated, execution };
    })
    .catch((error: unknown) => {
      if (error instanceof LostRace) return null;
      throw error;
    });
  if (written === null) return null;
  onStep?.('committed');
  bus.publish(paymentTopic, written.updated.id, written.updated.version);
  if (written.execution !== null) startSoon(written.execution);
  return written.updated;
}

class LostRace extends Error {}

function isAsKnown(payment: StoredPayment, truth: MoneyTruth): boolean {
  return (
    statusBy(payment.status, truth) === payment.status &&
    payment.ppSessionId === truth.sessionId &&
    payment.ppPaymentIntentId === truth.paymentIntentId &&
    payment.amountRefunded === truth.amountRefunded &&
    payment.disputed === truth.isDisputed &&
    !startsExecution(payment, truth)
  );
}

/** The execution that was bought: what was checked at checkout, under ids of its own. */
function boughtExecution(payment: StoredPayment): NewExecution {
  const { owner, userId, templateCode, parameters, start, taskOwner, fingerprint } = payment;
  return { owner, userId, templateCode, parameters, start, taskOwner, fingerprint, externalId: null };
}
