import type { JsonObject } from '../../../platform/json.ts';
import type { Payment as PaymentShape, Refund as RefundShape } from '../domain/payment.ts';
import { builder } from './builder.ts';
import { Payment, RefundReason } from './payment.ts';

const Refund = builder
  .objectRef<{ readonly refund: RefundShape; readonly payment: PaymentShape }>('Refund')
  .implement({
    description: 'Money that is given back.',
    fields: (t) => ({
      id: t.id({ description: "The payment provider's id.", resolve: ({ refund }) => refund.id }),
      amount: t.int({ description: 'In minor units.', resolve: ({ refund }) => refund.amount }),
      status: t.string({
        description: "The provider's word: pending, requires_action, succeeded, failed, canceled.",
        resolve: ({ refund }) => refund.status,
      }),
      payment: t.field({
        type: Payment,
        description: 'The payment as it is now.',
        resolve: ({ payment }) => payment,
      }),
    }),
  });

builder.mutationField('refundPayment', (t) =>
  t.field({
    type: Refund,
    description: 'Gives money back.',
    rule: 'admin',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the payment.' }),
      reason: t.arg({ type: RefundReason, required: true, description: 'Why.' }),
      amount: t.arg.int({ description: 'In minor units, at least 1; absent: what is left.' }),
      metadata: t.arg({ type: 'JSON', description: 'Kept with the refund.' }),
      idempotencyKey: t.arg.string({
        description:
          'The same key and request again is the same refund; another one under it is IDEMPOTENCY_CONFLICT.',
      }),
    },
    resolve: (_, { id, reason, amount = null, metadata, idempotencyKey = null }, { caller, services }) =>
      services.payments.refund(caller, id, {
        reason,
        amount,
        metadata: (metadata ?? {}) as JsonObject,
        idempotencyKey,
      }),
  }),
);
