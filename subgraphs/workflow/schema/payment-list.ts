import { badInput } from '../../../platform/errors.ts';
import { boundedFirst } from '../../../platform/graphql/schema/paging.ts';
import type { Page } from '../domain/page.ts';
import type { Payment as PaymentShape } from '../domain/payment.ts';
import { builder, connection } from './builder.ts';
import { namedUser } from './context.ts';
import { Payment } from './payment.ts';
import { User } from './user.ts';

const PaymentConnection = connection(Payment, {
  name: 'Payment',
  itemsOf: ({ items }: Page<PaymentShape>) => items,
  countOf: ({ count }) => count(),
});

/** Cursors are ids of payments. */
function cursorOf(after: string | null | undefined): string | null {
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
      userId: t.arg.id({ description: 'Only those that were bought for this user.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: '`endCursor` of the page before.' }),
    },
    resolve: async (_, { userId, first, after }, context) => {
      const page = { first: boundedFirst(first, 1000), after: cursorOf(after) };
      const request = { userId: await namedUser(context, userId), ...page };
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
        after: cursorOf(after),
      }),
  }),
);
