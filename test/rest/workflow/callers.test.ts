import { createHash, randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { rest, until, type RestAnswer } from '../../kit/clients/requests.ts';
import { platformSignIn } from '../../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { refusal, told } from './envelopes.ts';

/** Whose payments and executions are whose, over REST with REST_AUTH=required. */

const KEY = `kiln_${'k'.repeat(64)}`;
const NOBODY: Record<string, string> = {};
const OPERATOR = { authorization: `Bearer ${KEY}` };

interface Person {
  readonly id: string;
  readonly headers: Record<string, string>;
}

let kiln: KilnUnderTest;
let ada: Person;
let ben: Person;
beforeAll(async () => {
  const hash = createHash('sha256').update(KEY).digest('hex');
  const settings = { REST_AUTH: 'required', SERVICE_KEYS: `ops=${hash}`, UNPAID_EXECUTIONS: 'open' };
  kiln = await startKiln({ isQuick: true, settings });
  [ada, ben] = await Promise.all([person('ada'), person('ben')]);
});
afterAll(() => kiln?.close());

async function person(name: string): Promise<Person> {
  const { user, access_token: token } = await platformSignIn(kiln.url, `${name}-${randomUUID()}`);
  return { id: user.id, headers: { authorization: `Bearer ${token}` } };
}

const ask = (headers: Record<string, string>, method: string, path: string, body?: object) =>
  rest(kiln.url, method, path, body, headers);

async function bought(by: Person) {
  const { body } = await ask(by.headers, 'POST', '/payment/checkout/poster', { userId: by.id });
  const { sessionId, paymentId } = body.data as { sessionId: string; paymentId: string };
  // The way back authenticates itself: whoever has the pair that belongs together needs no credential.
  const path = `/payment/success?session_id=${sessionId}&payment_id=${paymentId}`;
  const landed = await ask(NOBODY, 'GET', path);
  expect(landed.status).toBe(200);
  return { paymentId, sessionId, ...(landed.body.data.execution as { taskId: string; executionId: string }) };
}

describe('what was used', () => {
  async function readTable(query: string, headers: Record<string, string>) {
    const answer = await fetch(`${kiln.url}/usage.csv${query}`, { headers });
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head = '', ...lines] = (await answer.text()).trimEnd().split('\r\n');
    const names = head.split(',');
    return lines.map((line) => Object.fromEntries(line.split(',').map((cell, at) => [names[at], cell])));
  }

  it('is a table: their own for users, everybody’s for the operator', async () => {
    const question = new FormData();
    question.set('prompt', 'a fox');
    const chat = (by: Person) => ask(by.headers, 'POST', '/api/llm/chat', question);
    await Promise.all([chat(ada), chat(ben), chat(ben)]);
    const [own] = await until(
      () => readTable('?by=day,owner', ben.headers),
      ([row]) => row?.['chats'] === '2',
    );
    const [byGraph] = (await graphqlUsage(ben)).data.usage;
    expect(own).toMatchObject({
      day: new Date().toISOString().slice(0, 10),
      owner: ben.id,
      cost: String(byGraph.cost.amount),
      currency: 'USD',
    });
    expect((await readTable('', ben.headers)).map(({ owner, model }) => [owner, model])).toEqual([
      [ben.id, expect.stringMatching(/./)],
    ]);
    const all = await readTable('?by=owner&sandbox=true', OPERATOR);
    expect(all.map(({ owner }) => owner)).toEqual(expect.arrayContaining([ada.id, ben.id]));
    expect(await readTable('?sandbox=false', OPERATOR)).toEqual([]);
    for (const [query, field] of [
      ['by=hour', 'by'],
      ['from=yesterday', 'from'],
      ['from=2026-01-02&to=2026-01-01', 'from'],
    ] as const) {
      expect(await ask(OPERATOR, 'GET', `/usage.csv?${query}`)).toEqual(refusal(400, [field]));
    }
    expect(await ask(NOBODY, 'GET', '/usage.csv')).toEqual(refusal(401));
  });

  const graphqlUsage = async ({ headers }: Person) =>
    (await ask(headers, 'POST', '/graphql', { query: '{ usage(by: [OWNER]) { cost { amount } } }' })).body;
});

