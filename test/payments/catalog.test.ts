import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import { diagnose } from '../../subgraphs/workflow/catalog/findings.ts';
import { createCatalogSync } from '../../subgraphs/workflow/catalog/sync.ts';
import { workflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import type { Template } from '../../subgraphs/workflow/domain/template.ts';
import { PayProviderError } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import { createStripe } from '../../subgraphs/workflow/payments/provider/stripe.ts';
import { openPaymentEnvironment, type PaymentEnvironment } from './environment.ts';

/** Templates as products: whatever was lost or changed, they are found again, and never twice. */

let shop: PaymentEnvironment;
beforeAll(async () => {
  shop = await openPaymentEnvironment();
});
afterAll(() => shop?.close());

let count = 0;
async function template(change: object = {}): Promise<Template> {
  count += 1;
  return shop.templates.create({ code: `t-${count}`, name: `Template ${count}`, creditCost: 5, ...change });
}

const listProducts = ({ code }: Template) =>
  shop.standIn.state
    .all('product')
    .filter(({ metadata }) => (metadata as Record<string, string>)['template_code'] === code);
const listPrices = (productId: string) =>
  shop.standIn.state.all('price').filter((price) => price['product'] === productId);
/** The catalog of another process, over the same database and at the same account. */
function anotherCatalog() {
  const { secretKey, webhookSecret, url: baseUrl } = shop.standIn;
  const provider = createStripe({ secretKey, webhookSecrets: [webhookSecret], baseUrl });
  const database = workflowDatabase(shop.database);
  return createCatalogSync({
    database,
    provider,
    currency: 'usd',
    creditUnitAmount: 100,
    logger: silentLogger(),
  });
}
const forget = () => shop.database.pool.query('delete from workflow.template_references');

describe('a template', () => {
  it('becomes a product with a price, once, however many ask at the same time', async () => {
    const made = await template();
    const all = await Promise.all(Array.from({ length: 6 }, () => shop.catalog.sync(made)));
    expect(new Set(all.map((one) => one?.productId)).size).toBe(1);
    expect(listProducts(made)).toHaveLength(1);
    expect(listPrices(all[0]?.productId ?? '')).toMatchObject([
      { unit_amount: 500, currency: 'usd', active: true },
    ]);
    expect(await shop.catalog.verify(made)).toMatchObject({ issues: [], recommendations: [] });
  });

  it('is one product at one price though each asker is a process of its own, and after its price has changed', async () => {
    const made = await template();
    const processes = Array.from({ length: 4 }, () => anotherCatalog());
    const all = await Promise.all(processes.map((catalog) => catalog.sync(made)));
    const dearer = await shop.templates.update(made.code, { creditCost: 7 });
    const changed = await Promise.all(processes.map((catalog) => catalog.sync(dearer)));
    expect(new Set([...all, ...changed].map((one) => one?.productId)).size).toBe(1);
    expect([all, changed].map((some) => new Set(some.map((one) => one?.priceId)).size)).toEqual([1, 1]);
    const prices = listPrices(all[0]?.productId ?? '');
    expect(prices.filter(({ active }) => active === true)).toMatchObject([{ unit_amount: 700 }]);
    expect(prices).toHaveLength(2);
  });

  it('that costs another amount gets another price; the old one is archived', async () => {
    const made = await template();
    const before = await shop.catalog.sync(made);
    const dearer = await shop.templates.update(made.code, { creditCost: 9 });
    expect((await shop.catalog.verify(dearer)).issues).toEqual(['the price is 500, the template costs 900']);
    const after = await shop.catalog.sync(dearer);
    expect(after?.productId).toBe(before?.productId);
    expect(after?.priceId).not.toBe(before?.priceId);
    const prices = listPrices(after?.productId ?? '');
    expect(prices.filter(({ active }) => active === true)).toMatchObject([{ unit_amount: 900 }]);
    expect(await shop.catalog.verify(dearer)).toMatchObject({ issues: [] });
  });

  it('whose ids were lost is found again by its lookup key', async () => {
    const made = await template();
    const before = await shop.catalog.sync(made);
    await forget();
    expect((await shop.catalog.verify(made)).issues).toEqual([
      'the template has no product at the payment provider',
    ]);
    const after = await shop.catalog.sync(made);
    expect([after?.productId, after?.priceId]).toEqual([before?.productId, before?.priceId]);
    expect(listProducts(made)).toHaveLength(1);
    expect(await shop.catalog.verify(made)).toMatchObject({ issues: [] });
  });

  it('whose ids were lost while its price changed keeps its product and gets the price', async () => {
    const made = await template();
    const before = await shop.catalog.sync(made);
    const dearer = await shop.templates.update(made.code, { creditCost: 11 });
    await forget();
    const after = await shop.catalog.sync(dearer);
    expect(after?.productId).toBe(before?.productId);
    const active = listPrices(after?.productId ?? '').filter(({ active: isActive }) => isActive === true);
    expect(active).toMatchObject([{ id: after?.priceId, unit_amount: 1_100 }]);
    expect(listProducts(made)).toHaveLength(1);
    expect(await shop.catalog.verify(dearer)).toMatchObject({ issues: [] });
  });

  it('is made anew in another account, and found again in the first', async () => {
    const made = await template();
    const first = await shop.catalog.sync(made);
    const { folder, remove } = await temporaryFolder();
    const other = await createStripeStandIn({
      dataDir: folder,
      pageUrl: 'http://127.0.0.1:1',
      webhookUrl: null,
      accountId: 'acct_another',
      logger: silentLogger(),
    });
    const elsewhere = createCatalogSync({
      database: workflowDatabase(shop.database),
      provider: createStripe({ secretKey: other.secretKey, webhookSecrets: [], baseUrl: other.url }),
      currency: 'usd',
      creditUnitAmount: 100,
      logger: silentLogger(),
    });
    expect((await elsewhere.references([made.code])).size).toBe(0);
    const second = await elsewhere.sync(made);
    expect(second?.productId).not.toBe(first?.productId);
    expect(await elsewhere.verify(made)).toMatchObject({ issues: [] });
    await forget();
    const { productId, priceId } = second ?? {};
    expect(await elsewhere.sync(made)).toMatchObject({ productId, priceId });
    expect(other.state.all('product')).toHaveLength(1);
    expect(await shop.catalog.sync(made)).toMatchObject({ productId: first?.productId });
    expect(await shop.catalog.verify(made)).toMatchObject({ issues: [] });
    expect(listProducts(made)).toHaveLength(1);
    await other.close();
    await remove();
  });

  it('that is not active is archived there, and comes back with its price', async () => {
    const made = await template();
    const before = await shop.catalog.sync(made);
    const off = await shop.templates.update(made.code, { isActive: false });
    await shop.catalog.sync(off);
    expect(listProducts(made)).toMatchObject([{ active: false }]);
    expect(await shop.catalog.verify(off)).toMatchObject({ issues: [] });
    const on = await shop.templates.update(made.code, { isActive: true });
    await shop.catalog.sync(on);
    expect(listProducts(made)).toMatchObject([{ active: true }]);
    expect(listPrices(before?.productId ?? '').filter(({ active }) => active === true)).toHaveLength(1);
  });

  it('is written although the provider is away, and comes over later', async () => {
    const made = await template();
    shop.standIn.control.fail({ match: /./, times: 3, status: 500 });
    expect(await shop.catalog.trySync(made)).toBeNull();
    expect((await shop.catalog.references([made.code])).get(made.code)).toBeUndefined();
    expect(await shop.catalog.trySync(made)).toMatchObject({
      productId: expect.stringMatching(/^prod_/) as string,
    });
    expect(listProducts(made)).toHaveLength(1);
  });

  it('is not said to be wrong while the provider is away, nor is that our mistake', async () => {
    const made = await template();
    await shop.catalog.sync(made);
    shop.standIn.control.fail({ match: /^GET prices/, times: 3, status: 500 });
    await expect(shop.catalog.verify(made)).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 5 });
    shop.standIn.control.fail({ match: /^GET prices/, times: 1, status: 401 });
    await expect(shop.catalog.verify(made)).rejects.toMatchObject({ code: 'NOT_CONFIGURED' });
    expect(await shop.catalog.verify(made)).toMatchObject({ issues: [] });
  });

  it('below the least amount of the provider is told so', async () => {
    const shopOfPennies = createCatalogSync({
      database: workflowDatabase(shop.database),
      provider: createStripe({
        secretKey: shop.standIn.secretKey,
        webhookSecrets: [],
        baseUrl: shop.standIn.url,
      }),
      currency: 'usd',
      creditUnitAmount: 1,
      logger: silentLogger(),
    });
    const made = await template({ creditCost: 2 });
    expect(shopOfPennies.findSalePrice(made)).toEqual({ amount: 2, currency: 'usd' });
    const { issues, recommendations } = await shopOfPennies.verify(made);
    expect(issues.at(-1)).toBe('the amount 2 is below the least of the provider, 50');
    expect(recommendations.at(-1)).toContain('PP_CREDIT_UNIT_AMOUNT');
  });
});

