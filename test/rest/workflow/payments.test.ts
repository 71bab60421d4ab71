import { createHash, createHmac, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startReceiver, type Receiver } from '../../../subgraphs/media/webhooks/receiver.fixture.ts';
import { rest, until } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { moment, refusal, told } from './envelopes.ts';

/** The payment section over REST at a live server on the embedded defaults: SANDBOX_AUTO_PAY is on. */

/** The service key of an administrator. */
const operator = `kiln_${randomUUID()}`;
const asOperator = { authorization: `Bearer ${operator}` };

/** What a poster costs: the bundled list knows no prices of aggregators. */
const PRICES = {
  currency: 'USD',
  date: '2026-11-22',
  models: [{ provider: 'aggregator/midjourney', model: '*', prices: [{ unit: 'run', amount: 0.05 }] }],
};

let kiln: KilnUnderTest;
let folder: string;
let receiver: Receiver;
beforeAll(async () => {
  const hash = createHash('sha256').update(operator).digest('hex');
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-prices-'));
  const prices = path.join(folder, 'prices.json');
  await writeFile(prices, JSON.stringify(PRICES));
  receiver = await startReceiver();
  kiln = await startKiln({
    isQuick: true,
    settings: {
      SERVICE_KEYS: `operator=${hash}`,
      PRICES_FILE: prices,
      OUTBOUND_ALLOW: receiver.host,
    },
  });
});
afterAll(async () => {
  await kiln?.close();
  await receiver?.close();
  await rm(folder, { recursive: true });
});

const get = (path: string) => rest(kiln.url, 'GET', path);
const post = (path: string, body: object | string) => rest(kiln.url, 'POST', path, body);
const buy = (body: object, template = 'poster') => post(`/payment/checkout/${template}`, body);

async function opened(userId = `buyer-${randomUUID()}`) {
  const { body } = await buy({ userId });
  return { ...(body.data as { sessionId: string; url: string; paymentId: string }), userId };
}

it('is told once to the webhook endpoints of the operator, and so is its refund', async () => {
  const query =
    'mutation ($url: String!) { createWebhookEndpoint(url: $url, eventTypes: ["payment.*"]) { endpoint { id } } }';
  const endpoint = { query, variables: { url: receiver.url } };
  const made = await rest(kiln.url, 'POST', '/graphql', endpoint, asOperator);
  expect(made.body.errors).toBeUndefined();
  const { sessionId, paymentId } = await opened();
  const success = `/payment/success?session_id=${sessionId}&payment_id=${paymentId}`;
  await Promise.all([get(success), get(success), get(success)]);
  await post(`/payment/refund/${paymentId}`, {});
  const events = async () => {
    const all = receiver.received.map(
      ({ body }) => JSON.parse(body) as { type: string; data: { id: string } },
    );
    return all.filter(({ data }) => data.id === paymentId);
  };
  await until(events, ({ length }) => length > 1);
  await get(success);
  const inOrder = (await events()).toSorted((one, other) => (one.type > other.type ? -1 : 1));
  expect(inOrder).toMatchObject([
    { type: 'payment.succeeded', data: { amountRefunded: 0, status: 'COMPLETED' } },
    { type: 'payment.refunded', data: { status: 'REFUNDED' } },
  ]);
});

describe('the documented table without a browser', () => {
  it('completes at success with the matching pair, once', async () => {
    const { sessionId, paymentId } = await opened();
    const path = `/payment/success?session_id=${sessionId}&payment_id=${paymentId}`;
    const answers = await Promise.all(Array.from({ length: 5 }, () => get(path)));
    const [first] = answers;
    expect(first).toEqual(
      told({
        payment: { id: paymentId, status: 'completed', templateCode: 'poster' },
        execution: { executionId: expect.any(String), taskId: expect.any(String) },
      }),
    );
    for (const answer of answers) expect(answer.body.data).toEqual(first?.body.data);
  });

  it('cancels at cancel, and success does not pay what is cancelled', async () => {
    const { sessionId, paymentId } = await opened();
    const cancelled = { id: paymentId, status: 'cancelled' };
    expect(await get(`/payment/cancel?payment_id=${paymentId}`)).toEqual(told({ payment: cancelled }));
    expect(await get(`/payment/success?session_id=${sessionId}&payment_id=${paymentId}`)).toEqual(
      told({ payment: { ...cancelled, templateCode: 'poster' }, execution: null }),
    );
  });

  it('does not pay for who has only one of the two ids, or the placeholder of the page', async () => {
    const { sessionId, paymentId } = await opened();
    const pending = { id: paymentId, status: 'pending', templateCode: 'poster' };
    for (const query of [
      `session_id=${sessionId}`,
      `payment_id=${paymentId}`,
      `session_id={CHECKOUT_SESSION_ID}&payment_id=${paymentId}`,
      `session_id=&payment_id=${paymentId}`,
    ]) {
      expect(await get(`/payment/success?${query}`)).toEqual(told({ payment: pending, execution: null }));
    }
  });
});

