import { decide } from '../../../platform/access/policy.ts';
import { badInput } from '../../../platform/errors.ts';
import { boundedFirst, givenMembers } from '../../../platform/paging.ts';
import { computeMargin, type Margin } from '../domain/margin.ts';
import type { Page } from '../domain/page.ts';
import type { Payment as PaymentShape, PaymentSum as PaymentSumShape } from '../domain/payment.ts';
import { builder, connection } from './builder.ts';
import { namedUser } from './context.ts';
import { Payment, PaymentStatus } from './payment.ts';
import { User } from './user.ts';

const PaymentMargin = builder.objectRef<Margin>('PaymentMargin').implement({
  description: 'What a sale leaves, in minor units of its currency (cents, and parts of them).',
  fields: (t) => ({
    kept: t.exposeInt('kept', { description: 'What was paid and not given back.' }),
    cost: t.exposeFloat('cost', {
      nullable: true,
      description:
        'What the task costs at its providers, as `Task.cost`. Null when a price is unknown or in another currency, which is never 0.',
    }),
    margin: t.exposeFloat('margin', {
      nullable: true,
      description: '`kept` without `cost`; null when that is.',
    }),
    estimated: t.exposeBoolean('isEstimated', {
      description: 'Whether some of the cost is expected instead of measured: always while it runs.',
    }),
  }),
});

builder.objectField(Payment, 'margin', (t) =>
  t.field({
    type: PaymentMargin,
    nullable: true,
    description: 'What the sale leaves; null before its execution, and for everybody but administrators.',
    async resolve(payment, _, { caller, authMode, loaders }) {
      if (payment.executionId === null || decide('admin', caller, authMode) !== 'allow') return null;
      const taskId = await loaders.taskIds.load(payment.executionId);
      return computeMargin(payment, taskId === null ? null : await loaders.taskCosts.load(taskId));
    },
  }),
);

const PaymentSum = builder.objectRef<PaymentSumShape>('PaymentSum').implement({
  description: 'The total of the payments of a list in one currency and status.',
  fields: (t) => ({
    currency: t.exposeString('currency', { description: 'Lower-case ISO 4217.' }),
    status: t.expose('status', { type: PaymentStatus, description: 'Where they stand.' }),
    count: t.exposeInt('count', { description: 'How many there are.' }),
    amount: t.exposeFloat('amount', { description: 'Their amounts together, in minor units.' }),
    amountRefunded: t.exposeFloat('amountRefunded', {
      description: 'What was given back of them, in minor units.',
    }),
  }),
});

const PaymentConnection = connection(Payment, {
  name: 'Payment',
  readItems: ({ items }: Page<PaymentShape, PaymentSumShape>) => items,
  readCount: ({ count }) => count(),
});

builder.objectField(PaymentConnection, 'sums', (t) =>
  t.field({
    type: [PaymentSum],
    description: 'Totals of the payments on all pages, by currency and status.',
    resolve: async ({ sums }) => [...(await sums())],
  }),
);

const PaymentFilter = builder.inputType('PaymentFilter', {
  description: 'Which payments a list has; all that is given must hold.',
  fields: (t) => ({
    statuses: t.field({ type: [PaymentStatus], description: 'Those that stand so.' }),
    templateCode: t.id({ description: 'Those of this template.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Those of then or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Those of before then.' }),
  }),
});

/** Cursors are ids of payments. */
function parseCursor(after: string | null | undefined): string | null {
  if (after === null || after === undefined || /^pay_[a-z0-9]{1,64}$/.test(after)) return after ?? null;
  throw badInput('after', 'after must be a cursor of this list');
}

builder.queryField('payments', (t) =>
  t.field({
    type: PaymentConnection,
    description:
      "The caller's own payments, newest first; of anybody for service keys and admins. Empty without a caller, unless somebody is named who has never signed in.",
    rule: 'owner',
    args: {
      userId: t.arg.id({
        description: 'Only those that were bought for this user; `totalCount` counts all of them.',
      }),
      filter: t.arg({ type: PaymentFilter, description: 'Only those that it fits.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: '`endCursor` of the page before.' }),
    },
    resolve: async (_, { userId, filter, first, after }, context) => {
      const page = { first: boundedFirst(first, 1000), after: parseCursor(after) };
      const request = {
        userId: await namedUser(context, userId),
        filter: givenMembers(filter ?? {}),
        ...page,
      };
      return context.services.payments.list(context.caller, request);
    },
  }),
);

builder.objectField(User, 'payments', (t) =>
  t.field({
    type: PaymentConnection,
    description: 'What was bought for them, newest first, as far as the caller may see it.',
    args: {
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: '`endCursor` of the page before.' }),
    },
    resolve: ({ id }, { first, after }, { caller, services }) =>
      services.payments.list(caller, {
        userId: id,
        first: boundedFirst(first, 1000),
        after: parseCursor(after),
      }),
  }),
);
