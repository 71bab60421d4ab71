import { Stripe } from 'stripe';

import type { CheckoutState } from '../../domain/payment.ts';
import { PayProviderError, type PayEvent, type PayProvider } from './pay-provider.ts';
import { createStripeCatalog } from './stripe-catalog.ts';
import { called, toPayError, checkedId } from './stripe-errors.ts';
import { toPayEvent } from './stripe-events.ts';
import { findRefund, listRefunds, refund } from './stripe-refunds.ts';

/**
 * Stripe. The same code calls api.stripe.com and the sandbox's stand-in: only host, port and protocol differ. The SDK pins
 * the version of the API. Decisive fields of answers are checked, because the SDK accepts any JSON body without an
 * `error`, whatever its status.
 */
export interface StripeOptions {
  /** STRIPE_SECRET_KEY, or the stand-in's. */
  readonly secretKey: string;
  /** STRIPE_WEBHOOK_SECRETS: the current one first; several while they are being changed. */
  readonly webhookSecrets: readonly string[];
  /** Origin of the stand-in; null is the real service. */
  readonly baseUrl: string | null;
}

const TIMEOUT_MS = 15_000;
const RETRIES = 2;
/** Clock tolerance of webhook signatures, in seconds. */
const TOLERANCE_SECONDS = 300;
/** Largest page of a list at Stripe. */
const PAGE = 100;

/** The adapter over Stripe's SDK; stripe.ts loads it. */
export function createStripeAdapter(
  options: StripeOptions,
  environment: PayProvider['environment'],
): PayProvider {
  const stripe = createClient(options);
  return {
    environment,
    account: () =>
      called(async () => {
        const account = await stripe.accounts.retrieveCurrent();
        return {
          id: checkedId(account.id, 'acct_'),
          chargesEnabled: account.charges_enabled,
          country: account.country ?? null,
          isLive: environment === 'live',
        };
      }),
    createCheckout: (request) => called(() => createCheckout(stripe, environment, request)),
    readCheckoutState: (sessionId) => called(() => readCheckoutState(stripe, sessionId)),
    expireCheckout: (sessionId) => called(() => expire(stripe, sessionId)),
    sessionOfIntent: (paymentIntentId) =>
      called(async () => {
        const { data } = await stripe.checkout.sessions.list({ payment_intent: paymentIntentId, limit: 1 });
        return data[0]?.id ?? null;
      }),
    refund: (request) => called(() => refund(stripe, environment, request)),
    listRefunds: (paymentIntentId) => called(() => listRefunds(stripe, paymentIntentId)),
    findRefund: (request) => called(() => findRefund(stripe, request)),
    readEvent: async (body, signature) =>
      toPayEvent(verified(stripe, options.webhookSecrets, { body, signature })),
    undelivered: (since) => undelivered(stripe, since),
    catalog: createStripeCatalog(stripe, environment),
  };
}

function createClient({ secretKey, baseUrl }: StripeOptions): Stripe {
  const place = baseUrl === null ? null : new URL(baseUrl);
  const isPlain = place?.protocol === 'http:';
  return new Stripe(secretKey, {
    ...(place === null
      ? {}
      : {
          host: place.hostname,
          port: place.port === '' ? (isPlain ? 80 : 443) : Number(place.port),
          protocol: isPlain ? ('http' as const) : ('https' as const),
        }),
    maxNetworkRetries: RETRIES,
    timeout: TIMEOUT_MS,
    telemetry: false,
    appInfo: { name: 'kiln' },
  });
}