describe.each(['success', 'cancel'])('GET /payment/%s', (name) => {
  it('needs one of the two ids, known and given once', async () => {
    const path = `/payment/${name}`;
    for (const query of ['', '?session_id=', '?session_id={CHECKOUT_SESSION_ID}']) {
      expect(await get(`${path}${query}`)).toEqual(refusal(400, ['session_id']));
    }
    expect(await get(`${path}?payment_id=a&payment_id=b`)).toEqual(refusal(400, ['payment_id']));
    expect(await get(`${path}?payment_id=none`)).toEqual(refusal(404));
    expect(await get(`${path}?session_id=none`)).toEqual(refusal(404));
  });

  it('refuses a pair that does not belong together', async () => {
    const [one, other] = [await opened(), await opened()];
    for (const session of [other.sessionId, 'none']) {
      const path = `/payment/${name}?session_id=${session}&payment_id=${one.paymentId}`;
      expect(await get(path)).toEqual(refusal(400, ['session_id']));
    }
  });
});

describe('POST /payment/checkout/{templateCode}', () => {
  it('names everything that is wrong with the request', async () => {
    expect(await buy({ metadata: [] })).toEqual(refusal(400, ['userId', 'metadata']));
    expect(await buy({ userId: 7 })).toEqual(refusal(400, ['userId']));
    expect(await buy({ userId: null })).toEqual(refusal(400, ['userId']));
    expect(await post('/payment/checkout/poster', '{"userId":')).toEqual(refusal(400, [null]));
    expect(await post('/payment/checkout/poster', '')).toEqual(refusal(400, [null]));
    expect(await buy({ userId: 'a b' })).toEqual(refusal(400, ['userId']));
  });

  it('sells nothing that can not run, in the words of this path', async () => {
    const wrong = await buy({ userId: 'u', metadata: { imageUrl: 'nothing', prompt: 7, order: 12 } });
    expect(wrong).toEqual(refusal(400, ['metadata.prompt', 'metadata.imageUrl']));
    expect(wrong.body.message).toMatch(/^metadata\.prompt must be a text; metadata\.imageUrl must be/);
    const odd = { userId: 'u', metadata: { prompt: 'a fox', width: 100 } };
    expect(await buy(odd, 'sketch')).toEqual(refusal(400, ['metadata.width']));
    expect(await buy({ userId: 'u' }, 'none')).toEqual(refusal(404));
  });

  it('sells nothing that needs an image from a private address', async () => {
    for (const imageUrl of ['http://127.0.0.1:9/a.png', 'http://10.0.0.1/a.png', 'http://[::1]/a.png']) {
      const answer = await buy({ userId: 'u', metadata: { imageUrl } });
      expect(answer).toEqual(refusal(400, ['metadata.imageUrl']));
    }
  });

  it('takes any metadata beyond that, and no metadata', async () => {
    expect((await buy({ userId: 'u', metadata: { order: { id: 7 } }, unknown: 1 })).status).toBe(200);
    expect((await buy({ userId: 'u', metadata: null })).status).toBe(200);
  });

  it('does not sell what is not active', async () => {
    await post('/templates/deactivate/clip', {});
    expect(await buy({ userId: 'u' }, 'clip')).toEqual(refusal(400, ['templateCode']));
    await post('/templates/activate/clip', {});
  });
});