describe('a budget of a user', () => {
  it('refuses what they start, with when to come back, and not what they buy', async () => {
    const operate = async (query: string) =>
      (await ask(OPERATOR, 'POST', '/graphql', { query: `mutation { ${query} { id } }` })).body.data;
    const created = await operate(
      `createBudget(scope: USER, subject: "${ben.id}", input: { maxRunning: 0 })`,
    );
    const start = { task_type: 'tea', prompt: 'a fox' };
    const refused = await ask(ben.headers, 'POST', '/api/task/create/task', start);
    const msg = expect.stringContaining('your budget allows 0 running at once') as string;
    expect([refused.status, refused.body]).toEqual([429, { status: false, data: null, msg }]);
    const run = await ask(ben.headers, 'POST', '/templates/execute/poster', { userId: ben.id });
    expect(run).toEqual(refusal(429));
    for (const { headers } of [refused, run]) expect(headers.get('retry-after')).toBe('5');
    await bought(ben);
    await operate(`deleteBudget(id: "${created.createBudget.id}")`);
  });
});

describe('what somebody has bought', () => {
  it('is theirs, and the operator’s, and nobody else’s', async () => {
    const { paymentId, taskId } = await bought(ada);
    const paths = [`/payment/${paymentId}`, `/task/${taskId}`, `/templates/execution/${taskId}/progress`];
    for (const path of paths) {
      expect((await ask(ada.headers, 'GET', path)).status).toBe(200);
      expect((await ask(OPERATOR, 'GET', path)).status).toBe(200);
      expect(await ask(ben.headers, 'GET', path)).toEqual(refusal(404));
      expect([401, 404]).toContain((await ask(NOBODY, 'GET', path)).status);
    }
    expect(await ask(ben.headers, 'GET', `/payment/cancel?payment_id=${paymentId}`)).toEqual(refusal(404));
    // What it costs the seller is not the buyer's to know.
    const query = `{ payment(id: "${paymentId}") { amount margin { kept } execution { task { cost { currency } } } } }`;
    const costs = async (headers: Record<string, string>) =>
      (await ask(headers, 'POST', '/graphql', { query })).body.data.payment;
    const { amount, ...hidden } = await costs(ada.headers);
    expect(hidden).toEqual({ margin: null, execution: { task: { cost: null } } });
    expect(await costs(OPERATOR)).toMatchObject({
      margin: { kept: amount },
      execution: { task: { cost: { currency: 'USD' } } },
    });
  });

  it('is in their lists alone', async () => {
    const { paymentId, executionId } = await bought(ada);
    const lists = [
      [`/payment/history?userId=${ada.id}`, 'payments', paymentId],
      [`/templates/executions/user/${ada.id}`, 'executions', executionId],
    ] as const;
    for (const [path, name, id] of lists) {
      const holds = ({ body }: RestAnswer) => JSON.stringify(body.data[name]).includes(id);
      expect(holds(await ask(ada.headers, 'GET', path))).toBe(true);
      expect(holds(await ask(OPERATOR, 'GET', path))).toBe(true);
      expect(await ask(ben.headers, 'GET', path)).toEqual(refusal(403));
      expect(await ask(NOBODY, 'GET', path)).toEqual(refusal(401));
    }
  });

  it('is given back by the operator alone', async () => {
    const { paymentId } = await bought(ada);
    const path = `/payment/refund/${paymentId}`;
    expect(await ask(NOBODY, 'POST', path, {})).toEqual(refusal(401));
    expect(await ask(ada.headers, 'POST', path, {})).toEqual(refusal(403));
    expect((await ask(OPERATOR, 'POST', path, {})).status).toBe(200);
    const known = await until(
      () => ask(ada.headers, 'GET', `/payment/${paymentId}`),
      ({ body }) => body.data.status !== 'completed',
    );
    expect(known.body.data.status).toBe('refunded');
  });
});

