import { internalCaller } from '../../../platform/access/caller.ts';
import { badInput, notFound } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type {
  Payment as PaymentShape,
  PaymentRefund as PaymentRefundShape,
  Refund as RefundShape,
  paymentStatuses,
  refundReasons,
} from '../domain/payment.ts';
import type { OpenedCheckout } from '../payments/checkout.ts';
import type { PaymentKey } from '../payments/service.ts';
import { builder } from './builder.ts';
import { namedUser, type WorkflowContext } from './context.ts';
import { Execution } from './execution.ts';
import { Template, templateOf } from './template.ts';
import { User } from './user.ts';

const PaymentStatus = builder.enumType('PaymentStatus', {
  description: 'Where a payment stands, by what the payment provider says.',
  values: {
    PENDING: { description: 'Not paid yet, or a bank takes its time.' },
    COMPLETED: { description: 'Paid; its execution was started.' },
    FAILED: { description: 'The bank has said no.' },
    CANCELLED: { description: 'The checkout has ended without money.' },
    REFUNDED: { description: 'All of it was given back.' },
  } satisfies Record<(typeof paymentStatuses)[number], { description: string }>,
});

const RefundReason = builder.enumType('RefundReason', {
  description: 'Why money is given back.',
  values: {
    USER_REQUEST: { description: 'The buyer asked for it.' },
    TECHNICAL_ISSUE: { description: 'What was bought did not work.' },
    DUPLICATE: { description: 'It was paid twice.' },
    FRAUDULENT: { description: 'The payment was a fraud. The provider may block the card, too.' },
  } satisfies Record<(typeof refundReasons)[number], { description: string }>,
});

const PaymentRefund = builder.objectRef<PaymentRefundShape>('PaymentRefund').implement({
  description: 'Money that was given back of a payment.',
  fields: (t) => ({
    id: t.exposeID('id', { description: "The payment provider's id." }),
    amount: t.exposeInt('amount', { description: 'In minor units of the currency (cents).' }),
    reason: t.expose('reason', { type: RefundReason, description: 'Why.' }),
    status: t.exposeString('status', {
      description:
        "The provider's word when it was made: pending, requires_action, succeeded, failed, canceled.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
  }),
});

/** One purchase of an execution. */
export const Payment = builder.objectRef<PaymentShape>('Payment').implement({
  description:
    'One purchase of an execution. Its status is what the payment provider says, never what a browser says.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unguessable, time-ordered id.' }),
    template: t.field({
      type: Template,
      description: 'What was bought.',
      resolve: ({ templateCode }, _, context) => templateOf(templateCode, context),
    }),
    userId: t.exposeID('userId', { description: 'For whom it was bought.' }),
    user: t.field({
      type: User,
      nullable: true,
      description: 'For whom, when they have signed in and the caller may see them.',
      resolve: ({ userId }, _, { loaders }) => loaders.users.load(userId),
    }),
    status: t.expose('status', { type: PaymentStatus, description: 'Where it stands.' }),
    amount: t.exposeInt('amount', { description: 'In minor units of the currency (cents).' }),
    amountRefunded: t.exposeInt('amountRefunded', { description: 'What was given back, in minor units.' }),
    refunds: t.field({
      type: [PaymentRefund],
      description:
        "Its refunds that were made here, oldest first; those of the provider's own pages are not among them.",
      resolve: async ({ id }, _, { loaders }) => [...(await loaders.refunds.load(id))],
    }),
    currency: t.exposeString('currency', { description: 'Lower-case ISO 4217.' }),
    ppSessionId: t.exposeString('ppSessionId', {
      nullable: true,
      description: 'The checkout session at the payment provider.',
    }),
    execution: t.field({
      type: Execution,
      nullable: true,
      description: 'What it has started; null until it is paid.',
      resolve: ({ executionId }, _, { loaders }) =>
        executionId === null ? null : loaders.executions.load(executionId),
    }),
    executionId: t.exposeID('executionId', {
      nullable: true,
      description: 'Id of what it has started, for whoever sees the payment.',
    }),
    taskId: t.id({
      nullable: true,
      description: 'Id of the task of what it has started, likewise.',
      resolve: ({ executionId }, _, { loaders }) =>
        executionId === null ? null : loaders.taskIds.load(executionId),
    }),
    disputed: t.exposeBoolean('disputed', { description: 'Whether the buyer disputes it at their bank.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the checkout was asked for.' }),
  }),
});

builder.asEntity(Payment, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: async ({ id }, { caller, services }) =>
    (await services.payments.byIds(caller, [id]))[0] ?? null,
});

builder.objectField(Execution, 'payment', (t) =>
  t.field({
    type: Payment,
    nullable: true,
    description:
      'The payment that has started it; null when it was not bought, or the caller may not see that.',
    resolve: ({ id }, _, { caller, services }) => services.payments.byExecution(caller, id),
  }),
);

const Checkout = builder.objectRef<OpenedCheckout>('Checkout').implement({
  description: 'A checkout that is open.',
  fields: (t) => ({
    payment: t.field({ type: Payment, description: 'The payment to be.', resolve: ({ payment }) => payment }),
    sessionId: t.exposeString('sessionId', { description: 'The session at the payment provider.' }),
    url: t.exposeString('url', { description: 'The page where it is paid.' }),
  }),
});

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