it('an account that can not be read is said to be so, with what to do', async () => {
  const facts = { environment: 'development', chargesEnabled: null, country: null };
  shop.standIn.control.fail({ match: /account/, times: 1, status: 401 });
  expect(await shop.catalog.diagnose()).toEqual({
    ...facts,
    apiKeyValid: false,
    issues: ['the payment provider does not take our key for this'],
    recommendations: ['check STRIPE_SECRET_KEY'],
  });
  const account = () => Promise.reject(new PayProviderError('UNAVAILABLE', 'it does not answer'));
  expect(await diagnose({ ...shop.commerce.provider, account })).toEqual({
    ...facts,
    apiKeyValid: true,
    issues: ['it does not answer'],
    recommendations: ['try again; the provider may be down'],
  });
  expect(await shop.catalog.diagnose()).toMatchObject({ apiKeyValid: true, issues: [] });
});

describe('the life of a template', () => {
  it('has defaults, refuses a taken code, and uses the code of a deleted one again', async () => {
    const made = await shop.templates.create({ code: 'life', name: 'Life' });
    expect(made).toMatchObject({
      description: '',
      version: '1.0.0',
      templateType: 'IMAGE',
      workflow: 'image',
      creditCost: 0,
      tags: [],
      isActive: true,
    });
    await expect(shop.templates.create({ code: 'life', name: 'Again' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    await shop.templates.remove('life');
    expect(await shop.templates.byCodes(['life'])).toEqual([null]);
    expect(await shop.templates.namedBy(['life'])).toMatchObject([{ name: 'Life', isActive: false }]);
    await expect(shop.templates.update('life', { name: 'x' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await shop.templates.create({ code: 'life', name: 'New', templateType: 'VIDEO' })).toMatchObject({
      name: 'New',
      workflow: 'video',
      isActive: true,
    });
  });

  it('refuses what can be no template, naming every field', async () => {
    const wrong = { code: 'a b', name: ' ', creditCost: -1, tags: [''] };
    await expect(shop.templates.create(wrong)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      problems: [{ field: 'code' }, { field: 'name' }, { field: 'creditCost' }, { field: 'tags' }],
    });
    const long = { code: 'long', name: 'x'.repeat(201), imagePrompt: 'x'.repeat(20_001) };
    await expect(shop.templates.create(long)).rejects.toMatchObject({
      problems: [{ field: 'name' }, { field: 'imagePrompt' }],
    });
  });

  it('can be imported again and again', async () => {
    const imported = await shop.templates.importBundled();
    expect(imported.map(({ status }) => status)).toEqual(imported.map(() => 'success'));
    expect(imported.map(({ code }) => code)).toContain('poster');
  });
});
