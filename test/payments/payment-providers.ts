import { accessSync, constants } from 'node:fs';
import path from 'node:path';

import { Stripe } from 'stripe';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStripeStandIn, type StripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import type { StripeOptions } from '../../subgraphs/workflow/payments/provider/stripe.ts';

/** What the adapter is held to: the stand-in always, and what else there is: Stripe itself, and stripe-mock. */
export interface PaymentProviderUnderTest {
  readonly name: string;
  open(webhookUrl: string): Promise<OpenProvider>;
}

export interface OpenProvider {
  /** For the adapter. */
  readonly options: StripeOptions;
  /** The stand-in's hands: people, banks, outages. Null elsewhere. */
  readonly standIn: StripeStandIn | null;
  /** Whether it remembers what was written. */
  readonly isStateful: boolean;
  /** Charges a card without a page. Null where that is not possible. */
  readonly charge: ((amount: number) => Promise<Charged>) | null;
  close(): Promise<void>;
}

/** A payment by card. */
export interface Charged {
  readonly intent: string;
  /** Minor units that were given back by now. */
  refunded(): Promise<number>;
}

const standIn: PaymentProviderUnderTest = {
  name: 'the stand-in',
  async open(webhookUrl) {
    const { folder, remove } = await temporaryFolder();
    const made = await createStripeStandIn({
      dataDir: folder,
      pageUrl: 'http://127.0.0.1:1/pay',
      webhookUrl,
      pausesMs: [50, 50, 50, 50],
      logger: silentLogger(),
    });
    const { secretKey, webhookSecret, url } = made;
    return {
      options: { secretKey, webhookSecrets: [webhookSecret], baseUrl: url },
      standIn: made,
      isStateful: true,
      charge: null,
      async close() {
        await made.close();
        await remove();
      },
    };
  },
};

/** Stripe in test mode: no money moves, but products, prices and sessions stay in the account of the key. */
function realStripe(secretKey: string): PaymentProviderUnderTest {
  if (!/^(sk|rk)_test_/.test(secretKey)) throw new Error('STRIPE_TEST_KEY must be a key of test mode');
  const stripe = new Stripe(secretKey, { telemetry: false });
  return {
    name: 'Stripe in test mode',
    open: async () => ({
      options: { secretKey, webhookSecrets: ['whsec_none'], baseUrl: null },
      standIn: null,
      isStateful: true,
      async charge(amount) {
        const { id } = await stripe.paymentIntents.create({
          amount,
          currency: 'usd',
          confirm: true,
          payment_method: 'pm_card_visa',
          automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        });
        return {
          intent: id,
          async refunded() {
            const intent = await stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
            return typeof intent.latest_charge === 'object'
              ? (intent.latest_charge?.amount_refunded ?? 0)
              : 0;
          },
        };
      },
      close: () => Promise.resolve(),
    }),
  };
}

/** stripe-mock knows which requests Stripe's own description allows; it remembers nothing. */
function stripeMock(
  start: () => Promise<{ readonly url: string; readonly stop: () => Promise<void> }>,
): PaymentProviderUnderTest {
  return {
    name: 'stripe-mock',
    async open() {
      const { url, stop } = await start();
      return {
        options: { secretKey: 'sk_test_123', webhookSecrets: ['whsec_none'], baseUrl: url },
        standIn: null,
        isStateful: false,
        charge: null,
        close: stop,
      };
    },
  };
}

function onPath(program: string, { PATH = '' }: NodeJS.ProcessEnv): string | undefined {
  const files = PATH.split(path.delimiter).map((folder) => path.join(folder, program));
  return files.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** STRIPE_TEST_KEY adds Stripe itself; STRIPE_MOCK_URL, or a stripe-mock on the PATH, adds that. */
export function paymentProviders(environment: NodeJS.ProcessEnv): readonly PaymentProviderUnderTest[] {
  const { STRIPE_TEST_KEY: key, STRIPE_MOCK_URL: mockUrl } = environment;
  const program = onPath('stripe-mock', environment);
  return [
    standIn,
    ...(key ? [realStripe(key)] : []),
    ...(mockUrl
      ? [stripeMock(async () => ({ url: mockUrl, stop: () => Promise.resolve() }))]
      : program === undefined
        ? []
        : [stripeMock(async () => (await import('./stripe-mock.ts')).startStripeMock(program))]),
  ];
}
