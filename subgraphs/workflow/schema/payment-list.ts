import { badInput } from '../../../platform/errors.ts';
import { boundedFirst, pageInfoOf } from '../../../platform/graphql/schema/paging.ts';
import type { Payment as PaymentShape } from '../domain/payment.ts';
import type { PaymentPage } from '../payments/service.ts';
import { builder } from './builder.ts';
import { namedUser } from './context.ts';
import { PageInfo } from './page-info.ts';
import { Payment } from './payment.ts';
import { User } from './user.ts';

const PaymentEdge = builder.objectRef<PaymentShape>('PaymentEdge').implement({
  description: 'A payment within a list.',
  fields: (t) => ({
    cursor: t.exposeString('id', { description: 'Send it as `after` to go on behind this payment.' }),
    node: t.field({ type: Payment, description: 'The payment.', resolve: (payment) => payment }),
  }),
});

const PaymentConnection = builder
  .objectRef<PaymentPage & { readonly after: string | null }>('PaymentConnection')
  .implement({
    description: 'A page of payments, newest first.',
    fields: (t) => ({
      edges: t.field({
        type: [PaymentEdge],
        description: 'The payments.',
        resolve: ({ payments }) => [...payments],
      }),
      totalCount: t.int({
        description: 'How many there are on all pages.',
        resolve: ({ count }) => count(),
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Where this page stands.',
        resolve: ({ payments, ...page }) => pageInfoOf(payments, page),
      }),
    }),
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
      const cursor = cursorOf(after);
      const page = { first: boundedFirst(first, 1000), after: cursor };
      const request = { userId: await namedUser(context, userId), ...page };
      return { ...(await context.services.payments.list(context.caller, request)), after: cursor };
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
    resolve: async ({ id }, { first, after }, { caller, services }) => {
      const cursor = cursorOf(after);
      const request = { userId: id, first: boundedFirst(first, 1000), after: cursor };
      return { ...(await services.payments.list(caller, request)), after: cursor };
    },
  }),
);
