import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { sandboxAddresses } from '../../../platform/config/sandbox-addresses.ts';
import { graphql, rest, until } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { moment, refusal, told } from './envelopes.ts';

/** Purchases by the documented paths alone, at a live server with a sandbox of its own that pays nothing by itself. */

let kiln: KilnUnderTest;
/** A foreign host of images, of which one is missing and one is none. */
let images: { readonly url: string; readonly server: Server };
beforeAll(async () => {
  images = await foreignHost();
  const OUTBOUND_ALLOW = new URL(images.url).host;
  const SIGN_IN_REDIRECTS = 'https://shop.example';
  kiln = await startKiln({
    settings: (outside) => ({
      SANDBOX_URL: '',
      // Its own sandbox sells; what is sold another one makes, without drawing it.
      AGG_BASE_URL: sandboxAddresses(outside).midjourney,
      AGG_API_KEY: 'sk-of-the-tests',
      REST_AUTH: 'open',
      SANDBOX_AUTO_PAY: 'false',
      OUTBOUND_ALLOW,
      SIGN_IN_REDIRECTS,
    }),
  });
});
afterAll(async () => {
  await kiln?.close();
  images?.server.close();
});

async function foreignHost() {
  const server = createServer((request, response) => {
    response.writeHead(request.url === '/words.png' ? 200 : 404, { 'content-type': 'text/plain' });
    response.end('no image');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const get = (path: string) => rest(kiln.url, 'GET', path);
const post = (path: string, body: object) => rest(kiln.url, 'POST', path, body);

interface Opened {
  readonly sessionId: string;
  readonly url: string;
  readonly paymentId: string;
}

async function opened(metadata: object = { prompt: 'a fox' }, userId = 'buyer-7'): Promise<Opened> {
  const answer = await post('/payment/checkout/poster', { userId, metadata });
  expect(answer).toEqual(
    told({ sessionId: expect.any(String), url: expect.any(String), paymentId: expect.any(String) }),
  );
  return answer.body.data;
}

const pair = ({ sessionId, paymentId }: Opened) => `session_id=${sessionId}&payment_id=${paymentId}`;
const success = (checkout: Opened) => get(`/payment/success?${pair(checkout)}`);
const payment = async ({ paymentId }: Opened) => (await get(`/payment/${paymentId}`)).body.data;
/** What `success` answers while nothing is paid. */
const unpaid = ({ paymentId }: Opened, status = 'pending') =>
  told({ payment: { id: paymentId, status, templateCode: 'poster' }, execution: null });
const paid = ({ paymentId }: Opened) =>
  told({
    payment: { id: paymentId, status: 'completed', templateCode: 'poster' },
    execution: { executionId: expect.any(String), taskId: expect.any(String) },
  });

/** Presses a button of the hosted page; answers its status and where the browser is sent. */
async function press(url: string, button: string) {
  const body = new URLSearchParams({ do: button });
  const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
  await answer.arrayBuffer();
  return { status: answer.status, location: answer.headers.get('location') };
}

/** The path that a browser is sent back to. */
function readPath(location: string | null): string {
  const url = new URL(location ?? '');
  expect(url.origin).toBe(kiln.url);
  return `${url.pathname}${url.search}`;
}

describe('a purchase', () => {
  it('is not offered of what can not be run', async () => {
    expect((await post('/templates', { code: 'unknown-graph', name: 'Unknown' })).status).toBe(200);
    // It was known when the template was made.
    await kiln.runtime.database.pool.query(
      "update workflow.templates set workflow = 'comfy:none' where code = 'unknown-graph'",
    );
    const { status, body } = await post('/payment/checkout/unknown-graph', {
      userId: 'buyer-7',
      metadata: { prompt: 'a fox' },
    });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      code: 400,
      message: expect.stringContaining('no comfy workflow of that name'),
    });
    const { body: history } = await get('/payment/history?userId=buyer-7');
    expect(JSON.stringify(history)).not.toContain('unknown-graph');
  });

  it('ends at pages of the shop, where it has them, by the rule of sign-in', async () => {
    const request = { userId: 'buyer-shop', metadata: { prompt: 'a fox' } };
    const successUrl = 'https://shop.example/paid?order=7&session={CHECKOUT_SESSION_ID}';
    const cancelUrl = 'https://shop.example/back';
    const open = async () =>
      (await post('/payment/checkout/poster', { ...request, successUrl, cancelUrl })).body.data as Opened;
    const paid = await open();
    expect((await press(paid.url, 'card')).location).toBe(
      `https://shop.example/paid?order=7&session=${paid.sessionId}`,
    );
    expect((await press((await open()).url, 'back')).location).toBe(cancelUrl);
    const foreign = { successUrl: 'https://evil.example/', cancelUrl: '//evil.example' };
    for (const [field, address] of Object.entries(foreign)) {
      const refused = await post('/payment/checkout/poster', { ...request, [field]: address });
      expect(refused).toEqual(refusal(400, [field]));
      expect(refused.body.message).toContain('allowed here');
    }
  });

  it('ends at a page for browsers, and at JSON for programs', async () => {
    const checkout = await opened({ prompt: 'a fox' }, 'buyer-8');
    const path = `/payment/success?${pair(checkout)}`;
    const browser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    const page = await fetch(`${kiln.url}${path}`, { headers: browser });
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(await page.text()).toContain('Payment pending');
    expect(await get(path)).toEqual(unpaid(checkout));
    const cancelled = await fetch(`${kiln.url}/payment/cancel?payment_id=${checkout.paymentId}`, {
      headers: browser,
    });
    expect(await cancelled.text()).toContain('Payment cancelled');
    const unknown = await fetch(`${kiln.url}/payment/success?payment_id=<b>`, { headers: browser });
    expect([unknown.status, unknown.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await unknown.text()).toContain('no payment &quot;&lt;b&gt;&quot;');
  });

  it('is not offered with an image that can not be had', async () => {
    for (const [path, reason] of [
      ['/missing.png', 'HTTP 404'],
      ['/words.png', 'text/plain'],
    ] as const) {
      const imageUrl = `${images.url}${path}`;
      const answer = await post('/payment/checkout/poster', { userId: 'buyer-9', metadata: { imageUrl } });
      expect(answer).toEqual(refusal(400, ['metadata.imageUrl']));
      expect(answer.body.message).toContain(reason);
    }
    expect((await get('/payment/history?userId=buyer-9')).body.data.total).toBe(0);
  });

  it('goes from the list of templates to the image, the history and the refund', async () => {
    const { body: listed } = await get('/templates');
    const { creditCost } = listed.data.templates.find(({ code }: { code: string }) => code === 'poster');
    const checkout = await opened();
    const { paymentId, url, sessionId } = checkout;
    expect(await (await fetch(url)).text()).toContain('Pay with a test card');
    const { location } = await press(url, 'card');
    const landed = await get(readPath(location));
    expect(landed).toEqual(paid(checkout));
    expect(landed.headers.get('cache-control')).toBe('no-store');
    const { executionId, taskId } = landed.body.data.execution;

    const ended = await until(
      () => get(`/templates/execution/${taskId}/progress`),
      ({ body }) => !['pending', 'running'].includes(body.data.status),
    );
    const { videoUrl, urls } = ended.body.data.result;
    const result = { videoUrl: urls[0], urls };
    const done = { status: 'completed', progress: 100, result, error: null };
    expect(ended).toEqual(told({ taskId, executionId, ...done }));
    expect((await fetch(videoUrl)).headers.get('content-type')).toMatch(/^image\//);

    const amount = creditCost * 100;
    const money = { status: 'completed', amount, currency: 'usd', createdAt: moment };
    const sold = { id: paymentId, templateCode: 'poster', ...money, refundedAmount: 0, refunds: [] };
    expect(await get('/payment/history?userId=buyer-7')).toEqual(told({ payments: [sold], total: 1 }));
    expect(await get(`/payment/${paymentId}`)).toEqual(
      told({ ...sold, userId: 'buyer-7', ppSessionId: sessionId, executionId }),
    );

    const refunds = `/payment/refund/${paymentId}`;
    const part = { reason: 'technical_issue', amount: 1, metadata: { ticket: 9 } };
    expect(await post(refunds, part)).toEqual(
      told({ refundId: expect.any(String), amount: 1, status: 'succeeded' }),
    );
    expect(await post(refunds, { amount })).toEqual(refusal(400, ['amount']));
    expect((await payment(checkout)).status).toBe('completed');
    const nothing = await graphql(
      kiln.url,
      'mutation ($id: ID!) { refundPayment(id: $id, reason: USER_REQUEST, amount: 0) { id } }',
      { id: paymentId },
    );
    expect(nothing.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'amount' });
    const whatIsLeft = { refundId: expect.any(String), amount: amount - 1, status: 'succeeded' };
    expect(await post(refunds, { reason: 'user_request', amount: 0 })).toEqual(told(whatIsLeft));
    const refund = { refundId: expect.any(String), status: 'succeeded', createdAt: moment };
    const refunded = {
      status: 'refunded',
      executionId,
      refundedAmount: amount,
      refunds: [
        { ...refund, amount: 1, reason: 'technical_issue' },
        { ...refund, amount: amount - 1, reason: 'user_request' },
      ],
    };
    expect(await payment(checkout)).toMatchObject(refunded);
    expect(await post(refunds, {})).toEqual(refusal(400, ['paymentId']));
  });

  it('that is refunded while it runs is cancelled, and says so', async () => {
    await kiln.control('latency', { queuedMs: 0, runningMs: 60_000 });
    try {
      const checkout = await opened();
      await press(checkout.url, 'card');
      const { taskId } = (await success(checkout)).body.data.execution;
      const refund = await graphql(
        kiln.url,
        'mutation ($id: ID!) { refundPayment(id: $id, reason: TECHNICAL_ISSUE) { status payment { id status } } }',
        { id: checkout.paymentId },
      );
      expect(refund.data.refundPayment).toEqual({
        status: 'succeeded',
        payment: { id: checkout.paymentId, status: 'REFUNDED' },
      });
      const { body } = await until(
        () => get(`/task/${taskId}`),
        (answer) => !['pending', 'running'].includes(answer.body.data.status),
      );
      expect(body.data).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
    } finally {
      await kiln.control('latency', { queuedMs: 0, runningMs: 0 });
    }
  });

  it('is in no list of who says nothing of themselves', async () => {
    await opened();
    const lists = `{
      payments { totalCount edges { node { id } } sums { currency } } executions { totalCount edges { node { id } } }
    }`;
    const none = { totalCount: 0, edges: [] };
    expect((await graphql(kiln.url, lists)).data).toEqual({
      payments: { ...none, sums: [] },
      executions: none,
    });
  });

  it('is completed by the webhook alone when the buyer never comes back', async () => {
    const checkout = await opened();
    await press(checkout.url, 'card');
    const known = await until(
      () => payment(checkout),
      ({ status }) => status !== 'pending',
    );
    expect(known).toMatchObject({ status: 'completed', executionId: expect.any(String) });
    const [one, other] = await Promise.all([success(checkout), success(checkout)]);
    expect(one).toEqual(paid(checkout));
    expect(one.body.data.execution).toEqual(other.body.data.execution);
  });

  it('starts nothing while it is not paid, however often success is called', async () => {
    const checkout = await opened();
    for (const query of [
      pair(checkout),
      `payment_id=${checkout.paymentId}`,
      `session_id=${checkout.sessionId}`,
    ]) {
      expect(await get(`/payment/success?${query}`)).toEqual(unpaid(checkout));
    }
    expect((await payment(checkout)).executionId).toBeNull();
  });

  it('can’t be had with the session of another one', async () => {
    const [mine, theirs] = [await opened(), await opened()];
    await press(theirs.url, 'card');
    const mixed = `session_id=${theirs.sessionId}&payment_id=${mine.paymentId}`;
    for (const path of ['success', 'cancel']) {
      expect(await get(`/payment/${path}?${mixed}`)).toEqual(refusal(400, ['session_id']));
    }
    expect(await payment(mine)).toMatchObject({ status: 'pending', executionId: null });
  });

  it('ends without money when its buyer goes back, and can’t be paid any more', async () => {
    const checkout = await opened();
    const { location } = await press(checkout.url, 'back');
    const cancelled = told({ payment: { id: checkout.paymentId, status: 'cancelled' } });
    expect(await get(readPath(location))).toEqual(cancelled);
    expect((await press(checkout.url, 'card')).status).toBe(410);
    expect(await success(checkout)).toEqual(unpaid(checkout, 'cancelled'));
  });

  it('stays completed when it is cancelled after it was paid', async () => {
    const checkout = await opened();
    await press(checkout.url, 'card');
    const completed = told({ payment: { id: checkout.paymentId, status: 'completed' } });
    expect(await get(`/payment/cancel?${pair(checkout)}`)).toEqual(completed);
    expect(await success(checkout)).toEqual(paid(checkout));
  });

  it('by a method that takes its time is pending until the bank has paid, failed when it refuses', async () => {
    const [good, bad] = [await opened(), await opened()];
    for (const checkout of [good, bad]) {
      const { location } = await press(checkout.url, 'delayed');
      expect(await get(readPath(location))).toEqual(unpaid(checkout));
      expect((await press(checkout.url, 'card')).status).toBe(410);
    }
    await press(good.url, 'settle');
    expect(await success(good)).toEqual(paid(good));
    await press(bad.url, 'refuse');
    expect(await success(bad)).toEqual(unpaid(bad, 'failed'));
  });

  it('goes on after a card was declined', async () => {
    const checkout = await opened();
    expect((await press(checkout.url, 'decline')).status).toBe(402);
    expect(await success(checkout)).toEqual(unpaid(checkout));
    await press(checkout.url, 'card');
    expect(await success(checkout)).toEqual(paid(checkout));
  });

  it('under one Idempotency-Key is one checkout', async () => {
    const buy = (prompt: string) =>
      rest(
        kiln.url,
        'POST',
        '/payment/checkout/poster',
        { userId: 'buyer-8', metadata: { prompt } },
        { 'idempotency-key': 'once' },
      );
    const [one, other] = [await buy('a fox'), await buy('a fox')];
    expect(one.body.data).toEqual(other.body.data);
  });
});
