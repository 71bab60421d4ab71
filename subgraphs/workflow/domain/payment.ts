import type { JsonObject } from '../../../platform/json.ts';

/** The words of payments, and how the provider's truth moves them. Pure. */

/** Every status of a payment. */
export const paymentStatuses = ['PENDING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REFUNDED'] as const;

/** Where a payment stands. */
export type PaymentStatus = (typeof paymentStatuses)[number];

/** One purchase of an execution. */
export interface Payment {
  readonly id: string;
  /** Who asked for it. */
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
  /** Rises with each change: what was read is written back only where it still holds. */
  readonly version: number;
  readonly createdAt: Date;
}

/** Why money may be given back. */
export const refundReasons = ['USER_REQUEST', 'TECHNICAL_ISSUE', 'DUPLICATE', 'FRAUDULENT'] as const;

/** One of them. */
export type RefundReason = (typeof refundReasons)[number];

/** One refund, as far as it has come. */
export interface Refund {
  /** The provider's id, once it has one. */
  readonly id: string;
  readonly paymentId: string;
  readonly amount: number;
  /** The provider's word: pending, requires_action, succeeded, failed, canceled. */
  readonly status: string;
}

/** What the provider says of a checkout now: all that decides. */
export interface MoneyTruth {
  readonly sessionId: string;
  /** The payment that the session was made for; null for a foreign one. */
  readonly paymentId: string | null;
  readonly session: 'open' | 'complete' | 'expired';
  /** Paid, or nothing to pay. */
  readonly isPaid: boolean;
  /** Complete and unpaid: a bank takes its time, or has said no. */
  readonly isSettling: boolean;
  readonly paymentIntentId: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly amountRefunded: number;
  /** A dispute that is open or lost. */
  readonly isDisputed: boolean;
}

/** What a payment becomes by the provider's truth. Money wins: cancelling or failing never undoes what was paid. */
export function statusBy(current: PaymentStatus, truth: MoneyTruth): PaymentStatus {
  if (truth.isPaid) return isFullyRefunded(truth) ? 'REFUNDED' : 'COMPLETED';
  if (truth.session === 'expired') return current === 'FAILED' ? 'FAILED' : 'CANCELLED';
  if (truth.session === 'complete' && !truth.isSettling) return 'FAILED';
  return current;
}

/** Whether the execution starts now: paid, not given back, not disputed, and never before. */
export function startsExecution(payment: Pick<Payment, 'executionId'>, truth: MoneyTruth): boolean {
  return payment.executionId === null && truth.isPaid && truth.amountRefunded === 0 && !truth.isDisputed;
}

function isFullyRefunded({ amount, amountRefunded }: MoneyTruth): boolean {
  return amountRefunded > 0 && amountRefunded >= amount;
}
