import { type Caller, mayChange, mayRead } from '../../../platform/access/caller.ts';
import { AppError, notFound, toError } from '../../../platform/errors.ts';
import type { EventBus } from '../../../platform/events/event-bus.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Page, PageRequest } from '../domain/page.ts';
import type { Payment, PaymentRefund, PaymentSum, Refund } from '../domain/payment.ts';
import { listPage } from '../lists/list-page.ts';
import {
  checkout,
  type CheckoutDependencies,
  type CheckoutRequest,
  type OpenedCheckout,
} from './checkout.ts';
import { processEvent } from './events.ts';
import { notConfigured, type PayProvider } from './provider/pay-provider.ts';
import { reconcile, type ReconcileDependencies } from './reconcile.ts';
import { refund, type RefundRequest } from './refunds.ts';
import type { PaymentStore, StoredPayment } from './store.ts';
import { watchPayment } from './watch.ts';

/** Payments and their rules. */
export interface PaymentService {
  /** BAD_USER_INPUT, NOT_FOUND, FORBIDDEN, IDEMPOTENCY_CONFLICT, NOT_CONFIGURED, UNAVAILABLE. */
  checkout(caller: Caller, request: CheckoutRequest): Promise<OpenedCheckout>;
  /** Brings a payment up to date with the provider; starts the execution when it is paid. */
  reconcile(caller: Caller, key: PaymentKey): Promise<Payment>;
  /**
   * Expires an open checkout, so that it can no longer be paid; a paid one stays paid. A stranger to payments without an
   * owner needs both ids of one, else it is only read.
   */
  cancel(caller: Caller, key: PaymentKey, by?: { readonly isStranger: boolean }): Promise<Payment>;
  refund(
    caller: Caller,
    id: string,
    request: RefundRequest,
  ): Promise<{ readonly refund: Refund; readonly payment: Payment }>;
  /** In the order of the ids; null where there is none the caller may read. */
  byIds(caller: Caller, ids: readonly string[]): Promise<readonly (Payment | null)[]>;
  /** The refunds of payments that the caller may read, in the order of the ids; without an ownership check. */
  listRefunds(paymentIds: readonly string[]): Promise<readonly (readonly PaymentRefund[])[]>;
  /** The payment of an execution, when there is one the caller may read. */
  byExecution(caller: Caller, executionId: string): Promise<Payment | null>;
  /** Newest first: the caller's own, or of one user; empty without a caller. */
  list(caller: Caller, request: PageRequest): Promise<Page<Payment, PaymentSum>>;
  /** Processes a webhook event after verifying its signature. UNAUTHENTICATED, or the error that prevents processing. */
  receiveEvent(event: { readonly body: Buffer; readonly signature: string }): Promise<void>;
  /** The payment now, then at each change, until its status is final. NOT_FOUND before the first. */
  watch(caller: Caller, id: string, signal: AbortSignal): Promise<AsyncIterableIterator<Payment>>;
}

/** The key of a payment: its id, its session, or both, which must match. */
export interface PaymentKey {
  readonly id: string | null;
  readonly sessionId: string | null;
}

/** The dependencies of the service. */
export interface PaymentDependencies {
  readonly store: PaymentStore;
  readonly bus: EventBus;
  readonly logger: Logger;
  /** Null where no payment provider is set up. */
  readonly commerce: (ReconcileDependencies & CheckoutDependencies) | null;
  /** Sandbox only: pays the checkout of a buyer who comes back with matching ids. */
  readonly autoPay: ((sessionId: string) => Promise<void>) | null;
}

/** Creates the service; without `commerce` everything that needs the provider throws NOT_CONFIGURED. */
export function createPaymentService(dependencies: PaymentDependencies): PaymentService {
  const { store, bus, logger } = dependencies;
  const commerce = () => {
    if (dependencies.commerce === null) throw notConfigured();
    return dependencies.commerce;
  };
  return {
    checkout: async (caller, request) => checkout(commerce(), caller, request),
    async reconcile(caller, key) {
      const open = commerce();
      await payAutomatically(dependencies, key);
      return reconcileNamed(open, caller, key);
    },
    cancel: async (caller, key, { isStranger } = { isStranger: false }) =>
      cancelNamed(commerce(), caller, { ...key, isStranger }),
    async refund(caller, id, request) {
      const open = commerce();
      const payment = await beforeRefund(open, await readable(store, caller, id), request);
      const done = await refund(open, payment, request);
      return { refund: done, payment: await afterRefund(open, payment, logger) };
    },
    async byIds(caller, ids) {
      const found = new Map((await store.byIds(ids)).map((payment) => [payment.id, payment]));
      return ids.map((id) => {
        const payment = found.get(id);
        return payment !== undefined && mayReadPayment(caller, payment) ? payment : null;
      });
    },
    async listRefunds(paymentIds) {
      const found = Map.groupBy(await store.listRefunds(paymentIds), ({ paymentId }) => paymentId);
      return paymentIds.map((id) => found.get(id) ?? []);
    },
    async byExecution(caller, executionId) {
      const payment = await store.byExecution(executionId);
      return payment !== null && mayReadPayment(caller, payment) ? payment : null;
    },
    list(caller, request) {
      const seesAll = caller.kind === 'internal' || caller.kind === 'key' || caller.scopes.includes('admin');
      return listPage({ ...store, mayRead: mayReadPayment, seesAll }, caller, request);
    },
    async receiveEvent({ body, signature }) {
      const open = commerce();
      const event = await readEvent(open.provider, body, signature);
      await processEvent(
        {
          ...open,
          reconcile: (id, sessionId) => reconcile(open, id, sessionId === undefined ? {} : { sessionId }),
        },
        event,
      );
    },
    async watch(caller, id, signal) {
      const payment = await readable(store, caller, id);
      return watchPayment({ store, bus, id: payment.id }, signal);
    },
  };
}

