import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { Stripe } from 'stripe';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';

import { createLogger, silentLogger } from '../../platform/process/logger.ts';
import { temporaryFolder } from '../test-kit.ts';
import { createStripeStandIn, type StripeStandIn } from './stripe.ts';

/** Stripe's SDK against its stand-in; the adapter on top of the SDK, and every type of answer, are in test/payments. */

let standIn: StripeStandIn;
const notices: { readonly body: string; readonly signature: string }[] = [];
const cleanups: (() => unknown)[] = [];
beforeAll(async () => {
  const home = await temporaryFolder();
  cleanups.push(home.remove);
  const receiver = createServer((request, response) => {
    const signature = String(request.headers['stripe-signature']);
    void text(request).then((body) => {
      notices.push({ body, signature });
      response.end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  cleanups.push(() => new Promise((resolve) => receiver.close(resolve)));
  const { port } = receiver.address() as AddressInfo;
  standIn = await createStripeStandIn({
    dataDir: home.folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: `http://127.0.0.1:${port}/`,
    logger: silentLogger(),
  });
  cleanups.push(() => standIn.close());
});
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

const client = (secretKey = standIn.secretKey) => {
  const { hostname: host, port } = new URL(standIn.url);
  return new Stripe(secretKey, { host, port, protocol: 'http', maxNetworkRetries: 2, telemetry: false });
};

async function sale() {
  const stripe = client();
  const product = await stripe.products.create({ name: 'Poster', metadata: { app: 'a test' } });
  const price = await stripe.prices.create({ product: product.id, currency: 'usd', unit_amount: 500 });
  return stripe.checkout.sessions.create({
    mode: 'payment',
    line_items: [{ price: price.id, quantity: 1 }],
    success_url: 'http://127.0.0.1:1/success',
  });
}

it('sells, reports it by a signed event, and refunds', async () => {
  const stripe = client();
  const session = await sale();
  expect(session).toMatchObject({ status: 'open', amount_total: 500, payment_status: 'unpaid' });
  await standIn.control.pay(session.id);
  const paid = await stripe.checkout.sessions.retrieve(session.id, { expand: ['payment_intent'] });
  expect(paid).toMatchObject({ status: 'complete', payment_status: 'paid', payment_intent: { amount: 500 } });
  const completed = () =>
    notices.find(({ body }) => body.includes('"checkout.session.completed"') && body.includes(session.id));
  await expect.poll(completed).toBeDefined();
  const { body, signature } = completed() ?? { body: '', signature: '' };
  const event = stripe.webhooks.constructEvent(body, signature, standIn.webhookSecret);
  expect(event).toMatchObject({ type: 'checkout.session.completed', data: { object: { id: session.id } } });
  expect(() => stripe.webhooks.constructEvent(body, signature, 'whsec_another')).toThrow(
    Stripe.errors.StripeSignatureVerificationError,
  );
  const intent = paid.payment_intent as Stripe.PaymentIntent;
  const refund = await stripe.refunds.create({ payment_intent: intent.id, amount: 200 });
  expect(refund).toMatchObject({ status: 'succeeded', amount: 200 });
  const more = stripe.refunds.create({ payment_intent: intent.id, amount: 400 });
  await expect(more).rejects.toBeInstanceOf(Stripe.errors.StripeInvalidRequestError);
});

it('pages through lists, and expires a checkout', async () => {
  const made = [(await sale()).id, (await sale()).id, (await sale()).id];
  const seen: string[] = [];
  for await (const { id } of client().checkout.sessions.list({ limit: 1 })) seen.push(id);
  expect(seen).toEqual(expect.arrayContaining(made));
  expect((await client().checkout.sessions.expire(made[0] ?? '')).status).toBe('expired');
});

it('is tried again after an outage, with the same key and once', async () => {
  standIn.control.fail({ match: /POST products/, times: 1, status: 500, after: true });
  const before = standIn.control.requests.length;
  const { id } = await client().products.create({ name: 'Once' });
  expect(standIn.control.requests.slice(before)).toEqual(['POST products', 'POST products']);
  const named = (await client().products.list({ limit: 100 })).data.filter(({ name }) => name === 'Once');
  expect(named.map((one) => one.id)).toEqual([id]);
});

const unknown = { name: 'x', colour: 'red' };

it.each([
  ['another key', () => client('sk_test_another').products.list(), 'StripeAuthenticationError', undefined],
  [
    'what is not there',
    () => client().products.retrieve('none'),
    'StripeInvalidRequestError',
    'resource_missing',
  ],
  [
    'unknown parameters',
    () => client().products.create(unknown),
    'StripeInvalidRequestError',
    'parameter_unknown',
  ],
  // Not done by this stand-in (docs/sandbox.md).
  ['subscriptions', () => client().subscriptions.list(), 'StripeInvalidRequestError', undefined],
  ['customers', () => client().customers.create({ name: 'x' }), 'StripeInvalidRequestError', undefined],
  [
    'payments without a checkout',
    () => client().paymentIntents.create({ amount: 500, currency: 'usd' }),
    'StripeInvalidRequestError',
    undefined,
  ],
] as const)('refuses %s', async (_, call, type, code) => {
  await expect(call()).rejects.toMatchObject({ type, ...(code && { code }) });
});

it('goes on when the end of a session can not be written, and says so', async () => {
  const home = await temporaryFolder();
  const lines: string[] = [];
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const full = await createStripeStandIn({
    dataDir: home.folder,
    pageUrl: 'http://127.0.0.1:1/pay',
    webhookUrl: null,
    logger: createLogger({ level: 'error', destination: { write: (line) => void lines.push(line) } }),
  });
  const session = { id: 'cs_1', object: 'checkout.session', status: 'open', expires_at: 1 };
  full.state.add('checkout.session', session);
  // As on a disk that is full.
  await home.remove();
  vi.advanceTimersByTime(5_000);
  vi.useRealTimers();
  await expect.poll(() => lines.join('')).toContain('ENOENT');
  expect(full.state.find('checkout.session', 'cs_1')?.['status']).toBe('expired');
  await mkdir(home.folder);
  await full.close();
  await home.remove();
});
