import { DEFAULT_PRODUCT } from './defaults.ts';
import type { Events } from './events.ts';
import { invalid } from './failure.ts';
import { booleanIn, integerIn, listIn, metadataIn, textIn, type Form } from './form.ts';
import { newId, nowSeconds, type State, type StripeObject } from './state.ts';

/** Products and prices. Amounts can't change, a default price can't be archived, a lookup key belongs to one price. */
export interface StripeContext {
  readonly state: State;
  readonly events: Events;
}

/** POST /v1/products. */
export function createProduct({ state, events }: StripeContext, form: Form): StripeObject {
  const name = textIn(form, 'name');
  if (name === undefined || name === '')
    throw invalid('Missing required param: name.', 'name', 'parameter_missing');
  const id = textIn(form, 'id') ?? newId('prod_', 14);
  if (state.find('product', id)) throw invalid('Product already exists.', 'id', 'resource_already_exists');
  const product = state.add('product', {
    ...structuredClone(DEFAULT_PRODUCT),
    id,
    object: 'product',
    active: booleanIn(form, 'active') ?? true,
    created: nowSeconds(),
    updated: nowSeconds(),
    default_price: null,
    description: textIn(form, 'description') || null,
    livemode: false,
    metadata: metadataIn(form),
    name,
  });
  events.emit('product.created', product);
  return product;
}

/** POST /v1/products/{id}. */
export function updateProduct({ state, events }: StripeContext, id: string, form: Form): StripeObject {
  const product = state.get('product', id);
  const priceId = textIn(form, 'default_price');
  if (priceId !== undefined) {
    const price = state.get('price', priceId, 'default_price');
    if (price['product'] !== id) {
      throw invalid(`The price ${priceId} does not belong to product ${id}`, 'default_price');
    }
    product['default_price'] = priceId;
  }
  const description = textIn(form, 'description');
  product['name'] = textIn(form, 'name') ?? product['name'];
  if (description !== undefined) product['description'] = description === '' ? null : description;
  product['active'] = booleanIn(form, 'active') ?? product['active'];
  product['metadata'] = metadataIn(form, product['metadata'] as Record<string, string>);
  product['updated'] = nowSeconds();
  events.emit('product.updated', product);
  return product;
}

/** DELETE /v1/products/{id}: only one without prices. */
export function deleteProduct({ state, events }: StripeContext, id: string): StripeObject {
  const product = state.get('product', id);
  if (state.all('price').some((price) => price['product'] === id)) {
    throw invalid('This product cannot be deleted because it has one or more user-created prices.');
  }
  state.remove('product', id);
  events.emit('product.deleted', product);
  return { id, object: 'product', deleted: true };
}

/** The currencies that Stripe presents prices in. */
const CURRENCIES: ReadonlySet<string> = new Set(
  `
    aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bif bmd bnd bob brl bsd bwp byn bzd cad
    cdf chf clp cny cop crc cve czk djf dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gnf gtq gyd
    hkd hnl htg huf idr ils inr isk jmd jpy kes kgs khr kmf krw kyd kzt lak lbp lkr lrd lsl mad mdl
    mga mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln pyg
    qar ron rsd rub rwf sar sbd scr sek sgd shp sle sos srd std szl thb tjs top try ttd twd tzs uah
    ugx usd uyu uzs vnd vuv wst xaf xcd xof xpf yer zar zmw`
    .trim()
    .split(/\s+/),
);

/** The currency of a request, in lower case. Refuses one that Stripe does not know. */
export function currencyIn(form: Form): string | undefined {
  const currency = textIn(form, 'currency');
  if (currency === undefined || CURRENCIES.has(currency.toLowerCase())) return currency?.toLowerCase();
  throw invalid(`Invalid currency: ${currency}. Stripe does not support it.`, 'currency');
}

/** POST /v1/prices. */
export function createPrice({ state, events }: StripeContext, form: Form): StripeObject {
  const currency = currencyIn(form);
  if (!currency) throw invalid('Missing required param: currency.', 'currency', 'parameter_missing');
  const product = textIn(form, 'product');
  if (!product) {
    throw invalid('You must specify either `product` or `product_data`.', 'product', 'parameter_missing');
  }
  state.get('product', product, 'product');
  const amount = integerIn(form, 'unit_amount');
  if (amount === undefined)
    throw invalid('Missing required param: unit_amount.', 'unit_amount', 'parameter_missing');
  if (amount < 0) throw invalid('Invalid non-negative integer', 'unit_amount', 'parameter_invalid_integer');
  const lookupKey = textIn(form, 'lookup_key') ?? null;
  if (lookupKey !== null) takeLookupKey(state, lookupKey, booleanIn(form, 'transfer_lookup_key') ?? false);
  const price = state.add('price', {
    id: newId('price_'),
    object: 'price',
    active: booleanIn(form, 'active') ?? true,
    billing_scheme: 'per_unit',
    created: nowSeconds(),
    currency,
    custom_unit_amount: null,
    livemode: false,
    lookup_key: lookupKey,
    metadata: metadataIn(form),
    nickname: textIn(form, 'nickname') ?? null,
    product,
    recurring: null,
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: 'one_time',
    unit_amount: amount,
    unit_amount_decimal: String(amount),
  });
  events.emit('price.created', price);
  return price;
}

function takeLookupKey(state: State, key: string, isTransfer: boolean): void {
  const other = state.all('price').find((price) => price['lookup_key'] === key);
  if (other === undefined) return;
  if (!isTransfer) throw invalid(`A price (\`${other.id}\`) already uses that lookup key.`, 'lookup_key');
  other['lookup_key'] = null;
}

/** POST /v1/prices/{id}: a default price can't be archived. */
export function updatePrice({ state, events }: StripeContext, id: string, form: Form): StripeObject {
  const price = state.get('price', id);
  const active = booleanIn(form, 'active');
  const product = state.find('product', String(price['product']));
  if (active === false && product?.['default_price'] === id) {
    throw invalid('This price cannot be archived because it is the default price of its product.', 'active');
  }
  const lookupKey = textIn(form, 'lookup_key');
  if (lookupKey !== undefined && lookupKey !== '') {
    takeLookupKey(state, lookupKey, booleanIn(form, 'transfer_lookup_key') ?? false);
  }
  price['active'] = active ?? price['active'];
  price['metadata'] = metadataIn(form, price['metadata'] as Record<string, string>);
  if (lookupKey !== undefined) price['lookup_key'] = lookupKey === '' ? null : lookupKey;
  events.emit('price.updated', price);
  return price;
}

/** Products of a list request. */
export function listProducts({ state }: StripeContext, form: Form): readonly StripeObject[] {
  const [active, ids] = [booleanIn(form, 'active'), listIn(form, 'ids')];
  return state
    .all('product')
    .filter(
      (one) =>
        (active === undefined || one['active'] === active) && (ids.length === 0 || ids.includes(one.id)),
    );
}

/** Prices of a list request. */
export function listPrices({ state }: StripeContext, form: Form): readonly StripeObject[] {
  const [active, product, keys, currency] = [
    booleanIn(form, 'active'),
    textIn(form, 'product'),
    listIn(form, 'lookup_keys'),
    currencyIn(form),
  ];
  return state
    .all('price')
    .filter(
      (one) =>
        (currency === undefined || one['currency'] === currency) &&
        (active === undefined || one['active'] === active) &&
        (product === undefined || one['product'] === product) &&
        (keys.length === 0 || keys.includes(String(one['lookup_key']))),
    );
}
