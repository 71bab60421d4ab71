import { randomUUID } from 'node:crypto';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStripeStandIn, type StripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import { createStripe } from '../../subgraphs/workflow/payments/provider/stripe.ts';

/** The stand-in for Stripe is what Stripe is when its process ends: it still knows what was asked for, and under which key. */

let dataDir: string;
let remove: () => Promise<void>;
let standIn: StripeStandIn;
const open = async () =>
  createStripeStandIn({
    dataDir,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: null,
    logger: silentLogger(),
  });
beforeEach(async () => {
  ({ folder: dataDir, remove } = await temporaryFolder());
  standIn = await open();
});
afterEach(async () => {
  await standIn.close();
  await remove();
});

const provider = () =>
  createStripe({
    secretKey: standIn.secretKey,
    webhookSecrets: [standIn.webhookSecret],
    baseUrl: standIn.url,
  });

async function restart(): Promise<void> {
  await standIn.close();
  standIn = await open();
}

async function opened() {
  const { catalog } = provider();
  const about = { templateCode: 'poster', name: 'Poster', description: null, isActive: true };
  const productId = await catalog.createProduct({ ...about, idempotencyKey: randomUUID() });
  const lookup = { lookupKey: randomUUID(), idempotencyKey: randomUUID() };
  const priceId = await catalog.createPrice({ productId, amount: 500, currency: 'usd', ...lookup });
  const request = {
    paymentId: randomUUID(),
    priceId,
    templateCode: 'poster',
    userId: 'usr_anna',
    successUrl: 'http://127.0.0.1:1/success',
    cancelUrl: 'http://127.0.0.1:1/cancel',
    expiresAt: new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000),
  };
  return { request, ...(await provider().createCheckout(request)) };
}

describe('after a restart', () => {
  it('the same key opens the same checkout, and not another one', async () => {
    const { request, sessionId } = await opened();
    await restart();
    expect(await provider().createCheckout(request)).toMatchObject({ sessionId });
    const other = { ...request, expiresAt: new Date(request.expiresAt.getTime() + 1000) };
    await expect(provider().createCheckout(other)).rejects.toMatchObject({ code: 'REFUSED' });
    expect(standIn.state.all('checkout.session')).toHaveLength(1);
  });

  it('the same key refunds once', async () => {
    const { sessionId, request } = await opened();
    await standIn.control.pay(sessionId);
    const { paymentIntentId } = await provider().readCheckoutState(sessionId);
    const refund = {
      refundId: randomUUID(),
      paymentId: request.paymentId,
      paymentIntentId: paymentIntentId ?? '',
      amount: 100,
      reason: 'USER_REQUEST',
    } as const;
    const first = await provider().refund(refund);
    await restart();
    expect(await provider().refund(refund)).toEqual(first);
    expect(await provider().readCheckoutState(sessionId)).toMatchObject({
      isPaid: true,
      amountRefunded: 100,
    });
  });
});

describe('the stand-in refuses what Stripe refuses', () => {
  const call = async (path: string) => {
    const answer = await fetch(`${standIn.url}/v1/${path}`, {
      headers: { authorization: `Bearer ${standIn.secretKey}` },
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { error?: { code?: string; param?: string } },
    };
  };
  const listIds = ({ body }: { readonly body: object }) =>
    (body as { data: { id: string }[] }).data.map(({ id }) => id);

  it('cursors that name nothing, two at once, and unknown limits of time, in every list', async () => {
    await opened();
    for (const list of ['products', 'prices', 'checkout/sessions', 'refunds', 'disputes', 'events']) {
      for (const cursor of ['starting_after', 'ending_before']) {
        const refused = await call(`${list}?${cursor}=nothing_1`);
        expect([refused.status, refused.body.error]).toMatchObject([
          400,
          { code: 'resource_missing', param: cursor },
        ]);
      }
      expect((await call(`${list}?starting_after=a&ending_before=b`)).status).toBe(400);
      expect((await call(`${list}?created[since]=1`)).body.error?.code).toBe('parameter_unknown');
      expect((await call(`${list}?created[gt]=9999999999`)).body).toMatchObject({
        data: [],
        has_more: false,
      });
    }
  });

  it('has products with the description of their template, where there is one', async () => {
    const { catalog } = provider();
    const about = { templateCode: 'poster', name: 'Poster', isActive: true };
    for (const description of ['One poster', null]) {
      const id = await catalog.createProduct({ ...about, description, idempotencyKey: randomUUID() });
      expect((await call(`products/${id}`)).body).toMatchObject({ name: 'Poster', description });
    }
  });

  it('pages backwards as forwards', async () => {
    for (let count = 0; count < 3; count += 1) await opened();
    const all = listIds(await call('products'));
    expect(all).toHaveLength(3);
    expect(listIds(await call(`products?limit=1&starting_after=${all[0]}`))).toEqual([all[1]]);
    const before = await call(`products?limit=1&ending_before=${all[2]}`);
    expect([listIds(before), (before.body as { has_more?: boolean }).has_more]).toEqual([[all[1]], true]);
    const { created } = (await call(`products/${all[0]}`)).body as { created?: number };
    expect(listIds(await call(`products?created=${created}`))).toContain(all[0]);
    expect(listIds(await call(`products?created[lt]=${created}`))).not.toContain(all[0]);
  });

  it('currencies that it does not know, and properties that are no objects', async () => {
    const { sessionId, request } = await opened();
    const odd = { ...request, paymentId: randomUUID(), email: 'no address' };
    await expect(provider().createCheckout(odd)).rejects.toMatchObject({ code: 'REFUSED' });
    const { catalog } = provider();
    const about = { templateCode: 'x', name: 'X', description: null, isActive: true };
    const productId = await catalog.createProduct({ ...about, idempotencyKey: randomUUID() });
    const price = { productId, amount: 500, lookupKey: randomUUID(), idempotencyKey: randomUUID() };
    await expect(catalog.createPrice({ ...price, currency: 'xyz' })).rejects.toMatchObject({
      code: 'REFUSED',
    });
    expect((await call('prices?currency=xyz')).body.error?.param).toBe('currency');
    expect((await call('prices?currency=eur')).body).toMatchObject({ data: [] });
    const [session, prices] = [`checkout/sessions/${sessionId}`, 'prices'];
    for (const path of [
      `${session}?expand[0]=amount_total`,
      `${session}?expand[0]=nothing`,
      `${prices}?expand[0]=product`,
      'disputes?expand[0]=data.nothing',
    ]) {
      expect((await call(path)).body.error?.param).toBe('expand');
    }
    expect((await call(`${prices}?expand[0]=data.product`)).status).toBe(200);
    expect((await call(`${session}?expand[0]=payment_intent.latest_charge`)).status).toBe(200);
  });
});
