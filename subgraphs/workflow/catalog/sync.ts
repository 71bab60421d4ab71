import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Template } from '../domain/template.ts';
import type { Price, Prices } from '../payments/checkout.ts';
import {
  notConfigured,
  PayProviderError,
  type CatalogEntry,
  type PayProvider,
  withCallerErrors,
} from '../payments/provider/pay-provider.ts';
import {
  diagnose,
  NOT_SET_UP,
  verify,
  type CatalogDiagnosis,
  type CatalogFinding,
  type FindingOptions,
} from './findings.ts';
import {
  findAmount,
  createAccountLookup,
  findCurrency,
  hashContent,
  toLookupKey,
  type PricedTemplate,
} from './pricing.ts';
import { readReferences, saveReference, type TemplateReference } from './references.ts';

/** Keeps templates in sync with products of the payment provider; lost ids are found again by lookup key. */
export interface CatalogSync extends Prices {
  /** Creates or updates a template's product. Null when no provider is set up. Throws PayProviderError. */
  sync(template: Template, options?: { readonly force?: boolean }): Promise<TemplateReference | null>;
  /** The same, but a failure of the provider is logged and answered as null. */
  trySync(template: Template): Promise<TemplateReference | null>;
  /** The stored references for the provider's current account, by code; empty when the account is unknown. */
  references(codes: readonly string[]): Promise<ReadonlyMap<string, TemplateReference>>;
  /** Compares a template with its product. UNAVAILABLE, NOT_CONFIGURED. */
  verify(template: Template): Promise<CatalogFinding>;
  /** Syncs a template and reports the result; a refusal of the provider is one of the issues. */
  syncAndReport(template: Template, force: boolean): Promise<CatalogFinding>;
  /** Whether the stored reference is up to date. */
  isCurrent(template: Template, reference: TemplateReference | null): boolean;
  /** What a checkout of a template charges; null when no provider is set up. Asks nobody. */
  findSalePrice(template: PricedTemplate): Omit<Price, 'priceId'> | null;
  /** Checks the account at the provider. */
  diagnose(): Promise<CatalogDiagnosis>;
}

export interface CatalogSyncOptions extends FindingOptions {
  readonly logger: Logger;
}

/** Creates the sync; without a provider it does nothing. */
export function createCatalogSync(options: CatalogSyncOptions): CatalogSync {
  const { provider, logger } = options;
  const findAccount = createAccountLookup(provider);
  const inTurn = createSyncQueues(options, findAccount);
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
        return await readReferences(options.database, await findAccount(), codes);
      } catch (thrown) {
        logger.warn({ error: toError(thrown) }, 'the account of the payment provider is not known now');
        return new Map();
      }
    },
    verify: (template) => withCallerErrors(() => verify(options, template, findAccount)),
    async syncAndReport(template, force) {
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
    isCurrent: (template, reference) => reference?.contentHash === hashContent(options, template),
    diagnose: () => diagnose(provider),
    findSalePrice: (template) => (provider === null ? null : computeSalePrice(options, template)),
    async ensurePrice(template): Promise<Price> {
      if (provider === null) throw notConfigured();
      const { priceId } = await inTurn(template, false);
      return { priceId, ...computeSalePrice(options, template) };
    },
  };
}

function computeSalePrice(options: CatalogSyncOptions, template: PricedTemplate) {
  return { amount: findAmount(options, template), currency: findCurrency(options, template) };
}

type QueuedSync = (template: Template, force: boolean) => Promise<TemplateReference>;

/** Serializes the syncs of each template: two at once would create two products. */
function createSyncQueues(options: CatalogSyncOptions, findAccount: () => Promise<string>): QueuedSync {
  const running = new Map<string, Promise<TemplateReference>>();
  return async (template, force) => {
    const before = running.get(template.code);
    const turn = (async () => {
      await before?.catch(() => undefined); // reported to its own caller
      return syncTemplate(options, { template, force, account: await findAccount() });
    })();
    running.set(template.code, turn);
    try {
      return await turn;
    } finally {
      if (running.get(template.code) === turn) running.delete(template.code);
    }
  };
}

interface Work {
  readonly template: Template;
  readonly force: boolean;
  readonly account: string;
}

/** Does not call the provider when the reference is up to date. */
async function syncTemplate(options: CatalogSyncOptions, work: Work): Promise<TemplateReference> {
  const { database, provider } = options;
  if (provider === null) throw notConfigured();
  const { template, force, account } = work;
  const contentHash = hashContent(options, template);
  const known = (await readReferences(database, account, [template.code])).get(template.code) ?? null;
  if (known !== null && known.contentHash === contentHash && !force) return known;
  const stored = known === null ? null : await provider.catalog.read(known.productId, known.priceId);
  // Lost ids, or ids of another account, are found again by the lookup key.
  const lookupKey = toLookupKey(options, provider.environment, template);
  const entry = stored ?? (await provider.catalog.find(lookupKey));
  const ids = await writeEntry(options, provider, { template, entry, lookupKey, account });
  const reference = { ...ids, contentHash, syncedAt: new Date() };
  await saveReference(database, { templateCode: template.code, ppAccount: account, ...reference });
  return reference;
}

async function writeEntry(
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
  const amount = findAmount(options, template);
  const currency = findCurrency(options, template);
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
  // The amount of a price can't change: a new price takes over the lookup key and the default, then the old one is archived.
  const idempotencyKey = `${environment}:price:${productId}:${amount}:${currency}:${entry?.priceId ?? 'first'}`;
  const priceId = await catalog.createPrice({ productId, amount, currency, lookupKey, idempotencyKey });
  await catalog.updateProduct(productId, { ...product, defaultPriceId: priceId });
  if (entry !== null && entry.priceId !== priceId) await catalog.archivePrice(entry.priceId);
  return { productId, priceId };
}
