import { isUuid, newId } from '../../../platform/ids.ts';
import type { WorkflowTransaction } from '../database/database.ts';
import type { CheckoutState } from '../domain/payment.ts';
import type { ListedRefund, PayProvider } from './provider/pay-provider.ts';
import type { PaymentStore, StoredPayment } from './store.ts';

/** The refunds of a payment as the provider lists them: those made on its own pages too, and how they ended. */

interface ListedRefundDependencies {
  readonly store: Pick<PaymentStore, 'listRefunds'>;
  readonly provider: Pick<PayProvider, 'listRefunds'>;
}

/** The refunds of which our rows know nothing, or another status. Only payments of which something was refunded are looked up. */
export async function changedRefunds(
  { store, provider }: ListedRefundDependencies,
  payment: StoredPayment,
  { paymentIntentId, amountRefunded }: CheckoutState,
): Promise<readonly ListedRefund[]> {
  if (paymentIntentId === null || (amountRefunded === 0 && payment.amountRefunded === 0)) return [];
  const listed = await provider.listRefunds(paymentIntentId);
  const known = new Map((await store.listRefunds([payment.id])).map(({ id, status }) => [id, status]));
  return listed.filter(({ id, status }) => known.get(id) !== status);
}

/** One of ours whose row the database has lost keeps its id, so that the same request finds it. */
function toOurId(refundId: string | null): string {
  return refundId !== null && isUuid(refundId) ? refundId : newId();
}

/** Writes what the provider says of refunds: to our row where the refund was made here, else to one of its own. */
export async function saveRefunds(
  transaction: WorkflowTransaction,
  { id: paymentId }: StoredPayment,
  refunds: readonly ListedRefund[],
): Promise<void> {
  for (const { id: ppRefundId, refundId, amount, status, reason, createdAt } of refunds) {
    const made = { ppRefundId, amount, status };
    const ours = transaction.updateTable('workflow.refunds').set(made).where('paymentId', '=', paymentId);
    const { numUpdatedRows } = await ours
      .where((row) =>
        row.or([
          row('ppRefundId', '=', ppRefundId),
          ...(refundId === null ? [] : [row('id', '=', refundId)]),
        ]),
      )
      .executeTakeFirstOrThrow();
    if (numUpdatedRows > 0n) continue;
    await transaction
      .insertInto('workflow.refunds')
      .values({ ...made, id: toOurId(refundId), paymentId, reason, createdAt, metadata: '{}' })
      .onConflict((conflict) => conflict.column('ppRefundId').doUpdateSet({ amount, status }))
      .execute();
  }
}
