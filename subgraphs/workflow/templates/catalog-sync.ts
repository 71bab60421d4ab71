import { createHash } from 'node:crypto';

import { sql } from 'kysely';

import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { WorkflowDatabase } from '../database.ts';
import type { Price, Prices } from '../payments/checkout.ts';
import { notConfigured } from '../payments/failures.ts';
import { PayProviderError, type CatalogEntry, type PayProvider } from '../payments/pay-provider.ts';
import type { Template } from './template.ts';

/** Templates as products of the payment provider: made, changed, found again by lookup key when ids were lost. */
export interface CatalogSync extends Prices {
  /** Brings one template over. Null when no provider is set up; throws when the provider does not do it. */
  sync(template: Template, options?: { readonly force?: boolean }): Promise<TemplateReference | null>;
  /** The same, where the template must be written whatever the provider does: null when it did not come over. */
  trySync(template: Template): Promise<TemplateReference | null>;
  /** What is kept of each template for the provider's account now, by code; empty when that can't be known. */
  references(codes: readonly string[]): Promise<ReadonlyMap<string, TemplateReference>>;
  /** What stands between a template and its product, and what to do about it. */
  verify(template: Template): Promise<CatalogFinding>;
  /** Brings a template over, then tells how it stands; what the provider refuses is among the issues. */
  syncAndTell(template: Template, force: boolean): Promise<CatalogFinding>;
  /** Whether what is kept of a template is what it is now. */
  isCurrent(template: Template, reference: TemplateReference | null): boolean;
  /** Whether the provider can be worked with. */
  diagnose(): Promise<CatalogDiagnosis>;
}

/** The provider's ids of a template. */
export interface TemplateReference {
  readonly productId: string;
  readonly priceId: string;
  /** Of what was last written there. */
  readonly contentHash: string;
  readonly syncedAt: Date;
}

export interface CatalogFinding {
  readonly reference: TemplateReference | null;
  readonly issues: readonly string[];
  readonly recommendations: readonly string[];
}

export interface CatalogDiagnosis {
  /** development, test, live; none where no provider is set up. */
  readonly environment: string;
  readonly apiKeyValid: boolean;
  readonly chargesEnabled: boolean | null;
  readonly country: string | null;
  readonly issues: readonly string[];
  readonly recommendations: readonly string[];
}

export interface CatalogSyncOptions {
  readonly database: WorkflowDatabase;
  /** Null where no payment provider is set up. */
  readonly provider: PayProvider | null;
  /** PP_CURRENCY, lower case. */
  readonly currency: string;
  /** PP_CREDIT_UNIT_AMOUNT: minor units of one credit. */
  readonly creditUnitAmount: number;
  readonly logger: Logger;
}

/** Least amounts that the provider takes, in minor units; 0 needs no payment. */
const LEAST: Readonly<Record<string, number>> = { usd: 50, eur: 50, gbp: 30, hkd: 400, jpy: 50, sgd: 50 };
/** Milliseconds that the provider's account is believed to be the same. */
const ACCOUNT_MS = 60_000;

export function createCatalogSync(options: CatalogSyncOptions): CatalogSync {
  const { provider, logger, currency } = options;
  const accountOf = createAccount(provider);
  const inTurn = createTurns(options, accountOf);
  return {
    sync: async (template, { force = false } = {}) => (provider === null ? null : inTurn(template, force)),
    async trySync(template) {
      if (provider === null) return null;
      try {
        return await inTurn(template, false);
      } catch (thrown) {
        logger.warn(
          { error: toError(thrown), template: template.code },
          'a template did not come over to the payment provider',
        );
        return null;
      }
    },
    async references(codes) {
      if (provider === null || codes.length === 0) return new Map();
      try {
        return await readReferences(options.database, await accountOf(), codes);
      } catch (thrown) {
        logger.warn({ error: toError(thrown) }, 'the account of the payment provider is not known now');
        return new Map();
      }
    },
    verify: (template) => verify(options, template, accountOf),
    async syncAndTell(template, force) {
      try {
        const reference = provider === null ? null : await inTurn(template, force);
        if (reference !== null) return { reference, issues: [], recommendations: [] };
      } catch (thrown) {
        if (!(thrown instanceof PayProviderError)) throw thrown;
        const recommendations = ['see GET /templates/diagnose-pp'];
        return { reference: null, issues: [thrown.message], recommendations };
      }
      return NOT_SET_UP;
    },
    isCurrent: (template, reference) => reference?.contentHash === hashOf(options, template),
    diagnose: () => diagnose(provider),
    async priceOf(template): Promise<Price> {
      if (provider === null) throw notConfigured();
      const { priceId } = await inTurn(template, false);
      return { priceId, amount: amountOf(options, template), currency };
    },
  };
}

type InTurn = (template: Template, force: boolean) => Promise<TemplateReference>;

/** One after the other for each template: two at once would make two products. */
function createTurns(options: CatalogSyncOptions, accountOf: () => Promise<string>): InTurn {
  const running = new Map<string, Promise<TemplateReference>>();
  return async (template, force) => {
    const before = running.get(template.code);
    const turn = (async () => {
      await before?.catch(() => undefined); // its own caller hears of it
      return bringOver(options, { template, force, account: await accountOf() });
    })();
    running.set(template.code, turn);
    try {
      return await turn;
    } finally {
      if (running.get(template.code) === turn) running.delete(template.code);
    }
  };
}

const NOT_SET_UP: CatalogFinding = {
  reference: null,
  issues: ['no payment provider is set up'],
  recommendations: ['set STRIPE_SECRET_KEY'],
};

