import { badInput, notFound, AppError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Queue } from '../../../platform/queue/queue.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';
import { startsExecution, nextStatus, type CheckoutState, UNPAID_DAYS } from '../domain/payment.ts';
import { acceptExecution, type NewExecution } from '../executions/accept.ts';
import { cancelQueue } from '../executions/lifecycle.ts';
import type { StoredExecution } from '../executions/store.ts';
import { changedRefunds, saveRefunds } from './listed-refunds.ts';
import type { PaymentOutbox } from './payment-events.ts';
import { withCallerErrors, type ListedRefund, type PayProvider } from './provider/pay-provider.ts';
import { updatePayment, type PaymentStore, type StoredPayment } from './store.ts';

/**
 * The only writer of a payment's status. It reads the row's version, calls the provider outside any transaction, then
 * writes status, ids, execution and job in one short transaction if the version is unchanged; on a conflict it starts
 * over. So a slow provider holds no connection, and no answer overwrites a newer one.
 */
export interface ReconcileDependencies {
  readonly database: WorkflowDatabase;
  readonly store: PaymentStore;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly provider: PayProvider;
  /** Starts the new execution inline, as well as by the queued job. */
  readonly startSoon: (execution: StoredExecution) => void;
  /** Writes the events of a change in its transaction (default: nobody receives them). */
  readonly outbox?: PaymentOutbox | undefined;
  /** Counts a payment that has reached a status (default: nobody). */
  readonly countStatus?: ((labels: { readonly status: string }) => void) | undefined;
  /** A hook for tests, between two steps. */
  readonly onStep?: (step: ReconcileStep) => void;
}

/** The steps of a reconciliation, in order. */
export type ReconcileStep = 'read' | 'asked' | 'execution written' | 'payment written' | 'committed';

export interface ReconcileOptions {
  /** The session named by the caller; it must be the payment's. */
  readonly sessionId?: string;
  /** Expires an open checkout first, so that it can no longer be paid. */
  readonly expire?: boolean;
}

/** Topic of the bus: a payment (by id) has reached a version. */
export const paymentTopic = 'payment';
/** Attempts before giving up after version conflicts. */
const MAX_CONFLICTS = 8;

/** Brings a payment up to date with the provider. NOT_FOUND, BAD_USER_INPUT (another payment's session), UNAVAILABLE. */
export async function reconcile(
  dependencies: ReconcileDependencies,
  id: string,
  options: ReconcileOptions = {},
): Promise<StoredPayment> {
  for (let race = 0; race < MAX_CONFLICTS; race += 1) {
    const done = await once(dependencies, id, options);
    if (done !== null) return done;
  }
  throw new AppError('UNAVAILABLE', `payment ${id} changes all the time: try again`, { retryAfter: 1 });
}

/** One attempt; null on a version conflict. */
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
  if (sessionId === null) return withoutCheckout(dependencies, payment);
  const asked = { sessionId, expire: options.expire ?? false };
  const state = await requestState(dependencies, payment, asked).catch((error: unknown) => {
    if (!isGone(error) || !isLongOver(payment)) throw error;
    return null;
  });
  if (state === null) return withoutCheckout(dependencies, payment);
  const refunds = await withCallerErrors(() => changedRefunds(dependencies, payment, state));
  onStep?.('asked');
  return apply(dependencies, payment, { state, refunds });
}

const isGone = (error: unknown): boolean => error instanceof AppError && error.code === 'NOT_FOUND';

/** Whether it is too late for any payment to arrive, even by a slow method: else a lost session would be asked for for ever. */
function isLongOver({ status, expiresAt }: StoredPayment): boolean {
  return status === 'PENDING' && expiresAt.getTime() < Date.now() - UNPAID_DAYS * 86_400_000;
}

/** A payment without a checkout session, or whose session is gone, can't be paid; it is cancelled when it expires. */
async function withoutCheckout(
  { database, bus, outbox, countStatus }: ReconcileDependencies,
  payment: StoredPayment,
): Promise<StoredPayment | null> {
  if (payment.status !== 'PENDING' || payment.expiresAt.getTime() > Date.now()) return payment;
  const updated = await database.transaction().execute(async (transaction) => {
    const cancelled = await updatePayment(transaction, payment, { status: 'CANCELLED' });
    if (cancelled !== null) await outbox?.(transaction, payment, cancelled);
    return cancelled;
  });
  if (updated === null) return null;
  countStatus?.({ status: updated.status });
  bus.publish(paymentTopic, updated.id, updated.version);
  return updated;
}

