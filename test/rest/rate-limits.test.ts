import { createHash } from 'node:crypto';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, rest } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  const hash = (secret: string) => createHash('sha256').update(secret).digest('hex');
  const keys = ['openai', 'comfy'].map((name) => `${name}=${hash(`secret-of-${name}`)}`);
  kiln = await startKiln({
    settings: { RATE_LIMIT: 'status=3,read=4,start=2,write=4,sign-in=3', SERVICE_KEYS: keys.join(',') },
  });
});
afterAll(() => kiln.close());

it('refuses with 429 what is over the rate, per class of operation, and says when to come back', async () => {
  const create = () => rest(kiln.url, 'POST', '/api/task/create/task', { task_type: 'tea', prompt: 'a cup' });
  const first = await create();
  expect(first.headers.get('x-ratelimit-limit')).toBe('2');
  expect(first.headers.get('x-ratelimit-remaining')).toBe('1');
  // What is refused, an upload and a change of a catalog start nothing: they are counted as writes.
  const invalid = await rest(kiln.url, 'POST', '/api/task/create/task', {});
  expect([invalid.status, invalid.headers.get('x-ratelimit-limit')]).toEqual([422, '4']);
  const created = await rest(kiln.url, 'POST', '/api/template/create', { task_type: 'counted', prompt: 'x' });
  expect(created.headers.get('x-ratelimit-remaining')).toBe('2');
  const unknown = await rest(kiln.url, 'POST', '/api/task/create/task', { task_type: 'tea', prompt: '' });
  expect([unknown.body.status, unknown.headers.get('x-ratelimit-remaining')]).toEqual([false, '1']);
  expect((await create()).body.status).toBe(true);
  const refused = await create();
  expect([refused.status, refused.body]).toEqual([
    429,
    { status: false, data: null, msg: expect.stringContaining('more than 2 requests a minute') },
  ]);
  expect(refused.headers.get('x-ratelimit-remaining')).toBe('0');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);

  const status = () => rest(kiln.url, 'GET', `/api/task/status/${first.body.data}`);
  const counted = [await status(), await status(), await status(), await status()];
  expect(counted.map((answer) => [answer.status, answer.headers.get('x-ratelimit-remaining')])).toEqual([
    [200, '2'],
    [200, '1'],
    [200, '0'],
    [429, '0'],
  ]);

  // GraphQL draws on the same counts.
  const { errors } = await graphql(kiln.url, 'mutation { createTask(taskType: "tea", prompt: "x") { id } }');
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryAfter: expect.any(Number) });
});

it('lets nobody guess tokens fast, by REST or GraphQL, with a credential or without', async () => {
  const refresh = () => rest(kiln.url, 'POST', '/auth/idp/refresh', { refresh_token: 'ses_guess.1.x' });
  const { headers } = await refresh();
  expect(headers.get('x-ratelimit-limit')).toBe('3');
  await rest(kiln.url, 'POST', '/auth/browser/refresh');
  const revoke = 'mutation { revokeSession(token: "ses_guess") }';
  await graphql(kiln.url, revoke);
  expect((await graphql(kiln.url, revoke)).errors?.[0]?.extensions).toMatchObject({ code: 'RATE_LIMITED' });
  expect((await refresh()).status).toBe(429);
  expect((await rest(kiln.url, 'GET', '/auth/idp/authorize')).status).toBe(429);
});

it.each([
  [
    'openai',
    '/v1/images/generations',
    { model: 'gpt-image-2', prompt: 'a cup', async: true },
    { status: 202, wrong: 400, code: 'rate_limit_exceeded' },
  ],
  [
    'comfy',
    '/api/v2/jobs',
    { workflow: { 1: { class_type: 'PrimitiveString', inputs: { value: 'a' } } } },
    { status: 201, wrong: 422, code: 'rate_limited' },
  ],
] as const)(
  'counts clients of %s alike, and tells them in headers of OpenAI',
  async (name, path, body, is) => {
    const headers = { authorization: `Bearer secret-of-${name}` };
    const start = (sent: object) => rest(kiln.url, 'POST', path, sent, headers);
    const counts = (answer: Awaited<ReturnType<typeof start>>) =>
      ['limit', 'remaining'].map((word) => answer.headers.get(`x-ratelimit-${word}-requests`));
    const first = await start(body);
    expect([first.status, counts(first)]).toEqual([is.status, ['2', '1']]);
    expect(first.headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/);
    // What is refused has started nothing: it is counted as a write; where none is left, as a start.
    for (const left of ['3', '2', '1', '0']) {
      const refused = await start({});
      expect([refused.status, counts(refused)]).toEqual([is.wrong, ['4', left]]);
    }
    const over = await start({});
    expect([over.status, counts(over)]).toEqual([429, ['4', '0']]);
    const late = await start(body);
    expect([late.status, late.body.error.code, counts(late)]).toEqual([429, is.code, ['2', '0']]);
    expect(late.body.error.message).toContain('2 requests a minute');
    expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(0);
    const read = await rest(kiln.url, 'GET', '/v1/models', undefined, headers);
    expect([read.status, counts(read)]).toEqual([200, ['4', '3']]);
  },
);