describe('GET /payment/sales', () => {
  it('is what fits the filter, with sums, as JSON and as a table, page by page', async () => {
    const userId = `=${'x'.repeat(8)}`;
    const before = new Date().toISOString();
    await buy({ userId, metadata: { prompt: 'a' } });
    const { body: bought } = await buy({ userId, metadata: { prompt: 'b' } });
    const { paymentId, sessionId } = bought.data;
    await get(`/payment/success?session_id=${sessionId}&payment_id=${paymentId}`);
    const sales = (query: string) =>
      rest(
        kiln.url,
        'GET',
        `/payment/sales?userId=${encodeURIComponent(userId)}${query}`,
        undefined,
        asOperator,
      );
    const all = (await sales(`&templateCode=poster&from=${before}`)).body.data;
    const price = all.payments[0].amount;
    expect([all.total, all.payments.length, all.sums]).toEqual([
      2,
      2,
      [
        { currency: 'usd', status: 'completed', count: 1, amount: price, refundedAmount: 0 },
        { currency: 'usd', status: 'pending', count: 1, amount: price, refundedAmount: 0 },
      ],
    ]);
    const [sold] = await until(
      async () => (await sales('&status=completed')).body.data.payments,
      ([{ costEstimated }]) => costEstimated === false,
    );
    expect(sold).toMatchObject({ id: paymentId, cost: 5, margin: price - 5 });
    expect(all.payments[1]).toMatchObject({ cost: null, margin: null, costEstimated: null });
    expect((await sales('&templateCode=clip')).body.data).toEqual({ payments: [], total: 0, sums: [] });
    expect((await sales(`&to=${before}`)).body.data.total).toBe(0);
    expect(await sales('&from=yesterday')).toEqual(refusal(400, ['from']));

    const table = await fetch(
      `${kiln.url}/payment/sales?userId=${encodeURIComponent(userId)}&format=csv&limit=1`,
      { headers: asOperator },
    );
    expect(table.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(table.headers.get('cache-control')).toBe('no-store');
    const [head, row] = (await table.text()).split('\r\n');
    expect(head).toBe(
      'id,createdAt,status,templateCode,userId,amount,refundedAmount,currency,executionId,cost,margin',
    );
    expect(row).toContain(`${paymentId},`);
    expect(row).toContain(`,completed,poster,'${userId},${price},0,usd,`);
    const [, next = ''] = /<(.*)>; rel="next"/.exec(table.headers.get('link') ?? '') ?? [];
    expect((await (await fetch(next, { headers: asOperator })).text()).split('\r\n')[1]).toContain(
      ',pending,',
    );
  });
});

it('GET /payment/sales needs a credential even where nothing else does', async () => {
  expect(await get('/payment/sales')).toEqual(refusal(401));
});

describe('GET /payment/history', () => {
  it('is newest first, whole or in parts', async () => {
    const first = await opened();
    const ids = [first.paymentId];
    for (let more = 0; more < 2; more += 1) ids.unshift((await opened(first.userId)).paymentId);
    const history = async (query: string) => {
      const { body } = await get(`/payment/history?userId=${first.userId}${query}`);
      return [body.data.payments.map(({ id }: { id: string }) => id), body.data.total];
    };
    expect(await history('')).toEqual([ids, 3]);
    expect(await history('&limit=1&offset=1')).toEqual([[ids[1]], 3]);
    expect(await history('&offset=9')).toEqual([[], 3]);
    await kiln.runtime.database.pool.query(
      `insert into workflow.payments select (another).* from (
         select jsonb_populate_record(payments, jsonb_build_object(
           'id', id || number, 'pp_session_id', null)) as another
         from workflow.payments, generate_series(1, 400) as number where user_id = $1) as others`,
      [first.userId],
    );
    const [many, total] = await history('');
    expect([many.length, total]).toEqual([1_000, 1_203]);
    expect(await get('/payment/history?userId=nobody')).toEqual(told({ payments: [], total: 0 }));
    expect(await get('/payment/history')).toEqual(refusal(400, ['userId']));
    expect(await get('/payment/history?userId=a&limit=x')).toEqual(refusal(400, ['limit']));
  });
});

describe('POST /payment/refund/{paymentId}', () => {
  it('refuses what is not paid, not known or not allowed', async () => {
    const { sessionId, paymentId } = await opened();
    const path = `/payment/refund/${paymentId}`;
    expect(await post(path, {})).toEqual(refusal(400, ['paymentId']));
    await get(`/payment/success?session_id=${sessionId}&payment_id=${paymentId}`);
    expect(await post(path, { reason: 'boredom', amount: 'x', metadata: 1 })).toEqual(
      refusal(400, ['reason', 'amount', 'metadata']),
    );
    for (const amount of [-1, 3_000_000_000]) {
      expect(await post(path, { amount })).toEqual(refusal(400, ['amount']));
    }
    expect(await post('/payment/refund/none', {})).toEqual(refusal(404));
  });
});

it('POST /payment/refund/{paymentId} answers the same refund under one Idempotency-Key, and no other', async () => {
  const { sessionId, paymentId } = await opened();
  await get(`/payment/success?session_id=${sessionId}&payment_id=${paymentId}`);
  const key = { 'idempotency-key': randomUUID() };
  const refund = (amount?: number) =>
    rest(kiln.url, 'POST', `/payment/refund/${paymentId}`, { reason: 'duplicate', amount }, key);
  const [first, again, whole] = [await refund(30), await refund(30), await refund()];
  expect(first).toEqual(told({ refundId: expect.any(String), amount: 30, status: 'succeeded' }));
  for (const { body } of [again, whole]) expect(body.data).toEqual(first.body.data);
  expect(await refund(40)).toEqual(refusal(409));
});

describe('GET /payment/{paymentId}', () => {
  it('has every documented field, those that are not known yet as well', async () => {
    const { paymentId, sessionId, userId } = await opened();
    expect(await get(`/payment/${paymentId}`)).toEqual(
      told({
        id: paymentId,
        templateCode: 'poster',
        userId,
        status: 'pending',
        amount: 100,
        refundedAmount: 0,
        refunds: [],
        currency: 'usd',
        ppSessionId: sessionId,
        executionId: null,
        createdAt: moment,
      }),
    );
    expect(await get('/payment/none')).toEqual(refusal(404));
    expect(await rest(kiln.url, 'DELETE', `/payment/${paymentId}`)).toEqual(refusal(405));
  });
});

it('says over GET /payment/health that it works', async () => {
  expect(await get('/payment/health')).toEqual(told({ timestamp: moment, service: 'payment' }));
});

describe('POST /payment/webhook', () => {
  /** As the stand-in signs, with its secret. */
  function signed(text: string, at = Math.floor(Date.now() / 1000)): string {
    const proof = createHmac('sha256', 'whsec_kilnsandbox').update(`${at}.${text}`).digest('hex');
    return `t=${at},v1=${proof}`;
  }
  const send = (text: string, headers: Record<string, string>) =>
    rest(kiln.url, 'POST', '/payment/webhook', text, { 'content-type': 'text/plain', ...headers });
  const makeEvent = (sessionId: string) =>
    JSON.stringify({
      id: `evt_${randomUUID()}`,
      object: 'event',
      api_version: null,
      created: 1,
      livemode: false,
      type: 'checkout.session.completed',
      data: { object: { id: sessionId, object: 'checkout.session' } },
    });

  it('takes signed events under both names of the header, and answers without data', async () => {
    const { sessionId } = await opened();
    const text = makeEvent(sessionId);
    for (const name of ['pp-signature', 'stripe-signature']) {
      expect(await send(text, { [name]: signed(text) })).toEqual(told());
    }
    const foreign = makeEvent('cs_of_somebody_else');
    expect(await send(foreign, { 'pp-signature': signed(foreign) })).toEqual(told());
  });

  it('takes the bytes as they came, whatever they are said to be', async () => {
    const { sessionId } = await opened();
    const text = ` ${makeEvent(sessionId)}\n`;
    for (const type of ['application/json', 'application/x-www-form-urlencoded', 'nonsense']) {
      expect(await send(text, { 'pp-signature': signed(text), 'content-type': type })).toEqual(told());
    }
  });

  it('refuses what is not signed by the provider just now', async () => {
    const text = makeEvent('cs_1');
    const refused: Record<string, string>[] = [
      {},
      { 'pp-signature': 'x' },
      { 'pp-signature': signed(`${text} `) },
      { 'pp-signature': signed(text, Math.floor(Date.now() / 1000) - 3_600) },
    ];
    for (const headers of refused) expect(await send(text, headers)).toEqual(refusal(401));
    expect(await send('', { 'pp-signature': signed('') })).toEqual(refusal(401));
  });

  it('takes no more than a megabyte', async () => {
    const text = 'a'.repeat(1_048_577);
    expect(await send(text, { 'pp-signature': signed(text) })).toEqual(refusal(413));
  });
});
