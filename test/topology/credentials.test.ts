import { createClient } from 'graphql-ws';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { internalCaller } from '../../platform/access/caller.ts';
import { readConfig } from '../../platform/config/config.ts';
import {
  CALLER_HEADER,
  createCallerSigner,
  operationHash,
} from '../../platform/graphql/assertions/caller-assertion.ts';
import { graphql, rest, until } from '../kit/clients/requests.ts';
import { genuineSigner, signedIn, type SignInData } from '../kit/clients/sign-in.ts';
import { extent } from '../kit/extent.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { type Role, startPart, startSplitKiln, type SplitKiln } from './split.ts';

/**
 * Two gateways, each with a workflow part of its own behind it, over one database: what one of them is told holds at the
 * other.
 */

/** What is a process of its own: in `npm test` all of it is inside the test's, as nothing is killed. */
const PROCESSES = extent<readonly Role[]>([], ['media', 'workflow', 'gateway']);

/** Five seconds from a revocation until it holds everywhere, and what a busy machine adds: a token lasts far longer. */
const EVERYWHERE_MS = 60_000;
const MANY = 100_000;

/** Upgrades count too, by the address that all of the tests have. */
const STATUS = 60;

let kiln: SplitKiln;
/** The other gateway's address. */
let elsewhere: string;
/** Whom the first gateway has let in before the second one was there. */
let before: SignInData;
const others: Awaited<ReturnType<typeof startPart>>[] = [];
beforeAll(async () => {
  // Without a worker tasks stay where they are: whoever follows one waits.
  kiln = await startSplitKiln(
    { RATE_LIMIT: `status=${STATUS},read=${MANY},start=${MANY},write=${MANY}` },
    { roles: ['media', 'workflow', 'gateway'], processes: PROCESSES },
  );
  // The key that signs now has signed for the last time: whoever starts next makes its successor.
  before = await signedIn(kiln.url);
  await ask('update workflow.signing_keys set signs_until = now()');
  const [gateway = 0, workflow = 0] = await freePorts(2);
  elsewhere = `http://127.0.0.1:${gateway}`;
  const WORKFLOW_URL = `http://127.0.0.1:${workflow}/graphql`;
  await Promise.all([startAnother('workflow', workflow), startAnother('gateway', gateway, { WORKFLOW_URL })]);
});
afterAll(async () => {
  await Promise.all(others.map((other) => other.end('SIGTERM')));
  await kiln?.close();
});

