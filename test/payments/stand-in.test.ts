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

  it('the same key gives back once', async () => {
    const { sessionId, request } = await opened();
    await standIn.control.pay(sessionId);
    const { paymentIntentId } = await provider().checkoutStateOf(sessionId);
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
    expect(await provider().checkoutStateOf(sessionId)).toMatchObject({ isPaid: true, amountRefunded: 100 });
  });
});