describe('the way back from the provider’s page, without a credential', () => {
  const checkout = async ({ id, headers }: Person) =>
    (await ask(headers, 'POST', '/payment/checkout/poster', { userId: id })).body.data as {
      sessionId: string;
      paymentId: string;
    };

  it('ends an unpaid checkout by its id alone, and shows nothing of a paid one', async () => {
    const { paymentId } = await checkout(ada);
    const path = `/payment/cancel?payment_id=${paymentId}`;
    expect(await ask(ben.headers, 'GET', path)).toEqual(refusal(404));
    const cancelled = told({ payment: { id: paymentId, status: 'cancelled' } });
    expect(await ask(NOBODY, 'GET', path)).toEqual(cancelled);
    expect(await ask(NOBODY, 'GET', path)).toEqual(cancelled);
    const paid = await bought(ada);
    const back = `/payment/success?session_id=${paid.sessionId}&payment_id=${paid.paymentId}`;
    expect(await ask(ben.headers, 'GET', back)).toEqual(refusal(404));
    expect((await ask(ada.headers, 'GET', back)).status).toBe(200);
    expect(await ask(NOBODY, 'GET', `/payment/cancel?payment_id=${paid.paymentId}`)).toEqual(refusal(404));
    expect(await ask(NOBODY, 'GET', `/payment/success?payment_id=${paid.paymentId}`)).toEqual(refusal(404));
  });

  it('is refused with the session of somebody else, whoever comes', async () => {
    const [mine, theirs] = [await checkout(ada), await checkout(ben)];
    for (const name of ['success', 'cancel']) {
      const path = `/payment/${name}?session_id=${theirs.sessionId}&payment_id=${mine.paymentId}`;
      expect(await ask(ada.headers, 'GET', path)).toEqual(refusal(400, ['session_id']));
      for (const headers of [NOBODY, ben.headers]) {
        expect([400, 404]).toContain((await ask(headers, 'GET', path)).status);
      }
    }
    const { body } = await ask(ada.headers, 'GET', `/payment/${mine.paymentId}`);
    expect(body.data.status).toBe('pending');
  });
});

describe('buying and running', () => {
  it('is for oneself; the operator does it for anybody', async () => {
    const buys = [
      ['/payment/checkout/poster', { userId: ada.id }],
      ['/templates/execute/poster', { userId: ada.id }],
      ['/task', { templateCode: 'poster', userId: ada.id }],
    ] as const;
    for (const [path, body] of buys) {
      expect(await ask(NOBODY, 'POST', path, body)).toEqual(refusal(401));
      expect(await ask(ben.headers, 'POST', path, body)).toEqual(refusal(403));
      expect((await ask(ada.headers, 'POST', path, body)).status).toBe(200);
      expect((await ask(OPERATOR, 'POST', path, body)).status).toBe(200);
    }
  });

  it('refuses another checkout under a key that was used', async () => {
    const buy = (prompt: string) =>
      rest(
        kiln.url,
        'POST',
        '/payment/checkout/poster',
        { userId: ada.id, metadata: { prompt } },
        { ...ada.headers, 'idempotency-key': 'ada-buys' },
      );
    const first = await buy('a fox');
    expect((await buy('a fox')).body.data).toEqual(first.body.data);
    expect(await buy('a hare')).toEqual(refusal(409));
  });

  it('keeps the ids that people choose apart', async () => {
    const id = `mine-${randomUUID()}`;
    const request = { templateCode: 'poster', parameters: { prompt: 'a fox' } };
    for (const { headers } of [ada, ben]) {
      expect(await ask(headers, 'POST', `/task/${id}`, request)).toEqual(told(id));
    }
    const [one, other] = [
      await ask(ada.headers, 'GET', `/templates/execution/${id}/progress`),
      await ask(ben.headers, 'GET', `/templates/execution/${id}/progress`),
    ];
    expect(one.body.data.executionId).not.toBe(other.body.data.executionId);
  });
});

describe('the catalog', () => {
  it('is public to read, and the operator’s to change and to look behind', async () => {
    expect((await ask(NOBODY, 'GET', '/templates')).status).toBe(200);
    expect((await ask(NOBODY, 'GET', '/templates/get/poster')).status).toBe(200);
    const closed = [
      ['POST', '/templates', { code: 'x', name: 'x' }],
      ['PUT', '/templates/update/poster', { name: 'x' }],
      ['DELETE', '/templates/delete/none'],
      ['POST', '/templates/activate/poster'],
      ['POST', '/templates/deactivate/none'],
      ['POST', '/templates/sync/poster'],
      ['POST', '/templates/bulk', { templateCodes: [], operation: 'sync_pp' }],
      ['GET', '/templates/sync-all-pp'],
      ['GET', '/templates/sync-status'],
      ['GET', '/templates/verify-sync/poster'],
      ['GET', '/templates/diagnose-pp'],
      ['GET', '/templates/init'],
      ['POST', '/templates/test/create'],
    ] as const;
    for (const [method, path, body] of closed) {
      expect(await ask(NOBODY, method, path, body)).toEqual(refusal(401));
      expect(await ask(ada.headers, method, path, body)).toEqual(refusal(403));
      expect([401, 403]).not.toContain((await ask(OPERATOR, method, path, body)).status);
    }
  });
});
