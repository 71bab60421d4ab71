import { randomUUID } from 'node:crypto';

import { silentLogger } from '../../platform/process/logger.ts';
import { createStripeStandIn } from '../../sandbox/stripe/stripe.ts';
import { temporaryFolder } from '../../sandbox/test-kit.ts';
import type { PayProvider } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import { createStripe } from '../../subgraphs/workflow/payments/provider/stripe.ts';
import { startRecordingProxy } from '../../test/providers/environment/recording-proxy.ts';
import type { Recorded } from './record.ts';

/** Sells a template, has it paid, given back and looked over, at the stand-in for Stripe; answers what the adapter sent. */
export async function recordStripe(): Promise<readonly Recorded[]> {
  const { folder, remove } = await temporaryFolder();
  const standIn = await createStripeStandIn({
    dataDir: folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: 'http://127.0.0.1:1/hook',
    pausesMs: [],
    logger: silentLogger(),
  });
  const proxy = await startRecordingProxy(standIn.url);
  const { secretKey, webhookSecret } = standIn;
  const options = { secretKey, webhookSecrets: [webhookSecret], baseUrl: proxy.origin };
  try {
    await sell(createStripe(options), (sessionId) => standIn.control.pay(sessionId));
    const facts = { provider: 'stripe', model: 'a sale', options: '' };
    return proxy.sent.map((sent) => ({ ...sent, ...facts }));
  } finally {
    await proxy.close();
    await standIn.close();
    await remove();
  }
}

async function sell(provider: PayProvider, pay: (sessionId: string) => Promise<void>): Promise<void> {
  const priceId = await offer(provider);
  const checkout = (switches: boolean) => ({
    paymentId: randomUUID(),
    priceId,
    templateCode: 'poster',
    userId: 'usr_anna',
    successUrl: 'http://127.0.0.1:1/success?session_id={CHECKOUT_SESSION_ID}',
    cancelUrl: 'http://127.0.0.1:1/cancel',
    email: 'anna@example.org',
    switches: { receipts: switches, tax: switches, promotionCodes: switches },
    expiresAt: new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000),
  });
  const { sessionId } = await provider.createCheckout(checkout(false));
  await pay(sessionId);
  const { paymentIntentId } = await provider.readCheckoutState(sessionId);
  const intent = paymentIntentId ?? '';
  await provider.sessionOfIntent(intent);
  const refund = { refundId: randomUUID(), paymentId: 'pay_1', paymentIntentId: intent, amount: 200 };
  await provider.refund({ ...refund, reason: 'TECHNICAL_ISSUE' });
  await provider.findRefund(refund);
  await provider.listRefunds(intent);
  await provider.expireCheckout((await provider.createCheckout(checkout(true))).sessionId);
  await Array.fromAsync(provider.undelivered(new Date(Date.now() - 60_000)));
}

/** The price of a product that is new, changed and looked up. */
async function offer(provider: PayProvider): Promise<string> {
  await provider.account();
  const { catalog } = provider;
  const product = { templateCode: 'poster', name: 'Poster', description: 'One poster', isActive: true };
  const productId = await catalog.createProduct({ ...product, idempotencyKey: randomUUID() });
  const price = { productId, amount: 500, currency: 'usd' };
  const [old, priceId] = [
    await catalog.createPrice({ ...price, lookupKey: 'poster:usd:1', idempotencyKey: randomUUID() }),
    await catalog.createPrice({ ...price, lookupKey: 'poster:usd:2', idempotencyKey: randomUUID() }),
  ];
  await catalog.updateProduct(productId, { ...product, name: 'A poster', defaultPriceId: priceId });
  await catalog.archivePrice(old);
  await catalog.find('poster:usd:2');
  await catalog.read(productId, priceId);
  return priceId;
}
