import { type IncomingMessage, ServerResponse } from 'node:http';

import { afterEach, expect, test } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { createRateLimiter } from '../limits/rate-limit.ts';
import { requireContext } from '../request/request-context.ts';
import { post, startTestGateway, type TestGateway } from '../server/server-under-test.fixture.ts';
import { answerGraphql, authenticate } from './authenticate.ts';

let gateway: TestGateway | undefined;
afterEach(() => gateway?.close());

const authorization = 'Bearer kiln_guessed';

test('whoever guesses credentials is told how many guesses are left, and has a limit', async () => {
  gateway = await startTestGateway({ rateLimiter: createRateLimiter({ read: 3 }) });
  const { url } = gateway;
  const guess = () => fetch(`${url}/api/task/health`, { headers: { authorization } });
  const answers = [
    await guess(),
    await post(gateway, { query: '{ hello }' }, { authorization }),
    await guess(),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['2', '1', '0']);
  const refused = await guess();
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([429, null]);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  const { status, body, headers } = await post(gateway, { query: '{ hello }' }, { authorization });
  expect([status, body.errors?.[0]?.extensions]).toEqual([
    429,
    { code: 'RATE_LIMITED', retryAfter: Number(headers.get('retry-after')) },
  ]);
});

test('while nobody can be asked who is asking, the answer is "not now", not "not you", and no guess', async () => {
  gateway = await startTestGateway({
    rateLimiter: createRateLimiter({ read: 1 }),
    async resolveCredential() {
      throw new AppError('UNAVAILABLE', 'who is asking could not be found out', { retryAfter: 1 });
    },
  });
  const { status, headers, body } = await post(gateway, { query: '{ hello }' }, { authorization });
  expect([status, headers.get('retry-after'), headers.get('www-authenticate')]).toEqual([503, '1', null]);
  expect(body.errors?.[0]?.extensions).toEqual({ code: 'UNAVAILABLE', retryAfter: 1 });
  for (const [method, path] of [
    ['GET', '/api/task/health'],
    // Whoever proves themselves otherwise is not known to be nobody yet.
    ['POST', '/auth/idp/refresh'],
  ] as const) {
    const rest = await fetch(`${gateway.url}${path}`, { method, headers: { authorization } });
    expect([rest.status, rest.headers.get('retry-after')]).toEqual([503, '1']);
  }
});

test('what nobody foresaw while a credential was looked up is masked', async () => {
  gateway = await startTestGateway({
    async resolveCredential() {
      throw new Error('the secret detail');
    },
  });
  const answer = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: '{"query":"{ hello }"}',
  });
  expect(answer.status).toBe(500);
  expect(await answer.text()).toMatch(/^(?!.*secret detail).*trace id/);
});

test('where a graph takes nobody without a credential, /graphql says how to send one, and so does its schema; other paths do not', async () => {
  gateway = await startTestGateway({ isForeign: true, requiresCredential: true });
  const { status, headers, body } = await post(gateway, { query: '{ hello }' });
  expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
  expect(body.errors?.[0]?.extensions).toEqual({ code: 'UNAUTHENTICATED' });
  expect((await fetch(`${gateway.url}/api/nothing`)).status).toBe(404);
  // What introspection would tell.
  const readSchema = async (headers = {}) =>
    (await fetch(`${gateway?.url}/schema.graphql`, { headers })).status;
  expect([await readSchema(), await readSchema({ authorization: 'Bearer of-a-subgraph' })]).toEqual([
    401, 200,
  ]);
});

test('no other spelling of /graphql goes around what it asks of its callers, and nothing is below it', async () => {
  gateway = await startTestGateway({ isForeign: true, requiresCredential: true });
  const sent = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"query":"{ hello }"}',
  };
  const statuses = [];
  for (const path of ['/graphql/', '/GraphQL', '/GRAPHQL/', '/graphql/x', '/graphql//'])
    statuses.push((await fetch(`${gateway.url}${path}`, sent)).status);
  expect(statuses).toEqual([401, 401, 401, 404, 404]);
});

