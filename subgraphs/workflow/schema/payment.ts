import type { Execution as ExecutionShape } from '../domain/execution.ts';
import type {
  Payment as PaymentShape,
  PaymentRefund as PaymentRefundShape,
  paymentStatuses,
  refundReasons,
} from '../domain/payment.ts';
import { isRedacted } from '../domain/redaction.ts';
import { builder } from './builder.ts';
import type { WorkflowContext } from './context.ts';
import { Execution } from './execution.ts';
import { Template, loadTemplate } from './template.ts';
import { User } from './user.ts';

/** Where a payment stands. */
export const PaymentStatus = builder.enumType('PaymentStatus', {
  description: 'Where a payment stands, by what the payment provider says.',
  values: {
    PENDING: { description: 'Not paid yet, or a bank takes its time.' },
    COMPLETED: { description: 'Paid; its execution was started.' },
    FAILED: { description: 'The bank has said no.' },
    CANCELLED: { description: 'The checkout has ended without money.' },
    REFUNDED: { description: 'All of it was given back.' },
  } satisfies Record<(typeof paymentStatuses)[number], { description: string }>,
});

/** Why money is given back, as callers name it. */
export const RefundReason = builder.enumType('RefundReason', {
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
    reason: t.expose('reason', {
      type: RefundReason,
      nullable: true,
      description: "Why; null where none was given on the payment provider's own page.",
    }),
    status: t.exposeString('status', {
      description: "The provider's word: pending, requires_action, succeeded, failed, canceled.",
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
  }),
});

const WITHHELD = 'Null for strangers where the buyer had no credential, but for whoever gives the session.';

/** Whoever may see all of a payment sees all of what it has started. */
async function loadExecution(
  payment: PaymentShape,
  context: WorkflowContext,
): Promise<ExecutionShape | null> {
  const { executionId } = payment;
  if (executionId === null) return null;
  if (context.proved.has(payment.id)) context.proved.add(executionId);
  const execution = await context.loaders.executions.load(executionId);
  return execution !== null && isRedacted(execution, context) ? null : execution;
}

/** One purchase of an execution. */
export const Payment = builder.objectRef<PaymentShape>('Payment').implement({
  description:
    'One purchase of an execution. Its status is what the payment provider says, never what a browser says.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unguessable, time-ordered id.' }),
    template: t.field({
      type: Template,
      description: 'What was bought.',
      resolve: ({ templateCode }, _, context) => loadTemplate(templateCode, context),
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
      description: "Its refunds, oldest first; those that were made on the payment provider's own pages too.",
      resolve: async ({ id }, _, { loaders }) => [...(await loaders.refunds.load(id))],
    }),
    currency: t.exposeString('currency', { description: 'Lower-case ISO 4217.' }),
    ppSessionId: t.string({
      nullable: true,
      description: `The checkout session at the payment provider. ${WITHHELD}`,
      resolve: (payment, _, context) => (isRedacted(payment, context) ? null : payment.ppSessionId),
    }),
    execution: t.field({
      type: Execution,
      nullable: true,
      description: `What it has started; null until it is paid. ${WITHHELD}`,
      resolve: (payment, _, context) => loadExecution(payment, context),
    }),
    executionId: t.id({
      nullable: true,
      description: `Id of what it has started, for whoever sees the payment. ${WITHHELD}`,
      resolve: (payment, _, context) => (isRedacted(payment, context) ? null : payment.executionId),
    }),
    taskId: t.id({
      nullable: true,
      description: 'Id of the task of what it has started, likewise.',
      resolve: (payment, _, context) =>
        payment.executionId === null || isRedacted(payment, context)
          ? null
          : context.loaders.taskIds.load(payment.executionId),
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
    async resolve(execution, _, context) {
      const payment = await context.services.payments.byExecution(context.caller, execution.id);
      if (payment !== null && context.proved.has(execution.id)) context.proved.add(payment.id);
      return payment;
    },
  }),
);

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

builder.subscriptionField('paymentUpdated', (t) =>
  t.field({
    type: Payment,
    description: 'The payment as it is, then whenever it has changed.',
    rule: 'proof',
    scope: 'read',
    args: { id: t.arg.id({ required: true, description: 'The id of the payment.' }) },
    subscribe: (_, { id }, { caller, services, signal }) => services.payments.watch(caller, id, signal),
    resolve: (payment, _, { loaders }) => {
      loaders.forget();
      return payment;
    },
  }),
);
