import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { silentLogger } from '../../platform/logger.ts';
import { createStripeStandIn, type StripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import type { CatalogEntry, PayProvider } from '../../subgraphs/workflow/payments/pay-provider.ts';
import { createStripe } from '../../subgraphs/workflow/payments/stripe.ts';

/** The Stripe adapter against the stand-in, over the real SDK and real sockets. */

interface Hook {
  readonly body: Buffer;
  readonly signature: string;
}

let standIn: StripeStandIn;
let provider: PayProvider;
let hooks: Hook[] = [];
let hookStatus = 200;
const cleanups: (() => unknown)[] = [];

beforeAll(async () => {
  const receiver = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (hookStatus === 200) {
        hooks.push({ body: Buffer.concat(chunks), signature: String(request.headers['stripe-signature']) });
      }
      response.writeHead(hookStatus).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => receiver.close());
  const { folder, remove } = await temporaryFolder();
  cleanups.push(remove);
  standIn = await createStripeStandIn({
    dataDir: folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    pausesMs: [50, 50, 50, 50],
    logger: silentLogger(),
  });
  cleanups.push(() => standIn.close());
  provider = adapter();
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

function adapter(
  change: { readonly secretKey?: string; readonly webhookSecrets?: readonly string[] } = {},
): PayProvider {
  return createStripe({
    secretKey: standIn.secretKey,
    webhookSecrets: [standIn.webhookSecret],
    baseUrl: standIn.url,
    ...change,
  });
}

const product = (change: object = {}) => ({
  templateCode: 'poster',
  name: 'Poster',
  description: 'One poster',
  isActive: true,
  ...change,
});

async function sold(amount = 500, lookupKey = `test:${randomUUID()}`): Promise<CatalogEntry> {
  const { catalog } = provider;
  const productId = await catalog.createProduct({ ...product(), idempotencyKey: randomUUID() });
  await catalog.createPrice({ productId, amount, currency: 'usd', lookupKey, idempotencyKey: randomUUID() });
  const entry = await catalog.find(lookupKey);
  if (entry === null) throw new Error('the price is not found by its key');
  return entry;
}

const inAnHour = () => new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000);

async function opened(amount = 500, change: object = {}) {
  const { priceId } = await sold(amount);
  const request = {
    paymentId: randomUUID(),
    priceId,
    templateCode: 'poster',
    userId: 'usr_anna',
    successUrl: 'http://127.0.0.1:1/success?session_id={CHECKOUT_SESSION_ID}',
    cancelUrl: 'http://127.0.0.1:1/cancel',
    expiresAt: inAnHour(),
    ...change,
  };
  return { request, ...(await provider.createCheckout(request)) };
}

async function paid(amount = 500) {
  const checkout = await opened(amount);
  await standIn.control.pay(checkout.sessionId);
  const truth = await provider.truthOf(checkout.sessionId);
  return { ...checkout, truth, intent: truth.paymentIntentId ?? '' };
}

const refundOf = ({ request, intent }: Awaited<ReturnType<typeof paid>>, amount: number) => ({
  refundId: randomUUID(),
  paymentId: request.paymentId,
  paymentIntentId: intent,
  amount,
  reason: 'TECHNICAL_ISSUE' as const,
});

describe('the account', () => {
  it('says who it is and whether it may take money', async () => {
    expect(await provider.account()).toEqual({
      id: expect.stringMatching(/^acct_/) as string,
      chargesEnabled: true,
      country: 'US',
      isLive: false,
    });
    expect(provider.environment).toBe('development');
  });

  it('is refused to a wrong key, whose secret no message carries', async () => {
    const error = await adapter({ secretKey: 'sk_test_wrongwrongwrong' })
      .account()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'KEY_REFUSED' });
    expect((error as Error).message).not.toContain('wrong');
  });

  it('can not be reached when nobody answers', async () => {
    const lonely = createStripe({
      secretKey: 'sk_test_x',
      webhookSecrets: [],
      baseUrl: 'http://127.0.0.1:9',
    });
    await expect(lonely.account()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  }, 30_000);
});

