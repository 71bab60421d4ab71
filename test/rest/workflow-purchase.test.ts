import { afterAll, beforeAll, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { rest, until } from '../kit/requests.ts';

/** One purchase from the list of templates to the refund, by the documented paths alone, at a live server. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ settings: { SANDBOX_URL: '', SANDBOX_AUTO_PAY: 'false' } });
});
afterAll(() => kiln?.close());

const get = (path: string) => rest(kiln.url, 'GET', path);
const post = (path: string, body: object) => rest(kiln.url, 'POST', path, body);

it('sells a template by REST alone', async () => {
  const { body: listed } = await get('/templates');
  const { code, creditCost } = listed.data.templates.find((one: { code: string }) => one.code === 'poster');

  const opened = await post(`/payment/checkout/${code}`, {
    userId: 'buyer-7',
    metadata: { prompt: 'a fox' },
  });
  expect([opened.status, opened.body.code]).toEqual([200, 200]);
  const { sessionId, url, paymentId } = opened.body.data;
  const unpaid = await get(`/payment/success?session_id=${sessionId}&payment_id=${paymentId}`);
  expect(unpaid.body.data).toEqual({
    payment: { id: paymentId, status: 'pending', templateCode: code },
    execution: null,
  });

  // The buyer's browser: the page, one press of a button, and back to us.
  expect(await (await fetch(url)).text()).toContain('Pay with a test card');
  const pressed = await fetch(url, {
    method: 'POST',
    body: new URLSearchParams({ do: 'card' }),
    redirect: 'manual',
  });
  const back = new URL(pressed.headers.get('location') ?? '');
  expect(back.origin + back.pathname).toBe(`${kiln.url}/payment/success`);
  const landed = await get(`${back.pathname}${back.search}`);
  expect(landed.headers.get('cache-control')).toBe('no-store');
  const { executionId, taskId } = landed.body.data.execution;
  expect(landed.body.data.payment).toEqual({ id: paymentId, status: 'completed', templateCode: code });

  const ended = await until(
    () => get(`/templates/execution/${taskId}/progress`),
    ({ body }) => !['pending', 'running'].includes(body.data.status),
  );
  const { videoUrl } = ended.body.data.result;
  expect(ended.body.data).toEqual({
    taskId,
    executionId,
    status: 'completed',
    progress: 100,
    result: { videoUrl, urls: expect.arrayContaining([videoUrl]) },
  });
  expect((await fetch(videoUrl)).headers.get('content-type')).toMatch(/^image\//);

  const { body: history } = await get('/payment/history?userId=buyer-7');
  expect(history.data).toEqual({
    payments: [
      {
        id: paymentId,
        templateCode: code,
        status: 'completed',
        amount: creditCost * 100,
        currency: 'usd',
        createdAt: expect.any(String),
      },
    ],
    total: 1,
  });

  const refunded = await post(`/payment/refund/${paymentId}`, { reason: 'user_request' });
  expect(refunded.body.data).toEqual({
    refundId: expect.any(String),
    amount: creditCost * 100,
    status: 'succeeded',
  });
  expect((await get(`/payment/${paymentId}`)).body.data).toMatchObject({ status: 'refunded', executionId });
});
