import type { Stripe } from 'stripe';

import type { RefundReason } from '../../domain/payment.ts';
import type { ListedRefund, MadeRefund, PayProvider } from './pay-provider.ts';
import { checkedId } from './stripe-errors.ts';

/** Refunds at Stripe. */

/** Largest page of a list at Stripe. */
const PAGE = 100;

/** Stripe has no reason for a technical failure; ours is in the metadata. `fraudulent` also blocks the card at Stripe. */
const REASONS: Readonly<Record<RefundReason, Stripe.RefundCreateParams.Reason>> = {
  USER_REQUEST: 'requested_by_customer',
  TECHNICAL_ISSUE: 'requested_by_customer',
  DUPLICATE: 'duplicate',
  FRAUDULENT: 'fraudulent',
};

/** Refunds a payment. */
export async function refund(
  stripe: Stripe,
  environment: string,
  request: Parameters<PayProvider['refund']>[0],
) {
  const { refundId, paymentId, paymentIntentId, amount, reason } = request;
  const made = await stripe.refunds.create(
    {
      payment_intent: paymentIntentId,
      amount,
      reason: REASONS[reason],
      metadata: { app: 'kiln', payment_id: paymentId, refund_id: refundId, reason: reason.toLowerCase() },
    },
    { idempotencyKey: `${environment}:refund:${refundId}` },
  );
  return madeRefund(made);
}

function madeRefund({ id, amount, status }: Stripe.Refund): MadeRefund {
  return { id: checkedId(id, ''), amount, status: status ?? 'pending' };
}

/** Finds a refund by our id: Stripe forgets idempotency keys after a day, but not the metadata. */
export async function findRefund(
  stripe: Stripe,
  { refundId, paymentIntentId }: Parameters<PayProvider['findRefund']>[0],
): Promise<MadeRefund | null> {
  for await (const made of stripe.refunds.list({ payment_intent: paymentIntentId, limit: PAGE })) {
    if (made.metadata?.['refund_id'] === refundId) return madeRefund(made);
  }
  return null;
}

/** All refunds of a payment intent. */
export async function listRefunds(stripe: Stripe, paymentIntentId: string): Promise<readonly ListedRefund[]> {
  const listed: ListedRefund[] = [];
  for await (const made of stripe.refunds.list({ payment_intent: paymentIntentId, limit: PAGE })) {
    listed.push({
      ...madeRefund(made),
      refundId: made.metadata?.['refund_id'] ?? null,
      reason: parseReason(made.reason),
      createdAt: new Date(made.created * 1000),
    });
  }
  return listed;
}

function parseReason(reason: string | null): RefundReason | null {
  if (reason === 'requested_by_customer') return 'USER_REQUEST';
  if (reason === 'duplicate') return 'DUPLICATE';
  return reason === 'fraudulent' ? 'FRAUDULENT' : null;
}