function sessionFor({ id, ppSessionId }: StoredPayment, named: string | undefined): string | null {
  if (named !== undefined && ppSessionId !== null && named !== ppSessionId) {
    throw badInput('sessionId', `this session does not belong to payment ${id}`);
  }
  return ppSessionId ?? named ?? null;
}

async function requestState(
  { provider }: ReconcileDependencies,
  { id, status }: StoredPayment,
  { sessionId, expire }: { readonly sessionId: string; readonly expire: boolean },
): Promise<CheckoutState> {
  const isOpen = status === 'PENDING';
  const state = await withCallerErrors(() =>
    expire && isOpen ? provider.expireCheckout(sessionId) : provider.readCheckoutState(sessionId),
  );
  if (state.paymentId !== id) throw badInput('sessionId', `this session does not belong to payment ${id}`);
  return state;
}

async function apply(
  dependencies: ReconcileDependencies,
  payment: StoredPayment,
  { state, refunds }: { readonly state: CheckoutState; readonly refunds: readonly ListedRefund[] },
): Promise<StoredPayment | null> {
  if (isUnchanged(payment, state) && refunds.length === 0) return payment;
  const { database, bus, startSoon, onStep } = dependencies;
  const written = await database
    .transaction()
    .execute(async (transaction) => {
      const execution = startsExecution(payment, state)
        ? await acceptExecution(transaction, dependencies.queue, boughtExecution(payment))
        : null;
      onStep?.('execution written');
      const updated = await updatePayment(transaction, payment, {
        status: nextStatus(payment.status, state),
        ppSessionId: state.sessionId,
        ppPaymentIntentId: state.paymentIntentId,
        // Taxes and promotion codes are part of what was paid, and a price may have several currencies there.
        ...(state.isPaid ? { amount: state.amount, currency: state.currency || payment.currency } : {}),
        amountRefunded: state.amountRefunded,
        disputed: state.isDisputed,
        ...(execution === null ? {} : { executionId: execution.id }),
      });
      // A version conflict: the execution written above must be rolled back.
      if (updated === null) throw new VersionConflict();
      await saveRefunds(transaction, payment, refunds);
      await dependencies.outbox?.(transaction, payment, updated);
      await cancelRefunded(transaction, dependencies.queue, { payment, updated });
      onStep?.('payment written');
      return { updated, execution };
    })
    .catch((error: unknown) => {
      if (error instanceof VersionConflict) return null;
      throw error;
    });
  if (written === null) return null;
  onStep?.('committed');
  const { status } = written.updated;
  if (status !== payment.status) dependencies.countStatus?.({ status });
  bus.publish(paymentTopic, written.updated.id, written.updated.version);
  if (written.execution !== null) startSoon(written.execution);
  return written.updated;
}

/** Whoever got everything back gets no result any more: what still runs is cancelled. */
async function cancelRefunded(
  transaction: WorkflowTransaction,
  queue: Queue,
  { payment, updated }: { readonly payment: StoredPayment; readonly updated: StoredPayment },
): Promise<void> {
  const { executionId } = updated;
  if (executionId === null || updated.status !== 'REFUNDED' || payment.status === 'REFUNDED') return;
  await queue.enqueue(transaction, { queue: cancelQueue, data: { executionId } });
}

class VersionConflict extends Error {}

function isUnchanged(payment: StoredPayment, state: CheckoutState): boolean {
  return (
    nextStatus(payment.status, state) === payment.status &&
    payment.ppSessionId === state.sessionId &&
    payment.ppPaymentIntentId === state.paymentIntentId &&
    payment.amountRefunded === state.amountRefunded &&
    payment.disputed === state.isDisputed &&
    !startsExecution(payment, state)
  );
}

/** The execution that was bought, as it was validated at checkout. */
function boughtExecution(payment: StoredPayment): NewExecution {
  const { owner, userId, templateCode, parameters, start, taskOwner, fingerprint, traceparent } = payment;
  const bought = { owner, userId, templateCode, parameters, start, taskOwner, fingerprint, traceparent };
  return { ...bought, externalId: null, sold: true };
}
