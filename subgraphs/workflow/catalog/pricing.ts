import { createHash } from 'node:crypto';

import { badInput } from '../../../platform/errors.ts';
import { MAX_AMOUNT, type Template } from '../domain/template.ts';
import { notConfigured, type PayProvider } from '../payments/provider/pay-provider.ts';

/** The currency of templates, and the price of a credit. */
export interface PricingOptions {
  /** PP_CURRENCY, lower case. */
  readonly currency: string;
  /** PP_CREDIT_UNIT_AMOUNT: minor units of one credit. */
  readonly creditUnitAmount: number;
}

/** Milliseconds that the provider's account is cached. */
const ACCOUNT_MS = 60_000;

/** Looks up which account the provider's key belongs to: ids of one account are invalid in another. */
export function createAccountLookup(provider: PayProvider | null): () => Promise<string> {
  let cached: { readonly at: number; readonly account: Promise<string> } | null = null;
  return () => {
    if (provider === null) throw notConfigured();
    if (cached === null || Date.now() - cached.at > ACCOUNT_MS) {
      const account = provider.account().then(({ id, isLive }) => `${id}/${isLive ? 'live' : 'test'}`);
      cached = { at: Date.now(), account };
      account.catch(() => {
        cached = null;
      });
    }
    return cached.account;
  };
}

/** What the price of a template depends on. */
export type PricedTemplate = Pick<Template, 'creditCost' | 'price' | 'currency'>;

/** The price of one execution of a template, in minor units: its own, else that of its credits. */
export function findAmount(
  { creditUnitAmount }: PricingOptions,
  { creditCost, price }: Pick<Template, 'creditCost' | 'price'>,
): number {
  return price ?? creditCost * creditUnitAmount;
}

/** The currency of a template: its own, else the usual one. */
export function findCurrency(options: PricingOptions, { currency }: Pick<Template, 'currency'>): string {
  return currency ?? options.currency;
}

/** Least amounts that Stripe charges, in minor units (docs.stripe.com/currencies#minimum-and-maximum-charge-amounts). */
const LEAST: Readonly<Record<string, number>> = {
  aed: 200,
  aud: 50,
  bgn: 100,
  brl: 50,
  cad: 50,
  chf: 50,
  czk: 1_500,
  dkk: 250,
  eur: 50,
  gbp: 30,
  hkd: 400,
  huf: 17_500,
  inr: 50,
  jpy: 50,
  mxn: 1_000,
  myr: 200,
  nok: 300,
  nzd: 50,
  pln: 200,
  ron: 200,
  sek: 300,
  sgd: 50,
  thb: 1_000,
  usd: 50,
};

/** The least amount that the provider charges in a currency; 0 needs no payment. */
export function leastAmount(currency: string): number {
  return LEAST[currency] ?? 1;
}

/**
 * Most that Stripe charges by any method, in minor units (the same page): twelve digits of IDR, ten of COP, nine of INR, eight
 * of all others. Cards may take more.
 */
const MOST: Readonly<Record<string, number>> = { cop: MAX_AMOUNT, idr: MAX_AMOUNT, inr: 999_999_999 };
const MOST_OF_OTHERS = 99_999_999;

/** Refuses a price that the provider would not charge. BAD_USER_INPUT. */
export function checkPrice(options: PricingOptions, template: PricedTemplate): void {
  const currency = findCurrency(options, template);
  const [amount, least] = [findAmount(options, template), leastAmount(currency)];
  const most = MOST[currency] ?? MOST_OF_OTHERS;
  if (amount === 0 || (amount >= least && amount <= most)) return;
  const isOwn = template.price !== null;
  const field = isOwn ? 'price' : 'creditCost';
  const [unit, what] = isOwn ? [1, ''] : [options.creditUnitAmount, ' credits'];
  const bound =
    amount < least
      ? `less than the payment provider charges, ${least}; take 0 or at least ${Math.ceil(least / unit)}`
      : `more than can be charged, ${most}; take at most ${Math.floor(most / unit)}`;
  throw badInput(field, `${field}: ${amount} ${currency} (minor units) is ${bound}${what}`);
}

/** The provider's lookup key of a template's price: finds it again when its ids are lost. */
export function toLookupKey(options: PricingOptions, environment: string, template: Template): string {
  return `${environment}:template:${template.code}:${findCurrency(options, template)}`;
}

/** A hash of everything the provider is told about a template; unchanged means nothing to update. */
export function hashContent(options: PricingOptions, template: Template): string {
  const { name, description, isActive } = template;
  const content = [
    name,
    description,
    isActive,
    findAmount(options, template),
    findCurrency(options, template),
  ];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
