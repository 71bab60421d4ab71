import { createHash } from 'node:crypto';

import type { Template } from '../domain/template.ts';
import { notConfigured } from '../payments/failures.ts';
import type { PayProvider } from '../payments/provider/pay-provider.ts';

/** In what money, and for how much of it, templates are sold. */
export interface PricingOptions {
  /** PP_CURRENCY, lower case. */
  readonly currency: string;
  /** PP_CREDIT_UNIT_AMOUNT: minor units of one credit. */
  readonly creditUnitAmount: number;
}

/** Milliseconds that the provider's account is believed to be the same. */
const ACCOUNT_MS = 60_000;

/** Tells which of the provider's accounts the key is of: ids of one mean nothing in another. */
export function createAccountLookup(provider: PayProvider | null): () => Promise<string> {
  let known: { readonly at: number; readonly account: Promise<string> } | null = null;
  return () => {
    if (provider === null) throw notConfigured();
    if (known === null || Date.now() - known.at > ACCOUNT_MS) {
      const account = provider.account().then(({ id, isLive }) => `${id}/${isLive ? 'live' : 'test'}`);
      known = { at: Date.now(), account };
      account.catch(() => {
        known = null;
      });
    }
    return known.account;
  };
}

/** What one execution of a template costs, in minor units. */
export function amountOf({ creditUnitAmount }: PricingOptions, { creditCost }: Template): number {
  return creditCost * creditUnitAmount;
}

/** By what a template's price is found again when its ids were lost. */
export function lookupKeyOf({ currency }: PricingOptions, environment: string, { code }: Template): string {
  return `${environment}:template:${code}:${currency}`;
}

/** Of all that the provider is told of a template: the same hash, nothing to tell. */
export function hashOf(options: PricingOptions, template: Template): string {
  const { name, description, isActive } = template;
  const content = [name, description, isActive, amountOf(options, template), options.currency];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