test('the token of a header wins over the one in the address, which only one path takes', async () => {
  const asked: unknown[] = [];
  gateway = await startTestGateway({
    async resolveCredential(credential) {
      asked.push(credential);
      throw new AppError('UNAVAILABLE', 'later');
    },
  });
  const ask = async (path: string, headers: Record<string, string> = {}) => {
    await fetch(`${gateway?.url}${path}?access_token=of-the-address`, { headers });
    return asked.splice(0);
  };
  expect(JSON.stringify(await ask('/auth/idp/userinfo', { authorization: 'Bearer of-the-header' }))).toMatch(
    /^(?!.*of-the-address).*of-the-header/,
  );
  expect(JSON.stringify(await ask('/auth/idp/userinfo'))).toContain('of-the-address');
  expect(await ask('/api/task/health')).toEqual([]);
  await fetch(`${gateway.url}/auth/idp/userinfo?access_token=one&access_token=other`);
  expect(asked).toEqual([]);
});

test('whoever tries paths is told what is left, and has a limit', async () => {
  gateway = await startTestGateway({ rateLimiter: createRateLimiter({ read: 2 }) });
  const { url } = gateway;
  const answers = [];
  for (const path of ['/.env', '/api/nothing', '/auth/nothing']) answers.push(await fetch(`${url}${path}`));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 429]);
  expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['1', '0', '0']);
  expect(await answers[2]?.json()).toMatchObject({ success: false, code: 429 });
});

/** What becomes of a request with a credential that has ended, or can't be looked up. */
async function refused(
  path: string,
  { method, code = 'UNAUTHENTICATED' as const, servesMcp = true }: RefusedRequest = {},
) {
  const refusal = new AppError(code, 'why');
  const strictness: unknown[] = [];
  const nobody = anonymousCaller('t', null);
  const callers = {
    async find(_: unknown, { authorization, strict }: { authorization?: string; strict?: boolean }) {
      if (authorization === '') return nobody;
      strictness.push(strict);
      throw refusal;
    },
  };
  const told: unknown[] = [];
  const step = authenticate({
    callers,
    ...(servesMcp && { refuseMcp: (_, error) => void told.push(error) }),
  });
  const request = { method, headers: {} } as IncomingMessage;
  const response = new ServerResponse(request);
  try {
    const goesOn = await step({ request, response, path });
    const caller = goesOn ? requireContext(request).caller : null;
    return {
      goesOn,
      strictness,
      status: response.statusCode,
      isTold: told[0] === refusal,
      isNobody: caller === nobody,
    };
  } catch (thrown) {
    return { isThrown: thrown === refusal, strictness };
  }
}

interface RefusedRequest {
  readonly method?: string;
  readonly code?: 'UNAUTHENTICATED' | 'UNAVAILABLE';
  readonly servesMcp?: boolean;
}

test('a credential that has ended is refused in the words of each path, and let through to be renewed', async () => {
  const answered = { goesOn: false, strictness: [true], isNobody: false };
  for (const path of ['/graphql', '/graphql/', '/GraphQL'])
    expect(await refused(path)).toEqual({ ...answered, status: 401, isTold: false });
  for (const path of ['/mcp', '/mcp/', '/MCP'])
    expect(await refused(path)).toEqual({ ...answered, status: 200, isTold: true });
  const thrown = { isThrown: true, strictness: [false] };
  expect(await refused('/mcp', { servesMcp: false })).toEqual(thrown);
  for (const path of ['/graphql/x', '/x/mcp', '/api/task/health'])
    expect(await refused(path)).toEqual(thrown);
  const renewal = { method: 'POST' };
  expect(await refused('/auth/idp/refresh', renewal)).toMatchObject({ goesOn: true, isNobody: true });
  expect(await refused('/auth/idp/refresh', { ...renewal, code: 'UNAVAILABLE' })).toEqual(thrown);
  // A request without a method is one that reads.
  expect(await refused('/auth/idp/refresh')).toEqual(thrown);
});

test('GraphQL clients are told with the status of a refusal how to send a credential, or when to come back', () => {
  const answered = (code: 'UNAUTHENTICATED' | 'RATE_LIMITED' | 'UNAVAILABLE', retryAfter?: number) => {
    const response = new ServerResponse({} as IncomingMessage);
    answerGraphql(response, new AppError(code, 'why', retryAfter === undefined ? {} : { retryAfter }));
    return [response.statusCode, response.getHeader('www-authenticate'), response.getHeader('retry-after')];
  };
  expect(answered('UNAUTHENTICATED')).toEqual([401, 'Bearer', undefined]);
  expect(answered('RATE_LIMITED', 7)).toEqual([429, undefined, '7']);
  expect(answered('UNAVAILABLE', 1)).toEqual([503, undefined, '1']);
});
