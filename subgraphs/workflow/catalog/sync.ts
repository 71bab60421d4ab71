import { toError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { Template } from '../domain/template.ts';
import type { Price, Prices } from '../payments/checkout.ts';
import { notConfigured } from '../payments/failures.ts';
import { PayProviderError, type CatalogEntry, type PayProvider } from '../payments/provider/pay-provider.ts';
import {
  diagnose,
  NOT_SET_UP,
  verify,
  type CatalogDiagnosis,
  type CatalogFinding,
  type FindingOptions,
} from './findings.ts';
import { amountOf, createAccountLookup, hashOf, lookupKeyOf } from './pricing.ts';
import { readReferences, saveReference, type TemplateReference } from './references.ts';

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
  syncAndReport(template: Template, force: boolean): Promise<CatalogFinding>;
  /** Whether what is kept of a template is what it is now. */
  isCurrent(template: Template, reference: TemplateReference | null): boolean;
  /** Whether the provider can be worked with. */
  diagnose(): Promise<CatalogDiagnosis>;
}

export interface CatalogSyncOptions extends FindingOptions {
  readonly logger: Logger;
}

/** Makes it; without a provider there is nothing to bring over. */
export function createCatalogSync(options: CatalogSyncOptions): CatalogSync {
  const { provider, logger, currency } = options;
  const accountOf = createAccountLookup(provider);
  const inTurn = createSyncQueues(options, accountOf);
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
    isCurrent: (template, reference) => reference?.contentHash === hashOf(options, template),
    diagnose: () => diagnose(provider),
    async priceOf(template): Promise<Price> {
      if (provider === null) throw notConfigured();
      const { priceId } = await inTurn(template, false);
      return { priceId, amount: amountOf(options, template), currency };
    },
  };
}

type QueuedSync = (template: Template, force: boolean) => Promise<TemplateReference>;

/** One after the other for each template: two at once would make two products. */
function createSyncQueues(options: CatalogSyncOptions, accountOf: () => Promise<string>): QueuedSync {
  const running = new Map<string, Promise<TemplateReference>>();
  return async (template, force) => {
    const before = running.get(template.code);
    const turn = (async () => {
      await before?.catch(() => undefined); // its own caller hears of it
      return syncTemplate(options, { template, force, account: await accountOf() });
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

/** What is up to date already costs the provider nothing. */
async function syncTemplate(options: CatalogSyncOptions, work: Work): Promise<TemplateReference> {
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