async function startAnother(role: Role, port: number, more: Record<string, string> = {}) {
  const settings = { ...kiln.settings, ...more, PORT: String(port) };
  others.push(await startPart(role, { settings, isProcess: PROCESSES.includes(role) }));
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const userinfo = (url: string, token: string) =>
  rest(url, 'GET', '/auth/idp/userinfo', undefined, bearer(token));

it('the keys of tokens change while old tokens go on: both are published, and good everywhere', async () => {
  const { body } = await rest(elsewhere, 'POST', '/auth/idp/refresh', {
    refresh_token: before.refresh_token,
  });
  const after = body.data as SignInData;
  const names = [before, after].map(({ access_token }) => readKeyName(access_token));
  expect(new Set(names).size).toBe(2);
  const { keys } = (await rest(elsewhere, 'GET', '/.well-known/jwks.json')).body;
  expect(keys.map(({ kid }: { kid: string }) => kid)).toEqual(names);
  expect(keys.some((key: object) => 'd' in key)).toBe(false);
  for (const { access_token } of [before, after]) {
    // Other processes look for a key that they do not know once in two seconds: it is published a day ahead otherwise.
    for (const url of [kiln.url, elsewhere]) {
      const { status } = await until(
        () => userinfo(url, access_token),
        (answer) => answer.status === 200,
        EVERYWHERE_MS,
      );
      expect(status).toBe(200);
    }
  }
  // A verifier that knows our key set alone agrees.
  const published = createLocalJWKSet({ keys });
  for (const { access_token } of [before, after]) {
    const { payload } = await jwtVerify(access_token, published, { issuer: kiln.url, typ: 'at+jwt' });
    expect(payload.sub).toBe(before.user.id);
  }
});

// Every process knows both keys by now, and each of these signs in by itself: they wait at the same time.

describe.concurrent('a session that is closed at one gateway', () => {
  it('is refused by the other within five seconds, and its streams there end', async () => {
    const ada = await signedIn(kiln.url);
    const streams = await openStreams(elsewhere, ada.access_token);
    // The other one has just let it in.
    expect((await userinfo(elsewhere, ada.access_token)).status).toBe(200);
    const since = Date.now();
    const { status } = await rest(kiln.url, 'POST', '/auth/idp/revoke', { token: ada.refresh_token });
    expect(status).toBe(200);
    await expectAllEnd(ada.access_token, streams, since);
    expect(
      (await rest(elsewhere, 'POST', '/auth/idp/refresh', { refresh_token: ada.refresh_token })).status,
    ).toBe(401);
  });

  it('is refused within five seconds even when no process learns of it', async () => {
    const ada = await signedIn(kiln.url);
    const streams = await openStreams(elsewhere, ada.access_token);
    expect((await userinfo(elsewhere, ada.access_token)).status).toBe(200);
    const since = Date.now();
    await ask('update workflow.sessions set revoked_at = now() where id = $1', [readSession(ada)]);
    await expectAllEnd(ada.access_token, streams, since);
  });

  it('is the one of the request, where it is asked for', async () => {
    const ada = await signedIn(kiln.url);
    const { data } = await graphql(elsewhere, '{ sessions { id current } }', {}, bearer(ada.access_token));
    const current = data.sessions.filter((session: { current: boolean }) => session.current);
    expect(current).toEqual([{ id: readSession(ada), current: true }]);
  });
});

it.concurrent('an account that is deleted at one gateway is gone at the other within five seconds, streams and all', async () => {
  const ben = await signedIn(kiln.url, 'sandbox-ben');
  const streams = await openStreams(elsewhere, ben.access_token);
  const since = Date.now();
  const { data } = await graphql(kiln.url, 'mutation { deleteAccount }', {}, bearer(ben.access_token));
  expect(data.deleteAccount).toBe(true);
  // Their work is cancelled too, so that some streams end before they are refused.
  await expectAllEnd(ben.access_token, streams, since, [
    expect.stringMatching(/event: complete/),
    expect.stringMatching(/--graphql--/),
    expect.toSatisfy((code) => code === 4403 || code === 1000),
  ]);
  // Whoever signs in again is somebody new.
  expect((await signedIn(kiln.url, 'sandbox-ben')).user.id).not.toBe(ben.user.id);
});

it.concurrent('a stream ends with its token, whose session goes on', async () => {
  const ada = await signedIn(kiln.url);
  const sign = await genuineSigner(readConfig({ ...kiln.settings }));
  const now = Math.floor(Date.now() / 1_000);
  const short = await sign(ada.access_token, { iat: now, exp: now + 6 });
  const streams = await openStreams(elsewhere, short);
  expect(await Promise.all(streams)).toEqual(ENDS);
  expect(Date.now()).toBeGreaterThanOrEqual((now + 6) * 1_000);
  expect((await userinfo(elsewhere, ada.access_token)).status).toBe(200);
});

it.concurrent('nobody smuggles an assertion between processes in through the gateway', async () => {
  const ada = await signedIn(kiln.url);
  const key = kiln.settings['INTERNAL_KEY'] ?? '';
  const caller = { ...internalCaller('a'.repeat(32)), kind: 'user' as const, id: ada.user.id };
  const query = '{ viewer { id } }';
  const request = { method: 'POST', path: '/graphql', body: operationHash({ query }) };
  for (const audience of ['workflow', 'media']) {
    const assertion = await createCallerSigner({ key, audience })(caller, request);
    const { data } = await graphql(kiln.url, '{ viewer { id } }', {}, { [CALLER_HEADER]: assertion });
    expect(data.viewer).toBeNull();
    const refused = await graphql(kiln.url, '{ viewer { id } }', {}, bearer(assertion));
    expect(refused.errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
  }
  // Genuine it is: at the process itself it counts.
  const workflow = (kiln.settings['WORKFLOW_URL'] ?? '').replace('/graphql', '');
  const assertion = await createCallerSigner({ key, audience: 'workflow' })(caller, request);
  const { data } = await graphql(workflow, '{ viewer { id } }', {}, { [CALLER_HEADER]: assertion });
  expect(data.viewer.id).toBe(ada.user.id);
  // For this operation alone.
  const other = '{ viewer { id name } }';
  const replayed = await graphql(workflow, other, {}, { [CALLER_HEADER]: assertion });
  expect(replayed.errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
});

it.concurrent('subgraphs answer nobody but Kiln, whatever is asked and however, except about their health', async () => {
  const { authorization } = bearer((await signedIn(kiln.url)).access_token);
  for (const name of ['MEDIA_URL', 'WORKFLOW_URL']) {
    const url = kiln.settings[name] ?? '';
    const { origin } = new URL(url);
    const asked = (path: string, init: RequestInit = {}) =>
      fetch(`${origin}${path}`, init).then(({ status }) => status);
    const post = (body: string, headers: Record<string, string> = {}) =>
      asked('/graphql', {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
    const entities = '{"query":"{ _entities(representations: []) { __typename } }"}';
    expect(await post('{"query":"{ __typename }"}')).toBe(401);
    expect(await post(entities)).toBe(401);
    expect(await post(entities, { authorization })).toBe(401);
    expect(await post(entities, { authorization: 'Bearer nonsense' })).toBe(401);
    expect(await post('{'.repeat(4_000))).toBe(401);
    expect(await asked('/files/anything/at-all.png')).toBe(401);
    expect(await asked('/hooks/fal', { method: 'POST', body: '{}' })).toBe(401);
    expect(await asked('/graphql')).toBe(401);
    for (const path of ['/healthz', '/readyz']) expect(await asked(path)).toBe(200);
    const query = 'subscription { taskProgress(id: "x") { seq } }';
    expect(await readSocket(origin, { query, token: 'x', onEvent: () => undefined })).toBe(4403);
  }
});

it.concurrent('a refresh token that comes twenty times to both gateways at once has one successor', async () => {
  const { refresh_token } = await signedIn(kiln.url);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      rest([kiln.url, elsewhere][index % 2] ?? '', 'POST', '/auth/idp/refresh', { refresh_token }),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
  expect(new Set(answers.map(({ body }) => body.data.refresh_token)).size).toBe(1);
});

it.concurrent('a caller has one rate limit at both gateways, and is told the same', async () => {
  const { access_token } = await signedIn(kiln.url);
  const status = (url: string) =>
    rest(url, 'GET', '/api/task/status/nothing', undefined, bearer(access_token));
  const left = [];
  for (let asked = 0; asked < STATUS; asked += 1) {
    const { headers } = await status(asked % 3 === 0 ? kiln.url : elsewhere);
    left.push(Number(headers.get('x-ratelimit-remaining')));
  }
  expect(left).toEqual(left.map((_, asked) => STATUS - 1 - asked));
  for (const url of [kiln.url, elsewhere]) {
    const refused = await status(url);
    expect([refused.status, refused.headers.get('x-ratelimit-limit')]).toEqual([429, String(STATUS)]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  }
});

/** How each kind of stream is told that its credential has ended. */
const ENDS = [
  expect.stringMatching(/UNAUTHENTICATED.*event: complete/s),
  expect.stringMatching(/UNAUTHENTICATED.*--graphql--/s),
  4403,
];

/** Follows a task of the bearer's own over every transport; answers the ends when all have begun. */
async function openStreams(url: string, token: string): Promise<Promise<unknown>[]> {
  const { data, errors } = await graphql(
    url,
    'mutation { createTask(taskType: "tea", prompt: "a cup") { id } }',
    {},
    bearer(token),
  );
  expect(errors).toBeUndefined();
  const query = `subscription { taskProgress(id: "${data.createTask.id}") { seq } }`;
  const begun: Promise<void>[] = [];
  const over: Promise<unknown>[] = [];
  for (const accept of ['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0, application/json']) {
    const first = Promise.withResolvers<void>();
    begun.push(first.promise);
    over.push(readStream(url, { query, accept, token, onEvent: first.resolve }));
  }
  const first = Promise.withResolvers<void>();
  begun.push(first.promise);
  over.push(readSocket(url, { query, token, onEvent: first.resolve }));
  // A stream that ends before it has begun says why.
  await Promise.race([
    Promise.all(begun),
    Promise.any(over).then((end) => Promise.reject(new Error(String(end)))),
  ]);
  return over;
}

interface Following {
  readonly query: string;
  readonly token: string;
  /** Called with each event. */
  readonly onEvent: () => void;
}

async function readStream(
  url: string,
  { query, accept, token, onEvent }: Following & { readonly accept: string },
): Promise<string> {
  const { body } = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, ...bearer(token) },
    body: JSON.stringify({ query }),
  });
  let text = '';
  for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('"seq":')) onEvent();
  }
  return text;
}

/** Answers the code with which the socket is closed. */
async function readSocket(url: string, { query, token, onEvent }: Following): Promise<unknown> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    connectionParams: bearer(token),
  });
  return new Promise((resolve) => {
    client.on('closed', (event) => resolve((event as { code: number }).code));
    client.subscribe({ query }, { next: onEvent, error: () => undefined, complete: () => undefined });
  });
}

/** The other gateway refuses the token and ends what was opened with it, within the allowed time. */
async function expectAllEnd(
  token: string,
  streams: readonly Promise<unknown>[],
  since: number,
  ends: readonly unknown[] = ENDS,
): Promise<void> {
  await until(
    () => userinfo(elsewhere, token),
    ({ status }) => status === 401,
    EVERYWHERE_MS,
  );
  expect(await Promise.all(streams)).toEqual(ends);
  await until(
    () => graphql(elsewhere, '{ viewer { id } }', {}, bearer(token)),
    ({ errors }) => errors?.[0]?.extensions['code'] === 'UNAUTHENTICATED',
    EVERYWHERE_MS,
  );
  expect(Date.now() - since).toBeLessThan(EVERYWHERE_MS);
}

/** Which key has signed a token. */
function readKeyName(token: string): unknown {
  return (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid?: string }).kid;
}

function readSession({ refresh_token }: SignInData): string {
  return refresh_token.split('.')[0] ?? '';
}

async function ask(question: string, values: readonly string[] = []): Promise<void> {
  const client = new Client({ connectionString: kiln.settings['DATABASE_URL'] });
  await client.connect();
  try {
    await client.query(question, [...values]);
  } finally {
    await client.end();
  }
}
