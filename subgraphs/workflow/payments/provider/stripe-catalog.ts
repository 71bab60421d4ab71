import type { Stripe } from 'stripe';

import type { CatalogEntry, CatalogProduct, CatalogProvider } from './pay-provider.ts';
import { called, toPayError } from './stripe-errors.ts';

/** Products and prices at Stripe. Lists by lookup key are strongly consistent there; its search is not. */
export function createStripeCatalog(stripe: Stripe, environment: string): CatalogProvider {
  return {
    find: (lookupKey) =>
      called(async () => {
        const { data } = await stripe.prices.list({
          lookup_keys: [lookupKey],
          limit: 1,
          expand: ['data.product'],
        });
        const [price] = data;
        return price === undefined ? null : toEntry(price);
      }),
    read: (productId, priceId) => called(() => read(stripe, productId, priceId)),
    createProduct: ({ idempotencyKey, ...product }) =>
      called(async () => {
        const made = await stripe.products.create(
          {
            ...buildBody(product, environment),
            ...(product.description ? { description: product.description } : {}),
          },
          { idempotencyKey },
        );
        return made.id;
      }),
    updateProduct: (id, { defaultPriceId, ...product }) =>
      called(async () => {
        await stripe.products.update(id, {
          ...buildBody(product, environment),
          // An empty text removes the description.
          description: product.description ?? '',
          ...(defaultPriceId === undefined ? {} : { default_price: defaultPriceId }),
        });
      }),
    createPrice: ({ productId, amount, currency, lookupKey, idempotencyKey }) =>
      called(async () => {
        const made = await stripe.prices.create(
          {
            product: productId,
            unit_amount: amount,
            currency,
            lookup_key: lookupKey,
            transfer_lookup_key: true,
            metadata: { app: 'kiln' },
          },
          { idempotencyKey },
        );
        return made.id;
      }),
    archivePrice: (id) => called(async () => void (await stripe.prices.update(id, { active: false }))),
  };
}

async function read(stripe: Stripe, productId: string, priceId: string): Promise<CatalogEntry | null> {
  try {
    const price = await stripe.prices.retrieve(priceId, { expand: ['product'] });
    const entry = toEntry(price);
    return entry?.productId === productId ? entry : null;
  } catch (error) {
    if (toPayError(error).code === 'NOT_FOUND') return null;
    throw error;
  }
}

function toEntry(price: Stripe.Price): CatalogEntry | null {
  const { product } = price;
  if (typeof product === 'string' || product.deleted === true) return null;
  return {
    productId: product.id,
    priceId: price.id,
    name: product.name,
    isActive: product.active && price.active,
    amount: price.unit_amount ?? 0,
    currency: price.currency,
  };
}

function buildBody({ templateCode, name, isActive }: CatalogProduct, environment: string) {
  return {
    name,
    active: isActive,
    metadata: { app: 'kiln', env: environment, template_code: templateCode },
  };
}