async function createCheckout(
  stripe: Stripe,
  environment: string,
  request: Parameters<PayProvider['createCheckout']>[0],
) {
  const { paymentId, priceId, templateCode, userId } = request;
  const { receipts, tax, promotionCodes } = request.switches ?? {};
  const metadata = {
    app: 'kiln',
    payment_id: paymentId,
    template_code: templateCode,
    user_id: userId.slice(0, 500),
  };
  const session = await stripe.checkout.sessions.create(
    {
      mode: 'payment',
      line_items: [{ price: priceId, quantity: 1 }],
      client_reference_id: paymentId,
      metadata,
      // The session's metadata is not copied to the intent, and refund events carry only the intent's.
      payment_intent_data: { metadata },
      success_url: request.successUrl,
      cancel_url: request.cancelUrl,
      ...(request.email ? { customer_email: request.email } : {}),
      ...(receipts ? { invoice_creation: { enabled: true } } : {}),
      ...(tax ? { automatic_tax: { enabled: true } } : {}),
      ...(promotionCodes ? { allow_promotion_codes: true } : {}),
      expires_at: Math.floor(request.expiresAt.getTime() / 1000),
    },
    { idempotencyKey: `${environment}:checkout:${paymentId}` },
  );
  if (!session.url)
    throw new PayProviderError('REFUSED', 'the payment provider opened no page for this checkout');
  return { sessionId: checkedId(session.id, 'cs_'), url: session.url };
}

async function readCheckoutState(stripe: Stripe, sessionId: string): Promise<CheckoutState> {
  const session = await stripe.checkout.sessions.retrieve(sessionId, {
    expand: ['payment_intent.latest_charge'],
  });
  const intent = typeof session.payment_intent === 'object' ? session.payment_intent : null;
  const charge = typeof intent?.latest_charge === 'object' ? intent.latest_charge : null;
  const isPaid = session.payment_status === 'paid' || session.payment_status === 'no_payment_required';
  return {
    sessionId: checkedId(session.id, 'cs_'),
    paymentId: session.client_reference_id ?? session.metadata?.['payment_id'] ?? null,
    session: parseState(session.status),
    isPaid,
    // A pending bank transfer has the status `requires_action`.
    isSettling: !isPaid && (intent?.status === 'processing' || intent?.status === 'requires_action'),
    paymentIntentId:
      intent?.id ?? (typeof session.payment_intent === 'string' ? session.payment_intent : null),
    amount: session.amount_total ?? 0,
    currency: session.currency ?? '',
    amountRefunded: charge?.amount_refunded ?? 0,
    isDisputed: charge?.disputed === true && (await isDisputeOpen(stripe, intent?.id ?? null)),
  };
}

/** An unknown status means open, which decides nothing. */
function parseState(status: string | null): CheckoutState['session'] {
  if (status === 'complete') return 'complete';
  return status === 'expired' ? 'expired' : 'open';
}

/** `charge.disputed` stays true when a dispute was won. There may be several, each of a part. */
async function isDisputeOpen(stripe: Stripe, paymentIntentId: string | null): Promise<boolean> {
  if (paymentIntentId === null) return false;
  const { data } = await stripe.disputes.list({ payment_intent: paymentIntentId, limit: PAGE });
  return data.some(({ status }) => status !== 'won' && status !== 'warning_closed');
}

async function expire(stripe: Stripe, sessionId: string): Promise<CheckoutState> {
  try {
    await stripe.checkout.sessions.expire(sessionId);
  } catch (error) {
    // Complete or expired already: its state is read below.
    if (toPayError(error).code !== 'REFUSED') throw error;
  }
  return readCheckoutState(stripe, sessionId);
}

async function* undelivered(stripe: Stripe, since: Date): AsyncGenerator<PayEvent> {
  const created = { gt: Math.floor(since.getTime() / 1000) };
  try {
    for await (const event of stripe.events.list({ delivery_success: false, created, limit: PAGE })) {
      yield toPayEvent(event);
    }
  } catch (error) {
    throw toPayError(error);
  }
}

/** Accepts any of the secrets, so that a secret can be rotated without losing events. */
function verified(
  stripe: Stripe,
  secrets: readonly string[],
  { body, signature }: { readonly body: Buffer; readonly signature: string },
): Stripe.Event {
  for (const secret of secrets) {
    try {
      return stripe.webhooks.constructEvent(body, signature, secret, TOLERANCE_SECONDS);
    } catch (error) {
      if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) throw toPayError(error);
    }
  }
  throw new PayProviderError(
    'NOT_AUTHENTIC',
    'the signature of this event is none of ours, or it is too old',
  );
}
