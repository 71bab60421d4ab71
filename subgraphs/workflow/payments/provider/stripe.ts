import { once } from '../../../../platform/once.ts';
import type { PayProvider } from './pay-provider.ts';
import type { StripeOptions } from './stripe-sdk.ts';

export type { StripeOptions };

/** Creates the adapter. It makes no call until it is used, and loads the SDK then: 270 modules that few starts need. */
export function createStripe(options: StripeOptions): PayProvider {
  const environment = detectEnvironment(options);
  const adapter = once(() => load(options, environment));
  return {
    environment,
    account: async () => (await adapter()).account(),
    createCheckout: async (request) => (await adapter()).createCheckout(request),
    readCheckoutState: async (sessionId) => (await adapter()).readCheckoutState(sessionId),
    expireCheckout: async (sessionId) => (await adapter()).expireCheckout(sessionId),
    sessionOfIntent: async (paymentIntentId) => (await adapter()).sessionOfIntent(paymentIntentId),
    refund: async (request) => (await adapter()).refund(request),
    listRefunds: async (paymentIntentId) => (await adapter()).listRefunds(paymentIntentId),
    findRefund: async (request) => (await adapter()).findRefund(request),
    readEvent: async (body, signature) => (await adapter()).readEvent(body, signature),
    async *undelivered(since) {
      yield* (await adapter()).undelivered(since);
    },
    catalog: createCatalog(adapter),
  };
}

function createCatalog(adapter: () => Promise<PayProvider>): PayProvider['catalog'] {
  const catalog = async () => (await adapter()).catalog;
  return {
    find: async (lookupKey) => (await catalog()).find(lookupKey),
    read: async (productId, priceId) => (await catalog()).read(productId, priceId),
    createProduct: async (product) => (await catalog()).createProduct(product),
    updateProduct: async (id, product) => (await catalog()).updateProduct(id, product),
    createPrice: async (price) => (await catalog()).createPrice(price),
    archivePrice: async (id) => (await catalog()).archivePrice(id),
  };
}

async function load(options: StripeOptions, environment: PayProvider['environment']): Promise<PayProvider> {
  const { createStripeAdapter } = await import('./stripe-sdk.ts');
  return createStripeAdapter(options, environment);
}

function detectEnvironment({ secretKey, baseUrl }: StripeOptions): PayProvider['environment'] {
  if (baseUrl !== null) return 'development';
  return /^(sk|rk)_live_/.test(secretKey) ? 'live' : 'test';
}
