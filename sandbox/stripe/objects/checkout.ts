import { currencyIn, type StripeContext } from './catalog.ts';
import { DEFAULT_SESSION } from './defaults.ts';
import { invalid } from './failure.ts';
import { booleanIn, integerIn, listIn, metadataIn, textIn, type Form, type FormValue } from './form.ts';
import { newId, nowSeconds, published, type StripeObject } from './state.ts';

/** Checkout sessions: open until paid or expired. */

/** Earliest and latest expiry, in seconds from now, with some tolerance. */
const SHORTEST = 30 * 60 - 5;
const LONGEST = 24 * 3_600 + 5;
/** Least amount, in minor units, by currency. */
const LEAST: Readonly<Record<string, number>> = { usd: 50, eur: 50, gbp: 30, hkd: 400, jpy: 50, sgd: 50 };

interface Item {
  readonly [name: string]: unknown;
  readonly amount_total: number;
  readonly currency: string;
}

/** What Stripe does not take of the buyer's address, or of the currency that they see. */
function checkBuyer(form: Form): void {
  currencyIn(form);
  const email = textIn(form, 'customer_email');
  if (email === undefined || /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/.test(email)) return;
  throw invalid(`Invalid email address: ${email}`, 'customer_email', 'email_invalid');
}

/** Creates a session. `toPageUrl` gives the address of its page. */
export function createSession(
  world: StripeContext,
  form: Form,
  toPageUrl: (id: string) => string,
): StripeObject {
  checkSession(form);
  checkBuyer(form);
  const items = listIn(form, 'line_items').map((item, index) => readItem(world, item, index));
  const [first] = items;
  if (first === undefined)
    throw invalid('Missing required param: line_items.', 'line_items', 'parameter_missing');
  const total = items.reduce((sum, item) => sum + item.amount_total, 0);
  const least = LEAST[first.currency] ?? 1;
  if (total > 0 && total < least) {
    throw invalid(
      "The Checkout Session's total amount must convert to at least 50 cents.",
      undefined,
      'amount_too_small',
    );
  }
  const id = newId('cs_test_', 58);
  return world.state.add('checkout.session', {
    ...structuredClone(DEFAULT_SESSION),
    id,
    object: 'checkout.session',
    amount_subtotal: total,
    amount_total: total,
    allow_promotion_codes: booleanIn(form, 'allow_promotion_codes') ?? null,
    automatic_tax: { ...DEFAULT_SESSION.automatic_tax, ...enabledIn(form, 'automatic_tax') },
    invoice_creation:
      form['invoice_creation'] === undefined ? null : { ...INVOICES, ...enabledIn(form, 'invoice_creation') },
    cancel_url: textIn(form, 'cancel_url') ?? null,
    client_reference_id: textIn(form, 'client_reference_id') ?? null,
    created: nowSeconds(),
    currency: first.currency,
    customer_email: textIn(form, 'customer_email') ?? null,
    expires_at: integerIn(form, 'expires_at') ?? nowSeconds() + 24 * 3_600,
    locale: textIn(form, 'locale') ?? null,
    metadata: metadataIn(form),
    success_url: textIn(form, 'success_url'),
    url: toPageUrl(id),
    _items: items,
    _intentMetadata: metadataIn((form['payment_intent_data'] ?? {}) as Form),
  });
}

/** What Stripe answers of invoices beside whether they are made. */
const INVOICES = {
  invoice_data: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: null,
    metadata: {},
    rendering_options: null,
  },
};

/** `enabled` of a parameter, which Stripe wants with it. */
function enabledIn(form: Form, name: string): object {
  if (form[name] === undefined) return {};
  const enabled = booleanIn(form[name] as Form, 'enabled');
  if (enabled === undefined) {
    throw invalid(`Missing required param: ${name}[enabled].`, `${name}[enabled]`, 'parameter_missing');
  }
  return { enabled };
}

function checkSession(form: Form): void {
  const mode = textIn(form, 'mode');
  if (mode === undefined) throw invalid('You must specify `mode`', 'mode', 'parameter_missing');
  if (mode !== 'payment') throw invalid('the stand-in knows mode=payment only', 'mode');
  const uiMode = textIn(form, 'ui_mode') ?? 'hosted_page';
  if (uiMode !== 'hosted_page') throw invalid('the stand-in knows ui_mode=hosted_page only', 'ui_mode');
  const success = textIn(form, 'success_url')?.replace('{CHECKOUT_SESSION_ID}', 'x') ?? '';
  if (!URL.canParse(success)) throw invalid('Not a valid URL', 'success_url', 'url_invalid');
  const cancel = textIn(form, 'cancel_url');
  if (cancel !== undefined && !URL.canParse(cancel))
    throw invalid('Not a valid URL', 'cancel_url', 'url_invalid');
  if ((textIn(form, 'client_reference_id') ?? '').length > 200) {
    throw invalid('client_reference_id is limited to 200 characters', 'client_reference_id');
  }
  const ahead = (integerIn(form, 'expires_at') ?? nowSeconds() + 24 * 3_600) - nowSeconds();
  if (ahead < SHORTEST || ahead > LONGEST) {
    throw invalid(
      'The `expires_at` timestamp must be between 30 minutes and 24 hours from now.',
      'expires_at',
    );
  }
}

function readItem({ state }: StripeContext, value: FormValue, index: number): Item {
  const param = `line_items[${index}]`;
  if (typeof value === 'string' || Array.isArray(value)) throw invalid('Invalid object', param);
  const priceId = textIn(value, 'price');
  if (priceId === undefined) throw invalid('the stand-in takes prices by id only', `${param}[price_data]`);
  const price = state.get('price', priceId, `${param}[price]`);
  const product = state.get('product', String(price['product']));
  if (price['active'] !== true || product['active'] !== true) {
    throw invalid(
      'The price specified is inactive. This field only accepts active prices.',
      `${param}[price]`,
    );
  }
  const quantity = integerIn(value, 'quantity') ?? 1;
  if (quantity < 1) throw invalid('This value must be greater than or equal to 1.', `${param}[quantity]`);
  const total = Number(price['unit_amount']) * quantity;
  return {
    id: newId('li_'),
    object: 'item',
    adjustable_quantity: null,
    amount_discount: 0,
    amount_subtotal: total,
    amount_tax: 0,
    amount_total: total,
    currency: String(price['currency']),
    description: product['name'],
    metadata: {},
    price: published(price),
    quantity,
  };
}

/** Expires an open session. */
export function expireSession({ state, events }: StripeContext, id: string): StripeObject {
  const session = state.get('checkout.session', id);
  if (session['status'] !== 'open') {
    throw invalid(
      `Only Checkout Sessions with a status in ["open"] can be expired. This Checkout Session has a status of ${String(session['status'])}.`,
    );
  }
  session['status'] = 'expired';
  session['url'] = null;
  events.emit('checkout.session.expired', session);
  return session;
}

/** Expires overdue sessions. */
export function expireOverdue(world: StripeContext): boolean {
  const now = nowSeconds();
  const overdue = world.state
    .all('checkout.session')
    .filter((session) => session['status'] === 'open' && Number(session['expires_at']) <= now);
  for (const session of overdue) expireSession(world, session.id);
  return overdue.length > 0;
}

/** Sessions of a list request. */
export function listSessions({ state }: StripeContext, form: Form): readonly StripeObject[] {
  const [intent, status] = [textIn(form, 'payment_intent'), textIn(form, 'status')];
  return state
    .all('checkout.session')
    .filter(
      (one) =>
        (intent === undefined || one['payment_intent'] === intent) &&
        (status === undefined || one['status'] === status),
    );
}
