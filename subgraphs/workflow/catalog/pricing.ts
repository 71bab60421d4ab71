import { createHash } from 'node:crypto';

import type { Template } from '../domain/template.ts';
import { notConfigured } from '../payments/failures.ts';
import type { PayProvider } from '../payments/provider/pay-provider.ts';

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

/** The price of one execution of a template, in minor units. */
export function amountOf({ creditUnitAmount }: PricingOptions, { creditCost }: Template): number {
  return creditCost * creditUnitAmount;
}

/** The provider's lookup key of a template's price: finds it again when its ids are lost. */
export function lookupKeyOf({ currency }: PricingOptions, environment: string, { code }: Template): string {
  return `${environment}:template:${code}:${currency}`;
}

/** A hash of everything the provider is told about a template; unchanged means nothing to update. */
export function hashOf(options: PricingOptions, template: Template): string {
  const { name, description, isActive } = template;
  const content = [name, description, isActive, amountOf(options, template), options.currency];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