describe('the catalog', () => {
  it('finds a price by its lookup key, with its product', async () => {
    const entry = await sold(700, 'test:find');
    expect(entry).toMatchObject({ name: 'Poster', amount: 700, currency: 'usd', isActive: true });
    expect(await provider.catalog.find('test:none')).toBeNull();
  });

  it('makes one product for one idempotency key', async () => {
    const idempotencyKey = randomUUID();
    const ids = await Promise.all(
      [1, 2, 3].map(() => provider.catalog.createProduct({ ...product(), idempotencyKey }).catch(() => null)),
    );
    const again = await provider.catalog.createProduct({ ...product(), idempotencyKey });
    expect(new Set([...ids.filter((id) => id !== null), again]).size).toBe(1);
  });

  it('refuses the same key for another request', async () => {
    const idempotencyKey = randomUUID();
    await provider.catalog.createProduct({ ...product(), idempotencyKey });
    const other = { ...product({ name: 'Another' }), idempotencyKey };
    await expect(provider.catalog.createProduct(other)).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('changes and archives a product', async () => {
    const { productId, priceId } = await sold();
    await provider.catalog.updateProduct(productId, product({ name: 'New', isActive: false }));
    expect(await provider.catalog.read(productId, priceId)).toMatchObject({ name: 'New', isActive: false });
  });

  it('rotates a price: the key goes over, the old one is archived once it is not the default', async () => {
    const lookupKey = `test:${randomUUID()}`;
    const old = await sold(500, lookupKey);
    const { catalog } = provider;
    await catalog.updateProduct(old.productId, { ...product(), defaultPriceId: old.priceId });
    await expect(catalog.archivePrice(old.priceId)).rejects.toMatchObject({ code: 'REFUSED' });
    const priceId = await catalog.createPrice({
      productId: old.productId,
      amount: 900,
      currency: 'usd',
      lookupKey,
      idempotencyKey: randomUUID(),
    });
    await catalog.updateProduct(old.productId, { ...product(), defaultPriceId: priceId });
    await catalog.archivePrice(old.priceId);
    expect(await catalog.find(lookupKey)).toMatchObject({ priceId, amount: 900 });
    expect(await catalog.read(old.productId, old.priceId)).toMatchObject({ isActive: false });
  });

  it('knows nothing of ids of another account', async () => {
    expect(await provider.catalog.read('prod_none', 'price_none')).toBeNull();
  });
});

describe('a checkout', () => {
  it('is open, unpaid, and the payment’s', async () => {
    const { request, sessionId, url } = await opened();
    expect(url).toBe(`http://127.0.0.1:1/pay/${sessionId}`);
    expect(await provider.truthOf(sessionId)).toMatchObject({
      sessionId,
      paymentId: request.paymentId,
      session: 'open',
      isPaid: false,
      amount: 500,
      currency: 'usd',
      amountRefunded: 0,
    });
  });

  it('is the same one when it is asked for again', async () => {
    const { request, sessionId } = await opened();
    expect(await provider.createCheckout(request)).toMatchObject({ sessionId });
    const changed = { ...request, expiresAt: new Date(request.expiresAt.getTime() + 1000) };
    await expect(provider.createCheckout(changed)).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('of a price that is gone, or below the least amount, is refused', async () => {
    await expect(opened(500, { priceId: 'price_none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(opened(10)).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('that ends too soon is refused', async () => {
    const soon = { expiresAt: new Date(Date.now() + 60_000) };
    await expect(opened(500, soon)).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('is opened once, although its answer was lost', async () => {
    const before = standIn.state.all('checkout.session').length;
    standIn.control.fail({ match: /^POST checkout\/sessions$/, times: 1, status: 0, after: true });
    await opened();
    expect(standIn.state.all('checkout.session').length).toBe(before + 1);
  });

  it('survives outages of the provider', async () => {
    standIn.control.fail({ match: /^POST checkout\/sessions$/, times: 2, status: 500 });
    expect(await opened()).toMatchObject({ sessionId: expect.stringMatching(/^cs_/) as string });
  });

  it('that nobody knows is not found', async () => {
    await expect(provider.truthOf('cs_test_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

describe('money', () => {
  it('is there when the card was good', async () => {
    const { truth, sessionId } = await paid();
    expect(truth).toMatchObject({ session: 'complete', isPaid: true, isSettling: false, amountRefunded: 0 });
    expect(await provider.sessionOfIntent(truth.paymentIntentId ?? '')).toBe(sessionId);
    expect(await provider.sessionOfIntent('pi_none')).toBeNull();
  });

  it('is not there after a declined card, which may be tried again', async () => {
    const { sessionId } = await opened();
    await standIn.control.pay(sessionId, 'decline');
    expect(await provider.truthOf(sessionId)).toMatchObject({ session: 'open', isPaid: false });
    await standIn.control.pay(sessionId);
    expect(await provider.truthOf(sessionId)).toMatchObject({ isPaid: true });
  });

  it.each([
    [true, { isPaid: true, isSettling: false }],
    [false, { isPaid: false, isSettling: false }],
  ])('comes late by a method that takes its time (good: %s)', async (isGood, expected) => {
    const { sessionId } = await opened();
    await standIn.control.pay(sessionId, 'delayed');
    expect(await provider.truthOf(sessionId)).toMatchObject({
      session: 'complete',
      isPaid: false,
      isSettling: true,
    });
    await standIn.control.settle(sessionId, isGood);
    expect(await provider.truthOf(sessionId)).toMatchObject({ session: 'complete', ...expected });
  });

  it('is not needed where there is nothing to pay', async () => {
    const { sessionId } = await opened(0);
    await standIn.control.pay(sessionId);
    expect(await provider.truthOf(sessionId)).toMatchObject({
      isPaid: true,
      paymentIntentId: null,
      amount: 0,
    });
  });

  it('can not come any more once the checkout was ended', async () => {
    const { sessionId } = await opened();
    expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'expired', isPaid: false });
    await expect(standIn.control.pay(sessionId)).rejects.toThrow('not open');
    expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'expired' });
  });

  it('wins over an end that comes too late', async () => {
    const { sessionId } = await paid();
    expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'complete', isPaid: true });
  });
});

describe('a refund', () => {
  it('in parts, then whole', async () => {
    const bought = await paid();
    expect(await provider.refund(refundOf(bought, 200))).toMatchObject({ amount: 200, status: 'succeeded' });
    expect(await provider.truthOf(bought.sessionId)).toMatchObject({ amountRefunded: 200, isPaid: true });
    await provider.refund(refundOf(bought, 300));
    expect(await provider.truthOf(bought.sessionId)).toMatchObject({ amountRefunded: 500 });
    await expect(provider.refund(refundOf(bought, 1))).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('of more than is left is refused', async () => {
    await expect(provider.refund(refundOf(await paid(), 501))).rejects.toMatchObject({ code: 'REFUSED' });
  });

  it('is made once, however often it is asked for', async () => {
    const bought = await paid();
    const request = refundOf(bought, 100);
    const [first, second] = [await provider.refund(request), await provider.refund(request)];
    expect(second).toEqual(first);
    expect(await provider.truthOf(bought.sessionId)).toMatchObject({ amountRefunded: 100 });
  });

  it('that the bank sends back leaves the money where it was', async () => {
    const bought = await paid();
    const { id } = await provider.refund(refundOf(bought, 500));
    await standIn.control.failRefund(id);
    expect(await provider.truthOf(bought.sessionId)).toMatchObject({ amountRefunded: 0, isPaid: true });
  });
});

describe('a dispute', () => {
  it('is open until it is won', async () => {
    const { sessionId } = await paid();
    await standIn.control.dispute(sessionId);
    expect(await provider.truthOf(sessionId)).toMatchObject({ isDisputed: true });
    await standIn.control.dispute(sessionId, 'won');
    expect(await provider.truthOf(sessionId)).toMatchObject({ isDisputed: false });
  });
});

describe('an event', () => {
  const eventsOf = (type: string) =>
    hooks
      .map((hook) => ({ hook, event: provider.readEvent(hook.body, hook.signature) }))
      .filter(({ event }) => event.type === type);

  it('is signed, and says where to look', async () => {
    hooks = [];
    const { request, sessionId, intent } = await paid();
    await expect.poll(() => eventsOf('checkout.session.completed').length).toBe(1);
    expect(eventsOf('checkout.session.completed')[0]?.event).toMatchObject({
      id: expect.stringMatching(/^evt_/) as string,
      isLive: false,
      look: { at: 'session', sessionId, paymentId: request.paymentId },
    });
    await provider.refund(refundOf({ request, intent } as Awaited<ReturnType<typeof paid>>, 500));
    await expect.poll(() => eventsOf('charge.refunded').length).toBe(1);
    expect(eventsOf('charge.refunded')[0]?.event.look).toEqual({
      at: 'intent',
      paymentIntentId: intent,
      paymentId: request.paymentId,
    });
    expect(eventsOf('product.created')[0]?.event.look).toEqual({ at: 'nothing' });
  });

  it('is not ours when its body was changed, its signature is old or of another secret', async () => {
    hooks = [];
    await paid();
    await expect.poll(() => hooks.length).toBeGreaterThan(0);
    const [{ body, signature }] = hooks as [Hook];
    const refused = expect.objectContaining({ code: 'NOT_AUTHENTIC' }) as unknown;
    const read = (changed: Partial<Hook>, by = provider) => {
      try {
        return by.readEvent(changed.body ?? body, changed.signature ?? signature);
      } catch (error) {
        return error;
      }
    };
    expect(read({ body: Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8')))) })).toEqual(refused);
    expect(read({ signature: 't=1,v1=00' })).toEqual(refused);
    expect(read({ signature: '' })).toEqual(refused);
    expect(read({}, adapter({ webhookSecrets: ['whsec_other'] }))).toEqual(refused);
    const rotating = adapter({ webhookSecrets: ['whsec_new', standIn.webhookSecret] });
    expect(read({}, rotating)).toMatchObject({ id: expect.stringMatching(/^evt_/) as string });
  });

  it('comes again until it is taken, and can be asked for after an absence', async () => {
    hooks = [];
    const since = new Date(Date.now() - 2_000);
    hookStatus = 500;
    const { sessionId } = await paid();
    await expect
      .poll(async () =>
        (await provider.undelivered(since)).some(
          ({ look }) => look.at === 'session' && look.sessionId === sessionId,
        ),
      )
      .toBe(true);
    hookStatus = 200;
    await expect.poll(() => eventsOf('checkout.session.completed').length, { timeout: 5_000 }).toBe(1);
  });
});
