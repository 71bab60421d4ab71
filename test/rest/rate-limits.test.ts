import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, rest } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ settings: { RATE_LIMIT: 'status=3,read=4,start=2,write=4,sign-in=3' } });
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