/** Needs both ids, and they must match. */
async function payAutomatically(
  { store, autoPay }: PaymentDependencies,
  { id, sessionId }: PaymentKey,
): Promise<void> {
  if (autoPay === null || id === null || sessionId === null) return;
  const [payment] = await store.byIds([id]);
  if (payment?.status === 'PENDING' && payment.ppSessionId === sessionId) await autoPay(sessionId);
}

async function readEvent(provider: PayProvider, body: Buffer, signature: string) {
  try {
    return await provider.readEvent(body, signature);
  } catch (cause) {
    throw new AppError('UNAUTHENTICATED', 'the signature of this event is not valid', { cause });
  }
}

async function readable(store: PaymentStore, caller: Caller, id: string): Promise<StoredPayment> {
  const [payment] = await store.byIds([id]);
  if (payment === undefined || !mayReadPayment(caller, payment)) throw notFound('payment', id);
  return payment;
}

type Commerce = ReconcileDependencies & CheckoutDependencies;

/** Brings a payment up to date for who may read it: one of its people, or who holds its session. */
async function reconcileNamed(commerce: Commerce, caller: Caller, key: PaymentKey): Promise<Payment> {
  const { payment, sessionId } = await namedPayment(commerce.store, key);
  if (!holdsSession(caller, payment, sessionId) && !mayReadPayment(caller, payment))
    throw notFound('payment', payment.id);
  return reconcile(commerce, payment.id, sessionId === null ? {} : { sessionId });
}

/** Ends a checkout for who may do that; by its session that takes both ids. */
async function cancelNamed(
  commerce: Commerce,
  caller: Caller,
  { isStranger, ...key }: PaymentKey & { readonly isStranger: boolean },
): Promise<Payment> {
  const { payment, sessionId } = await namedPayment(commerce.store, key);
  const isProved = key.id !== null && holdsSession(caller, payment, sessionId);
  if (!isProved && !mayAbandon(caller, payment) && !mayEndPayment(caller, payment))
    throw notFound('payment', payment.id);
  const isOnlyRead = isStranger && payment.owner === 'anon' && !isProved;
  return reconcile(commerce, payment.id, {
    ...(sessionId === null ? {} : { sessionId }),
    expire: !isOnlyRead,
  });
}

/**
 * The buyer's browser comes back without a credential: the session id, which only it was given, is its proof. Somebody else
 * who has signed in has it from elsewhere.
 */
function holdsSession({ kind }: Caller, payment: StoredPayment, sessionId: string | null): boolean {
  const isNamed = sessionId !== null && payment.ppSessionId === sessionId;
  return isNamed && (kind !== 'user' || payment.owner === 'anon');
}

/**
 * A buyer who gives up comes back without a credential, with only the payment's unguessable id. That is enough to cancel an
 * unpaid payment, and to read that it was cancelled.
 */
function mayAbandon({ kind }: Caller, { status }: StoredPayment): boolean {
  return kind === 'anonymous' && (status === 'PENDING' || status === 'CANCELLED');
}

/** The payment of a key, and its session as far as the key names one. NOT_FOUND. */
async function namedPayment(store: PaymentStore, key: PaymentKey) {
  const { id } = key;
  // A browser redirected from a page without a session still has the placeholder.
  const sessionId = key.sessionId?.includes('{') === true ? null : key.sessionId;
  const payment =
    id !== null ? (await store.byIds([id]))[0] : sessionId === null ? null : await store.bySession(sessionId);
  if (payment === null || payment === undefined) throw notFound('payment', id ?? sessionId ?? '');
  return { payment, sessionId };
}

/** The rule of executions: its owner, and the user it was bought for, unless an anonymous buyer named that user. Pure. */
function mayReadPayment(caller: Caller, payment: Payment): boolean {
  return mayRead(caller, payment.owner) || isBoughtFor(caller, payment);
}

/** Who may end its checkout: the same, without other service keys. Pure. */
function mayEndPayment(caller: Caller, payment: Payment): boolean {
  return mayChange(caller, payment.owner) || isBoughtFor(caller, payment);
}

function isBoughtFor({ kind, id }: Caller, { owner, userId }: Payment): boolean {
  return kind === 'user' && userId === id && owner !== 'anon';
}

/** A payment of which all that is left is given back, as the provider has it: a refund on its own pages may not have been told yet. */
async function beforeRefund(
  commerce: ReconcileDependencies,
  payment: StoredPayment,
  { amount }: Pick<RefundRequest, 'amount'>,
): Promise<StoredPayment> {
  return amount === null && payment.status === 'COMPLETED' ? reconcile(commerce, payment.id) : payment;
}

/** A payment after its refund, as it was where it can't be read now: an error would make the caller refund again. */
async function afterRefund(
  commerce: ReconcileDependencies,
  payment: StoredPayment,
  logger: Logger,
): Promise<StoredPayment> {
  try {
    return await reconcile(commerce, payment.id);
  } catch (thrown) {
    logger.warn(
      { error: toError(thrown), paymentId: payment.id },
      'a payment could not be read after its refund',
    );
    return payment;
  }
}
