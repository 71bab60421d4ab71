import { isUniqueViolation } from '../../../platform/database.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { WorkflowDatabase } from '../database.ts';
import { asked } from './failures.ts';
import type { PayProvider } from './pay-provider.ts';
import type { Refund, RefundReason } from './payment.ts';
import type { StoredPayment } from './store.ts';

export interface RefundRequest {
  readonly reason: RefundReason;
  /** Minor units; null or 0: what is left. */
  readonly amount: number | null;
  readonly metadata: JsonObject;
  readonly idempotencyKey: string | null;
}

/**
 * Gives money back: the row first, then the provider under the row's id, then its answer. Asked again under the same key
 * it is the same refund. BAD_USER_INPUT for a payment that is not completed, or for more than is left.
 */
export async function refund(
  { database, provider }: { readonly database: WorkflowDatabase; readonly provider: PayProvider },
  payment: StoredPayment,
  request: RefundRequest,
): Promise<Refund> {
  const known = await rowByKey(database, payment.id, request.idempotencyKey);
  if (known?.ppRefundId) {
    return { id: known.ppRefundId, paymentId: payment.id, amount: known.amount, status: known.status };
  }
  const { id, amount } = known ?? (await newRow(database, payment, request));
  if (payment.ppPaymentIntentId === null) throw badInput('id', 'nothing was charged for this payment');
  const { ppPaymentIntentId: paymentIntentId } = payment;
  const made = await asked(() =>
    provider.refund({ refundId: id, paymentId: payment.id, paymentIntentId, amount, reason: request.reason }),
  );
  await database
    .updateTable('workflow.refunds')
    .set({ pp_refund_id: made.id, amount: made.amount, status: made.status })
    .where('id', '=', id)
    .execute();
  return { id: made.id, paymentId: payment.id, amount: made.amount, status: made.status };
}

interface RefundRow {
  readonly id: string;
  readonly amount: number;
  readonly ppRefundId: string | null;
  readonly status: string;
}

async function rowByKey(
  database: WorkflowDatabase,
  paymentId: string,
  key: string | null,
): Promise<RefundRow | null> {
  if (key === null) return null;
  const row = await database
    .selectFrom('workflow.refunds')
    .select(['id', 'amount', 'pp_refund_id', 'status'])
    .where('payment_id', '=', paymentId)
    .where('idempotency_key', '=', key)
    .executeTakeFirst();
  return row === undefined
    ? null
    : { id: row.id, amount: row.amount, ppRefundId: row.pp_refund_id, status: row.status };
}

async function newRow(
  database: WorkflowDatabase,
  payment: StoredPayment,
  request: RefundRequest,
): Promise<RefundRow> {
  if (payment.status !== 'COMPLETED') {
    throw badInput('id', `a payment that is ${payment.status.toLowerCase()} can't be refunded`);
  }
  const left = payment.amount - payment.amountRefunded;
  const amount = request.amount === null || request.amount === 0 ? left : request.amount;
  if (!Number.isInteger(amount) || amount < 1 || amount > left) {
    throw badInput('amount', `amount must be from 1 to ${left}, what is left of this payment`);
  }
  const row = { id: newId(), amount, ppRefundId: null, status: 'pending' };
  try {
    await database
      .insertInto('workflow.refunds')
      .values({
        id: row.id,
        payment_id: payment.id,
        pp_refund_id: null,
        amount,
        reason: request.reason,
        metadata: JSON.stringify(request.metadata),
        idempotency_key: request.idempotencyKey,
      })
      .execute();
    return row;
  } catch (error) {
    const winner = isUniqueViolation(error)
      ? await rowByKey(database, payment.id, request.idempotencyKey)
      : null;
    if (winner !== null) return winner;
    throw error instanceof AppError ? error : error;
  }
}