async function diagnose(provider: PayProvider | null): Promise<CatalogDiagnosis> {
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

function createAccount(provider: PayProvider | null): () => Promise<string> {
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

function amountOf({ creditUnitAmount }: CatalogSyncOptions, { creditCost }: Template): number {
  return creditCost * creditUnitAmount;
}

function lookupKeyOf({ currency }: CatalogSyncOptions, environment: string, { code }: Template): string {
  return `${environment}:template:${code}:${currency}`;
}

function hashOf(options: CatalogSyncOptions, template: Template): string {
  const { name, description, isActive } = template;
  const content = [name, description, isActive, amountOf(options, template), options.currency];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

interface Work {
  readonly template: Template;
  readonly force: boolean;
  readonly account: string;
}

/** What is up to date already costs the provider nothing. */
async function bringOver(options: CatalogSyncOptions, work: Work): Promise<TemplateReference> {
  const { database, provider } = options;
  if (provider === null) throw notConfigured();
  const { template, force, account } = work;
  const contentHash = hashOf(options, template);
  const known = (await readReferences(database, account, [template.code])).get(template.code) ?? null;
  if (known !== null && known.contentHash === contentHash && !force) return known;
  const kept = known === null ? null : await provider.catalog.read(known.productId, known.priceId);
  // Ids that were lost, or are of another account, are found again by the lookup key.
  const lookupKey = lookupKeyOf(options, provider.environment, template);
  const entry = kept ?? (await provider.catalog.find(lookupKey));
  const ids = await written(options, provider, { template, entry, lookupKey, account });
  const reference = { ...ids, contentHash, syncedAt: new Date() };
  await saveReference(database, { code: template.code, account, reference });
  return reference;
}

async function written(
  options: CatalogSyncOptions,
  { catalog, environment }: PayProvider,
  found: {
    readonly template: Template;
    readonly entry: CatalogEntry | null;
    readonly lookupKey: string;
    readonly account: string;
  },
): Promise<{ readonly productId: string; readonly priceId: string }> {
  const { template, entry, lookupKey, account } = found;
  const { code: templateCode, name, description, isActive } = template;
  const product = { templateCode, name, description, isActive };
  const amount = amountOf(options, template);
  const { currency } = options;
  const productId =
    entry?.productId ??
    (await catalog.createProduct({
      ...product,
      idempotencyKey: `${environment}:product:${account}:${lookupKey}`,
    }));
  const fits = entry !== null && entry.amount === amount && entry.currency === currency && entry.isActive;
  if (fits || (entry !== null && entry.amount === amount && entry.currency === currency && !isActive)) {
    await catalog.updateProduct(productId, product);
    return { productId, priceId: entry.priceId };
  }
  // Amounts never change: another price takes the key over, and the default, before the old one can go.
  const idempotencyKey = `${environment}:price:${productId}:${amount}:${currency}:${entry?.priceId ?? 'first'}`;
  const priceId = await catalog.createPrice({ productId, amount, currency, lookupKey, idempotencyKey });
  await catalog.updateProduct(productId, { ...product, defaultPriceId: priceId });
  if (entry !== null && entry.priceId !== priceId) await catalog.archivePrice(entry.priceId);
  return { productId, priceId };
}

async function readReferences(
  database: WorkflowDatabase,
  account: string,
  codes: readonly string[],
): Promise<ReadonlyMap<string, TemplateReference>> {
  const rows = await database
    .selectFrom('workflow.template_references')
    .selectAll()
    .where('pp_account', '=', account)
    .where('template_code', 'in', [...codes])
    .execute();
  return new Map(
    rows.map((row) => [
      row.template_code,
      {
        productId: row.product_id,
        priceId: row.price_id,
        contentHash: row.content_hash,
        syncedAt: row.synced_at,
      },
    ]),
  );
}

async function saveReference(
  database: WorkflowDatabase,
  {
    code,
    account,
    reference,
  }: { readonly code: string; readonly account: string; readonly reference: TemplateReference },
): Promise<void> {
  const { productId, priceId, contentHash, syncedAt } = reference;
  const values = { product_id: productId, price_id: priceId, content_hash: contentHash, synced_at: syncedAt };
  await database
    .insertInto('workflow.template_references')
    .values({ template_code: code, pp_account: account, ...values })
    .onConflict((conflict) =>
      conflict.columns(['template_code', 'pp_account']).doUpdateSet({
        ...values,
        synced_at: sql<Date>`greatest(template_references.synced_at, excluded.synced_at)`,
      }),
    )
    .execute();
}

async function verify(
  options: CatalogSyncOptions,
  template: Template,
  accountOf: () => Promise<string>,
): Promise<CatalogFinding> {
  const { database, provider, currency } = options;
  if (provider === null) return NOT_SET_UP;
  const references = await readReferences(database, await accountOf(), [template.code]);
  const reference = references.get(template.code) ?? null;
  const entry =
    reference === null ? null : await provider.catalog.read(reference.productId, reference.priceId);
  const amount = amountOf(options, template);
  const issues = [
    ...(reference === null ? ['the template has no product at the payment provider'] : []),
    ...(reference !== null && entry === null ? ['the product or price is gone at the payment provider'] : []),
    ...(entry === null ? [] : differences(template, entry, { amount, currency })),
  ];
  const least = LEAST[currency] ?? 1;
  const isTooSmall = amount > 0 && amount < least;
  return {
    reference,
    issues: isTooSmall
      ? [...issues, `the amount ${amount} is below the least of the provider, ${least}`]
      : issues,
    recommendations: [
      ...(issues.length > 0 ? [`synchronise it: POST /templates/sync/${template.code}`] : []),
      ...(isTooSmall ? ['raise creditCost or PP_CREDIT_UNIT_AMOUNT'] : []),
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
