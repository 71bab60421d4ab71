import type { Selectable } from 'kysely';

import { computeFingerprint, idempotencyConflict } from '../../../platform/access/idempotency.ts';
import { isUniqueViolation } from '../../../platform/database/database.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import { derivedId, newId } from '../../../platform/ids.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import type { WorkflowRefund } from '../database/tables.ts';
import type { Refund, RefundReason } from '../domain/payment.ts';
import { withCallerErrors, type PayProvider, PayProviderError } from './provider/pay-provider.ts';
import type { StoredPayment } from './store.ts';

/** A request to refund a payment. */
export interface RefundRequest {
  readonly reason: RefundReason;
  /** Minor units; null: everything that is left. */
  readonly amount: number | null;
  readonly metadata: JsonObject;
  readonly idempotencyKey: string | null;
  /** Made by the system because the execution failed; there is at most one per payment. */
  readonly isAutomatic?: boolean;
}

/** The dependencies of a refund. */
export interface RefundDependencies {
  readonly database: WorkflowDatabase;
  readonly provider: PayProvider;
}

/**
 * Refunds a payment: writes the row, calls the provider with the row's id, stores the answer. Idempotent by key, also where
 * the database has lost the row: the id follows from payment and key, and the provider is asked for it first.
 * BAD_USER_INPUT for a payment that is not completed, or for more than is left; IDEMPOTENCY_CONFLICT for a key that was
 * used with another amount, reason or metadata.
 */
export async function refund(
  { database, provider }: RefundDependencies,
  payment: StoredPayment,
  request: RefundRequest,
): Promise<Refund> {
  const known = await knownRow(database, payment.id, request);
  const row = known ?? (await newRow(database, payment, request));
  const { id, amount, ppRefundId, status } = row;
  refuseOther(row, request);
  if (ppRefundId) return { id: ppRefundId, paymentId: payment.id, amount, status };
  if (payment.ppPaymentIntentId === null) throw badInput('id', 'nothing was charged for this payment');
  const { ppPaymentIntentId: paymentIntentId } = payment;
  // Without a key nobody has asked for it before.
  const isRepeatable = known !== null || request.idempotencyKey !== null || request.isAutomatic === true;
  const made = await withCallerErrors(
    async () =>
      // The answer of an earlier attempt may be lost, and the provider may have forgotten its key.
      (isRepeatable ? await provider.findRefund({ refundId: id, paymentIntentId }) : null) ??
      (await provider.refund({
        refundId: id,
        paymentId: payment.id,
        paymentIntentId,
        amount,
        reason: request.reason,
      })),
  ).catch(async (error: unknown) => {
    if (isRefusedRefund(error)) await markRefused(database, id);
    throw error;
  });
  await database
    .updateTable('workflow.refunds')
    .set({ ppRefundId: made.id, amount: made.amount, status: made.status })
    .where('id', '=', id)
    .execute();
  return { id: made.id, paymentId: payment.id, amount: made.amount, status: made.status };
}

/** Whether the payment provider has refused a refund: nothing of it will come. */
export function isRefusedRefund(error: unknown): boolean {
  const cause = error instanceof AppError ? error.cause : undefined;
  return cause instanceof PayProviderError && (cause.code === 'REFUSED' || cause.code === 'NOT_FOUND');
}

async function markRefused(database: WorkflowDatabase, id: string): Promise<void> {
  await database
    .updateTable('workflow.refunds')
    .set({ status: 'refused' })
    .where('id', '=', id)
    .where('ppRefundId', 'is', null)
    .execute();
}

const COLUMNS = ['id', 'amount', 'reason', 'metadata', 'ppRefundId', 'status', 'idempotencyKey'] as const;
type RefundRow = Pick<Selectable<WorkflowRefund>, (typeof COLUMNS)[number]>;

/** Refuses a key that was used for another refund. */
function refuseOther(row: RefundRow, { amount, reason, metadata, isAutomatic = false }: RefundRequest): void {
  // One that the provider has reported, after the database had lost it, has neither reason nor metadata of ours.
  const isOurs = row.idempotencyKey !== null;
  const isSame =
    (amount === null || amount === row.amount) &&
    (!isOurs || (row.reason === reason && computeFingerprint(row.metadata) === computeFingerprint(metadata)));
  if (!isAutomatic && !isSame) throw idempotencyConflict();
}

/** The row that an earlier attempt of this request has written. */
async function knownRow(
  database: WorkflowDatabase,
  paymentId: string,
  { idempotencyKey, isAutomatic = false }: RefundRequest,
): Promise<RefundRow | null> {
  if (idempotencyKey === null && !isAutomatic) return null;
  const rows = database.selectFrom('workflow.refunds').select(COLUMNS).where('paymentId', '=', paymentId);
  const row = isAutomatic
    ? await rows.where('automatic', '=', true).where('status', '<>', 'refused').executeTakeFirst()
    : await rows
        .where((where) =>
          where.or([
            where('idempotencyKey', '=', idempotencyKey),
            where('id', '=', keyedId(paymentId, idempotencyKey ?? '')),
          ]),
        )
        .executeTakeFirst();
  return row ?? null;
}

function keyedId(paymentId: string, key: string): string {
  return derivedId(`refund of ${paymentId} by ${key}`);
}

/** Of one without a key new each time; the automatic one of a payment follows from how often it was refused before. */
async function findId(
  database: WorkflowDatabase,
  paymentId: string,
  { idempotencyKey, isAutomatic = false }: RefundRequest,
): Promise<string> {
  if (idempotencyKey !== null) return keyedId(paymentId, idempotencyKey);
  if (!isAutomatic) return newId();
  const { count } = await database
    .selectFrom('workflow.refunds')
    .select((select) => select.fn.countAll<number>().as('count'))
    .where('paymentId', '=', paymentId)
    .where('automatic', '=', true)
    .executeTakeFirstOrThrow();
  return derivedId(`automatic refund ${count} of ${paymentId}`);
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
  const amount = request.amount ?? left;
  if (!Number.isInteger(amount) || amount < 1 || amount > left) {
    throw badInput('amount', `amount must be from 1 to ${left}, what is left of this payment`);
  }
  try {
    return await database
      .insertInto('workflow.refunds')
      .values({
        id: await findId(database, payment.id, request),
        paymentId: payment.id,
        amount,
        reason: request.reason,
        metadata: JSON.stringify(request.metadata),
        idempotencyKey: request.idempotencyKey,
        automatic: request.isAutomatic ?? false,
      })
      .returning(COLUMNS)
      .executeTakeFirstOrThrow();
  } catch (error) {
    const winner = isUniqueViolation(error) ? await knownRow(database, payment.id, request) : null;
    if (winner !== null) return winner;
    throw error;
  }
}
