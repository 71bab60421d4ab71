import type { PaymentFields } from '../../documents/workflow/payment.ts';

/** A payment in the words of the document. */
export function paymentData(payment: PaymentFields) {
  const { amountRefunded: refundedAmount, template } = payment;
  const refunds = payment.refunds.map(({ id: refundId, reason, ...refund }) => {
    return { refundId, reason: reason?.toLowerCase() ?? null, ...refund };
  });
  return {
    ...payment,
    status: payment.status.toLowerCase(),
    templateCode: template.code,
    refundedAmount,
    refunds,
  };
}
