import type { JsonObject } from '../../../platform/json.ts';

/** The nouns of payments, and how a payment follows the checkout at the provider. Pure. */

/** Every status of a payment. */
export const paymentStatuses = ['PENDING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const;

/** The status of a payment. */
export type PaymentStatus = (typeof paymentStatuses)[number];

/** One purchase of an execution. */
export interface Payment {
  readonly id: string;
  /** The caller who requested it. */
  readonly owner: string;
  readonly userId: string;
  readonly templateCode: string;
  /** Checked against the template at checkout: what was paid for can run. */
  readonly parameters: JsonObject;
  readonly status: PaymentStatus;
  /** Minor units of the currency. */
  readonly amount: number;
  readonly amountRefunded: number;
  /** Lower case. */
  readonly currency: string;
  /** Null until the provider has answered. */
  readonly ppSessionId: string | null;
  /** The provider's page, while it is open. */
  readonly ppUrl: string | null;
  readonly ppPaymentIntentId: string | null;
  readonly executionId: string | null;
  readonly disputed: boolean;
  /** When the checkout ends by itself; part of the idempotent call, so it never changes. */
  readonly expiresAt: Date;
  /** Rises with each change: a write needs the version that was read (optimistic locking). */
  readonly version: number;
  readonly createdAt: Date;
}

/** Days after which a checkout can be paid no more, whatever the payment provider says late. */
export const UNPAID_DAYS = 7;

/** The total of the payments of a list in one currency and status. */
export interface PaymentSum {
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly count: number;
  /** Minor units. */
  readonly amount: number;
  readonly amountRefunded: number;
}

/** The reasons of refunds. */
export const refundReasons = ['USER_REQUEST', 'TECHNICAL_ISSUE', 'DUPLICATE', 'FRAUDULENT'] as const;

/** One of them. */
export type RefundReason = (typeof refundReasons)[number];

/** A refund as the payment lists it. */
export interface PaymentRefund extends Refund {
  /** Null where the provider's own page gave none. */
  readonly reason: RefundReason | null;
  readonly createdAt: Date;
}

/** One refund. */
export interface Refund {
  /** The provider's id, once it has one. */
  readonly id: string;
  readonly paymentId: string;
  readonly amount: number;
  /** The provider's word: pending, requires_action, succeeded, failed, canceled. */
  readonly status: string;
}

/** The state of a checkout at the provider: everything that a payment's status depends on. */
export interface CheckoutState {
  readonly sessionId: string;
  /** The payment that the session was made for; null for a foreign one. */
  readonly paymentId: string | null;
  readonly session: 'open' | 'complete' | 'expired';
  /** Paid, or nothing to pay. */
  readonly isPaid: boolean;
  /** Complete, unpaid and not failed: the bank is still processing it. */
  readonly isSettling: boolean;
  readonly paymentIntentId: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly amountRefunded: number;
  /** A dispute that is open or lost. */
  readonly isDisputed: boolean;
}

/** The status of a payment by its checkout at the provider. Cancelling or failing never undoes what was paid. */
export function nextStatus(current: PaymentStatus, state: CheckoutState): PaymentStatus {
  if (state.isPaid) return isFullyRefunded(state) ? 'REFUNDED' : 'COMPLETED';
  if (state.session === 'expired') return current === 'FAILED' ? 'FAILED' : 'CANCELLED';
  if (state.session === 'complete' && !state.isSettling) return 'FAILED';
  return current;
}

/** Whether the execution starts now: paid, not given back as a whole, not disputed, and not started before. */
export function startsExecution(payment: Pick<Payment, 'executionId'>, state: CheckoutState): boolean {
  return payment.executionId === null && state.isPaid && !isFullyRefunded(state) && !state.isDisputed;
}

function isFullyRefunded({ amount, amountRefunded }: CheckoutState): boolean {
  return amountRefunded > 0 && amountRefunded >= amount;
}
