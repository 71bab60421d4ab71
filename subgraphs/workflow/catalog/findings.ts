import type { WorkflowDatabase } from '../database/database.ts';
import type { Template } from '../domain/template.ts';
import { PayProviderError, type CatalogEntry, type PayProvider } from '../payments/provider/pay-provider.ts';
import { findAmount, findCurrency, leastAmount, type PricingOptions } from './pricing.ts';
import { readReferences, type TemplateReference } from './references.ts';

/** The issues of one template at the payment provider, and what to do about them. */
export interface CatalogFinding {
  readonly reference: TemplateReference | null;
  readonly issues: readonly string[];
  readonly recommendations: readonly string[];
}

/** The state of the account at the payment provider. */
export interface CatalogDiagnosis {
  /** development, test, live; none where no provider is set up. */
  readonly environment: string;
  readonly apiKeyValid: boolean;
  readonly chargesEnabled: boolean | null;
  readonly country: string | null;
  readonly issues: readonly string[];
  readonly recommendations: readonly string[];
}

export interface FindingOptions extends PricingOptions {
  readonly database: WorkflowDatabase;
  /** Null where no payment provider is set up. */
  readonly provider: PayProvider | null;
}

/** The finding of every template where no payment provider is set up. */
export const NOT_SET_UP: CatalogFinding = {
  reference: null,
  issues: ['no payment provider is set up'],
  recommendations: ['set STRIPE_SECRET_KEY'],
};

/** Checks the account at the provider. */
export async function diagnose(provider: PayProvider | null): Promise<CatalogDiagnosis> {
  const unknown = { apiKeyValid: false, chargesEnabled: null, country: null };
  if (provider === null) return { environment: 'none', ...unknown, ...NOT_SET_UP };
  const { environment } = provider;
  try {
    const { chargesEnabled, country } = await provider.account();
    const issues = chargesEnabled ? [] : ['the account may not take money yet'];
    const recommendations = chargesEnabled ? [] : ["finish the account's registration at the provider"];
    return { environment, apiKeyValid: true, chargesEnabled, country, issues, recommendations };
  } catch (thrown) {
    if (!(thrown instanceof PayProviderError)) throw thrown;
    const isKey = thrown.code === 'KEY_REFUSED';
    return {
      environment,
      ...unknown,
      apiKeyValid: !isKey,
      issues: [thrown.message],
      recommendations: [isKey ? 'check STRIPE_SECRET_KEY' : 'try again; the provider may be down'],
    };
  }
}

/** Compares a template with its product. */
export async function verify(
  options: FindingOptions,
  template: Template,
  readAccount: () => Promise<string>,
): Promise<CatalogFinding> {
  const { database, provider } = options;
  const currency = findCurrency(options, template);
  if (provider === null) return NOT_SET_UP;
  const references = await readReferences(database, await readAccount(), [template.code]);
  const reference = references.get(template.code) ?? null;
  const entry =
    reference === null ? null : await provider.catalog.read(reference.productId, reference.priceId);
  const amount = findAmount(options, template);
  const issues = [
    ...(reference === null ? ['the template has no product at the payment provider'] : []),
    ...(reference !== null && entry === null ? ['the product or price is gone at the payment provider'] : []),
    ...(entry === null ? [] : differences(template, entry, { amount, currency })),
  ];
  const least = leastAmount(currency);
  const isTooSmall = amount > 0 && amount < least;
  return {
    reference,
    issues: isTooSmall
      ? [...issues, `the amount ${amount} is below the least of the provider, ${least}`]
      : issues,
    recommendations: [
      ...(issues.length > 0 ? [`synchronise it: POST /templates/sync/${template.code}`] : []),
      ...(isTooSmall ? ['raise the price, creditCost or PP_CREDIT_UNIT_AMOUNT'] : []),
    ],
  };
}

function differences(
  { name, isActive }: Template,
  entry: CatalogEntry,
  { amount, currency }: { readonly amount: number; readonly currency: string },
): readonly string[] {
  return [
    ...(entry.name === name ? [] : ['the name of the product is another one']),
    ...(entry.isActive === isActive
      ? []
      : [`the product is ${entry.isActive ? 'active' : 'archived'}, the template is not`]),
    ...(entry.amount === amount ? [] : [`the price is ${entry.amount}, the template costs ${amount}`]),
    ...(entry.currency === currency ? [] : [`the price is in ${entry.currency}, not in ${currency}`]),
  ];
}
