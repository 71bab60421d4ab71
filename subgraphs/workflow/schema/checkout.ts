import { internalCaller } from '../../../platform/access/caller.ts';
import { badInput } from '../../../platform/errors.ts';
import type { Payment as PaymentShape } from '../domain/payment.ts';
import { isStranger } from '../domain/redaction.ts';
import type { OpenedCheckout } from '../payments/checkout.ts';
import type { PaymentKey } from '../payments/service.ts';
import { builder } from './builder.ts';
import { namedUser, type WorkflowContext } from './context.ts';
import { Payment } from './payment.ts';

const Checkout = builder.objectRef<OpenedCheckout>('Checkout').implement({
  description: 'A checkout that is open.',
  fields: (t) => ({
    payment: t.field({
      type: Payment,
      description: 'The payment to be.',
      resolve({ payment }, _, { proved }) {
        proved.add(payment.id);
        return payment;
      },
    }),
    sessionId: t.exposeString('sessionId', { description: 'The session at the payment provider.' }),
    url: t.exposeString('url', { description: 'The page where it is paid.' }),
  }),
});

builder.mutationField('checkout', (t) =>
  t.field({
    type: Checkout,
    description:
      'Opens a checkout for one execution of a template. The parameters are checked now: nobody pays for what can not run.',
    rule: 'owner',
    scope: 'start',
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

function toPaymentKey({
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
      'Asks the payment provider what is true of a payment; one that is paid starts its execution, once. Its session is the proof of who comes back from the checkout without a credential; a service key needs the scope `read`.',
    rule: 'proof',
    scope: 'read',
    args: paymentKeyArgs,
    async resolve(_, key, context) {
      const payment = await context.services.payments.reconcile(context.caller, toPaymentKey(key));
      if (key.sessionId) await showExecution(payment, context, key.sessionId);
      return payment;
    },
  }),
);

/** Shows the execution to a caller who knows the session, even without a credential. */
async function showExecution(
  { id, executionId, ppSessionId }: PaymentShape,
  { caller, services, loaders, proved }: WorkflowContext,
  sessionId: string,
): Promise<void> {
  if (ppSessionId === sessionId) proved.add(id);
  if (executionId === null || ppSessionId === null) return;
  const [execution = null] = await services.executions.byIds(internalCaller(caller.traceId), [executionId]);
  if (ppSessionId === sessionId) proved.add(executionId);
  loaders.executions.clear(executionId).prime(executionId, execution);
}

builder.mutationField('cancelPayment', (t) =>
  t.field({
    type: Payment,
    description:
      'Ends an open checkout, so that it can not be paid any more. What was paid stays paid, and is answered so. Who comes back from the checkout without a credential needs no more than its id, while it is unpaid; outside of open mode also its session where the buyer had no credential either, else nothing is ended.',
    rule: 'proof',
    scope: 'manage',
    args: paymentKeyArgs,
    resolve: (_, key, { caller, authMode, services }) =>
      services.payments.cancel(caller, toPaymentKey(key), { isStranger: isStranger(caller, authMode) }),
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