builder.queryField('payment', (t) =>
  t.field({
    type: Payment,
    nullable: true,
    description: "One payment; null when there is none, or it is somebody else's.",
    rule: 'anyone',
    args: { id: t.arg.id({ required: true, description: 'The id of the payment.' }) },
    resolve: async (_, { id }, { caller, services }) =>
      (await services.payments.byIds(caller, [id]))[0] ?? null,
  }),
);

builder.mutationField('checkout', (t) =>
  t.field({
    type: Checkout,
    description:
      'Opens a checkout for one execution of a template. The parameters are checked now: nobody pays for what can not run.',
    rule: 'owner',
    args: {
      templateCode: t.arg.id({ required: true, description: 'What to buy.' }),
      userId: t.arg.id({
        required: true,
        description: 'For whom: oneself; any for service keys and admins.',
      }),
      parameters: t.arg({
        type: 'JSON',
        required: true,
        description: 'What the execution will be started with.',
      }),
      successUrl: t.arg.string({
        description:
          'Where a browser is sent that has paid: a path here, or an address by the rule of SIGN_IN_REDIRECTS; {CHECKOUT_SESSION_ID} in it is replaced by the session. Absent: GET /payment/success.',
      }),
      cancelUrl: t.arg.string({
        description:
          'Where a browser is sent that has given up, by the same rule. Absent: GET /payment/cancel.',
      }),
      idempotencyKey: t.arg.string({
        description:
          'The same key and request again open the same checkout; another request under it is IDEMPOTENCY_CONFLICT.',
      }),
    },
    resolve: async (_, { userId, idempotencyKey = null, successUrl, cancelUrl, ...request }, context) =>
      context.services.payments.checkout(context.caller, {
        ...request,
        successUrl: successUrl ?? undefined,
        cancelUrl: cancelUrl ?? undefined,
        userId: (await namedUser(context, userId)) ?? '',
        idempotencyKey,
      }),
  }),
);

/** A payment is named by its id, by its session, or by both, which must then belong together. */
const paymentKeyArgs = builder.args((t) => ({
  id: t.id({ description: 'The id of the payment; may be left out when the session is given.' }),
  sessionId: t.string({ description: 'Its checkout session; one of another payment is refused.' }),
}));

function paymentKeyOf({
  id,
  sessionId,
}: Partial<Record<keyof PaymentKey, string | null | undefined>>): PaymentKey {
  if (!id && !sessionId) throw badInput('id', 'give id, sessionId or both');
  return { id: id ?? null, sessionId: sessionId ?? null };
}

builder.mutationField('reconcilePayment', (t) =>
  t.field({
    type: Payment,
    description:
      'Asks the payment provider what is true of a payment; one that is paid starts its execution, once. Its session is the proof of who comes back from the checkout without a credential.',
    rule: 'proof',
    args: paymentKeyArgs,
    async resolve(_, key, context) {
      const payment = await context.services.payments.reconcile(context.caller, paymentKeyOf(key));
      if (key.sessionId) await showExecution(payment, context);
      return payment;
    },
  }),
);

/** Shows the execution to a caller who knows the session, even without a credential. */
async function showExecution(
  { executionId, ppSessionId }: PaymentShape,
  { caller, services, loaders }: WorkflowContext,
): Promise<void> {
  if (executionId === null || ppSessionId === null) return;
  const [execution = null] = await services.executions.byIds(internalCaller(caller.traceId), [executionId]);
  loaders.executions.clear(executionId).prime(executionId, execution);
}

builder.mutationField('cancelPayment', (t) =>
  t.field({
    type: Payment,
    description:
      'Ends an open checkout, so that it can not be paid any more. What was paid stays paid, and is answered so. Who comes back from the checkout without a credential needs no more than its id, while it is unpaid.',
    rule: 'proof',
    args: paymentKeyArgs,
    resolve: (_, key, { caller, services }) => services.payments.cancel(caller, paymentKeyOf(key)),
  }),
);

builder.mutationField('refundPayment', (t) =>
  t.field({
    type: Refund,
    description: 'Gives money back.',
    rule: 'admin',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the payment.' }),
      reason: t.arg({ type: RefundReason, required: true, description: 'Why.' }),
      amount: t.arg.int({ description: 'In minor units; absent or 0: what is left.' }),
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

builder.mutationField('takePaymentEvent', (t) =>
  t.field({
    type: 'Boolean',
    description:
      'Takes an event of the payment provider. `POST /payment/webhook` is this; the signature is the proof.',
    rule: 'proof',
    args: {
      body: t.arg.string({
        required: true,
        description: 'The raw body in base64: the signature is over its bytes.',
      }),
      signature: t.arg.string({ required: true, description: "The provider's signature header." }),
    },
    resolve: async (_, { body, signature }, { services }) => {
      await services.payments.receiveEvent({ body: Buffer.from(body, 'base64'), signature });
      return true;
    },
  }),
);

builder.subscriptionField('paymentUpdated', (t) =>
  t.field({
    type: Payment,
    description: 'The payment as it is, then whenever it has changed.',
    rule: 'proof',
    args: { id: t.arg.id({ required: true, description: 'The id of the payment.' }) },
    subscribe: (_, { id }, { caller, services, signal }) => services.payments.watch(caller, id, signal),
    resolve: (payment, _, { loaders }) => {
      if (payment === null) throw notFound('payment', '');
      loaders.forget();
      return payment;
    },
  }),
);
