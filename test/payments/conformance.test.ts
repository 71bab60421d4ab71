import { randomUUID } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { CatalogEntry, PayProvider } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import { createStripe, type StripeOptions } from '../../subgraphs/workflow/payments/provider/stripe.ts';
import { paymentProviders, type Charged, type OpenProvider } from './payment-providers.ts';

/**
 * The Stripe adapter, over the real SDK and real sockets, against the stand-in; and against Stripe itself and stripe-mock
 * where they are (benches.ts). What a bench can not do is skipped there.
 */

interface Hook {
  readonly body: Buffer;
  readonly signature: string;
}

describe.each(paymentProviders(process.env))('at $name:', (place) => {
  const { name } = place;
  const isStandIn = name === 'the stand-in';
  const isStateful = name !== 'stripe-mock';
  // People, banks, outages and webhooks are the stand-in's alone; stripe-mock remembers nothing between two requests.

  let bench: OpenProvider;
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
    bench = await place.open(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`);
    cleanups.push(() => bench.close());
    provider = adapter();
  });
  afterAll(async () => {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  });

  const adapter = (change: Partial<StripeOptions> = {}): PayProvider =>
    createStripe({ ...bench.options, ...change });

  /** Only where it is there. */
  function hands() {
    if (bench.standIn === null) throw new Error(`${name} has no hands`);
    return bench.standIn;
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
    await catalog.createPrice({
      productId,
      amount,
      currency: 'usd',
      lookupKey,
      idempotencyKey: randomUUID(),
    });
    const entry = await catalog.find(lookupKey);
    if (entry === null) throw new Error('the price is not found by its key');
    return entry;
  }

  const inAnHour = () => new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000);

  const makeCheckout = (priceId: string, change: object = {}) => ({
    paymentId: randomUUID(),
    priceId,
    templateCode: 'poster',
    userId: 'usr_anna',
    successUrl: 'http://127.0.0.1:1/success?session_id={CHECKOUT_SESSION_ID}',
    cancelUrl: 'http://127.0.0.1:1/cancel',
    expiresAt: inAnHour(),
    ...change,
  });

  async function opened(amount = 500, change: object = {}) {
    const { priceId } = await sold(amount);
    const request = makeCheckout(priceId, change);
    return { request, ...(await provider.createCheckout(request)) };
  }

  /** Somebody pays on the page. */
  async function paid(amount = 500) {
    const checkout = await opened(amount);
    await hands().control.pay(checkout.sessionId);
    const state = await provider.readCheckoutState(checkout.sessionId);
    return { ...checkout, state, intent: state.paymentIntentId ?? '' };
  }

  /** A payment by card, with a page or without. */
  async function charged(amount = 500): Promise<Charged> {
    if (bench.charge !== null) return bench.charge(amount);
    const { sessionId, intent } = await paid(amount);
    return { intent, refunded: async () => (await provider.readCheckoutState(sessionId)).amountRefunded };
  }

  const makeRefund = ({ intent }: { readonly intent: string }, amount: number) => ({
    refundId: randomUUID(),
    paymentId: 'pay_1',
    paymentIntentId: intent,
    amount,
    reason: 'TECHNICAL_ISSUE' as const,
  });

  describe('the account', () => {
    it('says who it is and whether it may take money', async () => {
      const { id, isLive, ...account } = await provider.account();
      expect({ id, isLive }).toEqual({ id: expect.stringMatching(/^acct_/) as string, isLive: false });
      expect(account).toMatchObject(isStandIn ? { chargesEnabled: true, country: 'US' } : {});
      expect(provider.environment).toBe(bench.options.baseUrl === null ? 'test' : 'development');
    });

    it.runIf(isStateful)('is refused to a wrong key, whose secret no message carries', async () => {
      const error = await adapter({ secretKey: 'sk_test_wrongwrongwrong' })
        .account()
        .catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'KEY_REFUSED' });
      expect((error as Error).message).not.toContain('wrong');
    });

    it.runIf(isStandIn)('can not be reached when nobody answers', async () => {
      const lonely = createStripe({
        secretKey: 'sk_test_x',
        webhookSecrets: [],
        baseUrl: 'http://127.0.0.1:9',
      });
      await expect(lonely.account()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    });
  });

  describe('the catalog', () => {
    it.runIf(isStateful)('finds a price by its lookup key, with its product', async () => {
      const lookupKey = `test:${randomUUID()}`;
      const entry = await sold(700, lookupKey);
      expect(entry).toMatchObject({ name: 'Poster', amount: 700, currency: 'usd', isActive: true });
      expect(await provider.catalog.find(`test:${randomUUID()}`)).toBeNull();
    });

    it.runIf(isStateful)('makes one product for one idempotency key', async () => {
      const idempotencyKey = randomUUID();
      const ids = await Promise.all(
        [1, 2, 3].map(() =>
          provider.catalog.createProduct({ ...product(), idempotencyKey }).catch(() => null),
        ),
      );
      const again = await provider.catalog.createProduct({ ...product(), idempotencyKey });
      expect(new Set([...ids.filter((id) => id !== null), again]).size).toBe(1);
    });

    it.runIf(isStateful)('refuses the same key for another request', async () => {
      const idempotencyKey = randomUUID();
      await provider.catalog.createProduct({ ...product(), idempotencyKey });
      const other = { ...product({ name: 'Another' }), idempotencyKey };
      await expect(provider.catalog.createProduct(other)).rejects.toMatchObject({ code: 'REFUSED' });
    });

    it.runIf(isStateful)('changes and archives a product', async () => {
      const { productId, priceId } = await sold();
      await provider.catalog.updateProduct(productId, product({ name: 'New', isActive: false }));
      expect(await provider.catalog.read(productId, priceId)).toMatchObject({ name: 'New', isActive: false });
    });

    it.runIf(isStateful)(
      'rotates a price: the key goes over, the old one is archived once it is not the default',
      async () => {
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
      },
    );

    it.runIf(isStateful)('knows nothing of ids of another account', async () => {
      expect(await provider.catalog.read('prod_none', 'price_none')).toBeNull();
    });
  });

  describe('a checkout', () => {
    it.runIf(isStandIn)('names its payment, template and buyer in the metadata', async () => {
      const { request, sessionId } = await opened();
      expect(hands().state.get('checkout.session', sessionId)['metadata']).toEqual({
        app: 'kiln',
        payment_id: request.paymentId,
        template_code: 'poster',
        user_id: 'usr_anna',
      });
    });

    it.runIf(isStateful)('is open, unpaid, and the payment’s', async () => {
      const { request, sessionId, url } = await opened();
      expect(url).toContain(isStandIn ? `http://127.0.0.1:1/pay/${sessionId}` : 'https://');
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({
        sessionId,
        paymentId: request.paymentId,
        session: 'open',
        isPaid: false,
        amount: 500,
        currency: 'usd',
        amountRefunded: 0,
      });
    });

    it.runIf(isStateful)('is the same one when it is asked for again', async () => {
      const { request, sessionId } = await opened();
      expect(await provider.createCheckout(request)).toMatchObject({ sessionId });
      const changed = { ...request, expiresAt: new Date(request.expiresAt.getTime() + 1000) };
      await expect(provider.createCheckout(changed)).rejects.toMatchObject({ code: 'REFUSED' });
    });

    it.runIf(isStateful)('of a price that is gone, or below the least amount, is refused', async () => {
      await expect(opened(500, { priceId: 'price_none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
      await expect(opened(10)).rejects.toMatchObject({ code: 'REFUSED' });
    });

    it.runIf(isStateful)('that ends too soon is refused', async () => {
      const soon = { expiresAt: new Date(Date.now() + 60_000) };
      await expect(opened(500, soon)).rejects.toMatchObject({ code: 'REFUSED' });
    });

    it.runIf(isStandIn)('is opened once, although its answer was lost', async () => {
      const before = hands().state.all('checkout.session').length;
      hands().control.fail({ match: /^POST checkout\/sessions$/, times: 1, status: 0, after: true });
      await opened();
      expect(hands().state.all('checkout.session').length).toBe(before + 1);
    });

    it.runIf(isStandIn)('survives outages of the provider', async () => {
      hands().control.fail({ match: /^POST checkout\/sessions$/, times: 2, status: 500 });
      expect(await opened()).toMatchObject({ sessionId: expect.stringMatching(/^cs_/) as string });
    });

    it.runIf(isStateful)('that nobody knows is not found', async () => {
      await expect(provider.readCheckoutState('cs_test_none')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    });
  });

  describe('money', () => {
    it.runIf(isStandIn)('is there when the card was good', async () => {
      const { state, sessionId } = await paid();
      expect(state).toMatchObject({
        session: 'complete',
        isPaid: true,
        isSettling: false,
        amountRefunded: 0,
      });
      expect(await provider.sessionOfIntent(state.paymentIntentId ?? '')).toBe(sessionId);
      expect(await provider.sessionOfIntent('pi_none')).toBeNull();
    });

    it.runIf(isStandIn)('is not there after a declined card, which may be tried again', async () => {
      const { sessionId } = await opened();
      await hands().control.pay(sessionId, 'decline');
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({ session: 'open', isPaid: false });
      await hands().control.pay(sessionId);
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({ isPaid: true });
    });

    it.runIf(isStandIn).each([
      [true, { isPaid: true, isSettling: false }],
      [false, { isPaid: false, isSettling: false }],
    ])('comes late by a method that takes its time (good: %s)', async (isGood, expected) => {
      const { sessionId } = await opened();
      await hands().control.pay(sessionId, 'delayed');
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({
        session: 'complete',
        isPaid: false,
        isSettling: true,
      });
      await hands().control.settle(sessionId, isGood);
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({ session: 'complete', ...expected });
    });

    it.runIf(isStandIn)('is not needed where there is nothing to pay', async () => {
      const { sessionId } = await opened(0);
      await hands().control.pay(sessionId);
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({
        isPaid: true,
        paymentIntentId: null,
        amount: 0,
      });
    });

    it.runIf(isStateful)('can not come any more once the checkout was ended', async () => {
      const { sessionId } = await opened();
      expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'expired', isPaid: false });
      const tried = bench.standIn?.control.pay(sessionId) ?? Promise.reject(new Error('not open'));
      await expect(tried).rejects.toThrow('not open');
      expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'expired' });
    });

    it.runIf(isStandIn)('may come still when the end of its checkout could not be told', async () => {
      const { sessionId } = await opened();
      hands().control.fail({ match: /^POST checkout\/sessions\/.*expire$/, times: 12, status: 500 });
      await expect(provider.expireCheckout(sessionId)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      hands().control.heal();
      expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'expired' });
    });

    it.runIf(isStandIn)('wins over an end that comes too late', async () => {
      const { sessionId } = await paid();
      expect(await provider.expireCheckout(sessionId)).toMatchObject({ session: 'complete', isPaid: true });
    });
  });

  describe('a refund', () => {
    it.runIf(isStateful)('in parts, then whole', async () => {
      const bought = await charged();
      expect(await provider.refund(makeRefund(bought, 200))).toMatchObject({
        amount: 200,
        status: 'succeeded',
      });
      expect(await bought.refunded()).toBe(200);
      await provider.refund(makeRefund(bought, 300));
      expect(await bought.refunded()).toBe(500);
      await expect(provider.refund(makeRefund(bought, 1))).rejects.toMatchObject({ code: 'REFUSED' });
    });

    it.runIf(isStateful)('of more than is left is refused', async () => {
      await expect(provider.refund(makeRefund(await charged(), 501))).rejects.toMatchObject({
        code: 'REFUSED',
      });
    });

    it.runIf(isStateful)('is made once, however often it is asked for', async () => {
      const bought = await charged();
      const request = makeRefund(bought, 100);
      const [first, second] = [await provider.refund(request), await provider.refund(request)];
      expect(second).toEqual(first);
      expect(await bought.refunded()).toBe(100);
    });

    it.runIf(isStateful)('is found by our id among those of its payment, and nowhere else', async () => {
      const bought = await charged();
      const [one, other] = [makeRefund(bought, 100), makeRefund(bought, 200)];
      const made = [await provider.refund(one), await provider.refund(other)];
      const found = (refundId: string) => provider.findRefund({ refundId, paymentIntentId: bought.intent });
      expect([await found(one.refundId), await found(other.refundId)]).toMatchObject(
        made.map(({ id, amount }) => ({ id, amount })),
      );
      expect(await found(randomUUID())).toBeNull();
    });

    it.runIf(isStateful)('is listed with its reason and its time', async () => {
      const bought = await charged();
      const request = makeRefund(bought, 100);
      await provider.refund(request);
      await provider.refund({ ...makeRefund(bought, 200), reason: 'DUPLICATE' });
      const listed = await provider.listRefunds(bought.intent);
      expect(listed.toSorted((one, other) => one.amount - other.amount)).toMatchObject([
        // The provider knows no technical failures.
        { amount: 100, reason: 'USER_REQUEST', refundId: request.refundId },
        { amount: 200, reason: 'DUPLICATE' },
      ]);
      for (const { createdAt } of listed)
        expect(Math.abs(createdAt.getTime() - Date.now())).toBeLessThan(300_000);
    });

    it.runIf(isStandIn)('that the bank sends back leaves the money where it was', async () => {
      const bought = await paid();
      const { id } = await provider.refund(makeRefund(bought, 500));
      await hands().control.failRefund(id);
      expect(await provider.readCheckoutState(bought.sessionId)).toMatchObject({
        amountRefunded: 0,
        isPaid: true,
      });
    });
  });

  describe('a dispute', () => {
    it.runIf(isStandIn)('is open until it is won', async () => {
      const { sessionId } = await paid();
      await hands().control.dispute(sessionId);
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({ isDisputed: true });
      await hands().control.dispute(sessionId, 'won');
      expect(await provider.readCheckoutState(sessionId)).toMatchObject({ isDisputed: false });
    });
  });

  describe('an event', () => {
    const readEvents = async (type: string) => {
      const events = hooks.map(async (hook) => ({
        hook,
        event: await provider.readEvent(hook.body, hook.signature),
      }));
      return (await Promise.all(events)).filter(({ event }) => event.type === type);
    };

    it.runIf(isStandIn)('is signed, and says where to look', async () => {
      hooks = [];
      const { request, sessionId, intent } = await paid();
      await expect.poll(async () => (await readEvents('checkout.session.completed')).length).toBe(1);
      expect((await readEvents('checkout.session.completed'))[0]?.event).toMatchObject({
        id: expect.stringMatching(/^evt_/) as string,
        isLive: false,
        refersTo: { kind: 'session', sessionId, paymentId: request.paymentId },
      });
      await provider.refund({ ...makeRefund({ intent }, 500), paymentId: request.paymentId });
      await expect.poll(async () => (await readEvents('charge.refunded')).length).toBe(1);
      expect((await readEvents('charge.refunded'))[0]?.event.refersTo).toEqual({
        kind: 'intent',
        paymentIntentId: intent,
        paymentId: request.paymentId,
      });
      expect((await readEvents('product.created'))[0]?.event.refersTo).toEqual({ kind: 'nothing' });
    });

    it.runIf(isStandIn)(
      'is not ours when its body was changed, its signature is old or of another secret',
      async () => {
        hooks = [];
        await paid();
        await expect.poll(() => hooks.length).toBeGreaterThan(0);
        const [{ body, signature }] = hooks as [Hook];
        const refused = expect.objectContaining({ code: 'NOT_AUTHENTIC' }) as unknown;
        const read = (changed: Partial<Hook>, by = provider) =>
          by.readEvent(changed.body ?? body, changed.signature ?? signature);
        const other = Buffer.from(JSON.stringify(JSON.parse(body.toString('utf8'))));
        await expect(read({ body: other })).rejects.toEqual(refused);
        await expect(read({ signature: 't=1,v1=00' })).rejects.toEqual(refused);
        await expect(read({ signature: '' })).rejects.toEqual(refused);
        await expect(read({}, adapter({ webhookSecrets: ['whsec_other'] }))).rejects.toEqual(refused);
        const rotating = adapter({ webhookSecrets: ['whsec_new', hands().webhookSecret] });
        expect(await read({}, rotating)).toMatchObject({ id: expect.stringMatching(/^evt_/) as string });
      },
    );

    it.runIf(isStandIn)('comes again until it is taken, and can be asked for after an absence', async () => {
      hooks = [];
      const since = new Date(Date.now() - 2_000);
      hookStatus = 500;
      const { sessionId } = await paid();
      await expect
        .poll(async () =>
          (await Array.fromAsync(provider.undelivered(since))).some(
            ({ refersTo: look }) => look.kind === 'session' && look.sessionId === sessionId,
          ),
        )
        .toBe(true);
      hookStatus = 200;
      await expect.poll(async () => (await readEvents('checkout.session.completed')).length).toBe(1);
    });
  });

  describe('every call that we make', () => {
    it('is one that Stripe’s own description allows', async () => {
      const { catalog } = provider;
      const [productId, priceId] = ['prod_1', 'price_1'];
      const calls: readonly (() => Promise<unknown>)[] = [
        () => provider.account(),
        () => catalog.createProduct({ ...product(), idempotencyKey: randomUUID() }),
        () =>
          catalog.updateProduct(productId, { ...product({ description: null }), defaultPriceId: priceId }),
        () =>
          catalog.createPrice({
            productId,
            amount: 500,
            currency: 'usd',
            lookupKey: randomUUID(),
            idempotencyKey: randomUUID(),
          }),
        () => catalog.archivePrice(priceId),
        () => catalog.find('test:none'),
        () => catalog.read(productId, priceId),
        () => provider.createCheckout(makeCheckout(priceId)),
        () => provider.readCheckoutState('cs_test_1'),
        () => provider.expireCheckout('cs_test_1'),
        () => provider.sessionOfIntent('pi_1'),
        () => provider.refund(makeRefund({ intent: 'pi_1' }, 100)),
        () => provider.findRefund({ refundId: randomUUID(), paymentIntentId: 'pi_1' }),
        () => Array.fromAsync(provider.undelivered(new Date(Date.now() - 60_000))),
      ];
      const refusals: string[] = [];
      for (const call of calls) {
        await call().catch((error: unknown) => {
          const { code, message } = error as { code: string; message: string };
          // What is not there is not there; only the request itself must be one.
          if (code !== 'NOT_FOUND') refusals.push(`${code} ${message}`);
        });
      }
      expect(refusals).toEqual([]);
    });
  });
});

it('tells Stripe who calls, and not how long its calls take', async () => {
  const asked: IncomingHttpHeaders[] = [];
  const server = createServer(({ headers }, response) => {
    asked.push(headers);
    response.writeHead(200, { 'content-type': 'application/json', 'request-id': `req_${asked.length}` });
    response.end(JSON.stringify({ object: 'list', data: [], has_more: false, url: '/v1/prices' }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { catalog } = createStripe({ secretKey: 'sk_test_a', webhookSecrets: ['whsec_a'], baseUrl });
    expect([await catalog.find('one'), await catalog.find('other')]).toEqual([null, null]);
    expect(asked.map((headers) => headers['x-stripe-client-telemetry'])).toEqual([undefined, undefined]);
    expect(asked[0]?.['user-agent']).toContain('kiln');
  } finally {
    server.close();
  }
});
