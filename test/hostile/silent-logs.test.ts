import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { createClient } from 'graphql-ws';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { sandboxAddresses } from '../../platform/config/sandbox-addresses.ts';
import { startReceiver, type Receiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { createBrowser } from '../kit/clients/browser.ts';
import { graphql, rest, until } from '../kit/clients/requests.ts';
import { genuineSigner, logIn, signedIn } from '../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/**
 * A Kiln that logs everything, and every secret and task that went through it: none is in a line of its log, nor of its sandbox's.
 * Each part below goes well and goes wrong, as failures are what logs tell most about.
 */

/** Secrets that were used, by what they are. */
const secrets = new Map<string, string>();
const secret = (what: string, value: string | null | undefined): string => {
  if (!value || value.length < 8) throw new Error(`${what} is no secret: ${String(value)}`);
  secrets.set(`${what} (${secrets.size})`, value);
  return value;
};
const made = (what: string, prefix = '') => secret(what, `${prefix}${randomBytes(18).toString('hex')}`);

const lines: string[] = [];
const logged = (text: string) => lines.some((line) => line.includes(text));

let kiln: KilnUnderTest;
let receiver: Receiver;
/** A key that the operator has given out. */
const operator = made('a key of SERVICE_KEYS');
beforeAll(async () => {
  receiver = await startReceiver();
  kiln = await startKiln({
    isQuick: true,
    logLevel: 'silent',
    onLogLine: (line) => void lines.push(line),
    settings: (sandboxUrl) => ({
      LOG_LEVEL: 'debug',
      // With keys of providers the sandbox's sign-in is for open mode alone.
      REST_AUTH: 'open',
      OUTBOUND_ALLOW: receiver.host,
      SERVICE_KEYS: `operator=${createHash('sha256').update(operator).digest('hex')}`,
      INTERNAL_KEY: made('INTERNAL_KEY'),
      ...providerKeys(sandboxUrl),
      WECHAT_APPS: 'wx00000000sandbox1=kiln-sandbox-wechat',
      WECHAT_BASE_URL: `${sandboxUrl}/wechat`,
      DOUYIN_APPS: 'tt00000000sandbox1=kiln-sandbox-douyin',
      DOUYIN_BASE_URL: `${sandboxUrl}/douyin`,
    }),
  });
  for (const value of ['kiln-sandbox-wechat', 'kiln-sandbox-douyin', 'kiln-sandbox-client']) {
    secret('a secret at a platform', value);
  }
});
afterAll(async () => {
  await kiln?.close();
  await receiver?.close();
});

/** A key of our own for every provider, at its stand-in. */
function providerKeys(sandboxUrl: string): Record<string, string> {
  const wires = sandboxAddresses(sandboxUrl);
  return {
    OPENAI_BASE_URL: wires.openai,
    OPENAI_API_KEY: made('OPENAI_API_KEY', 'sk-'),
    GEMINI_BASE_URL: wires.gemini,
    GEMINI_API_KEY: made('GEMINI_API_KEY', 'AIza'),
    MIDJOURNEY_BASE_URL: wires.midjourney,
    MIDJOURNEY_SECRET: made('MIDJOURNEY_SECRET'),
    KLING_BASE_URL: wires.kling,
    KLING_ACCESS_KEY: made('KLING_ACCESS_KEY'),
    KLING_SECRET_KEY: made('KLING_SECRET_KEY'),
    MINIMAX_BASE_URL: wires.minimax,
    MINIMAX_API_KEY: made('MINIMAX_API_KEY'),
    HEDRA_BASE_URL: wires.hedra,
    HEDRA_API_KEY: made('HEDRA_API_KEY'),
    HIGGSFIELD_BASE_URL: wires.higgsfield,
    HIGGSFIELD_KEY: `${made('the id of HIGGSFIELD_KEY')}:${made('the secret of HIGGSFIELD_KEY')}`,
    ARK_BASE_URL: wires.ark,
    ARK_API_KEY: made('ARK_API_KEY'),
    FAL_BASE_URL: wires.fal,
    FAL_REST_BASE_URL: wires.falRest,
    FAL_KEY: made('FAL_KEY'),
    REPLICATE_BASE_URL: wires.replicate,
    REPLICATE_API_TOKEN: made('REPLICATE_API_TOKEN', 'r8_'),
    VOLCENGINE_BASE_URL: wires.volcengine,
    VOLCENGINE_VOD_BASE_URL: wires.volcengineVod,
    VOLCENGINE_ACCESS_KEY: made('VOLCENGINE_ACCESS_KEY'),
    VOLCENGINE_SECRET_KEY: made('VOLCENGINE_SECRET_KEY'),
    VOLCENGINE_VOD_SPACE: 'space',
  };
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const post = (at: string, body: object, headers: Record<string, string> = {}) =>
  rest(kiln.url, 'POST', at, body, headers);

/** Tokens of somebody, each of which is a secret. */
async function tokens(subject?: string) {
  const browser = createBrowser();
  const data = await signedIn(kiln.url, subject, browser);
  secret('an access token', data.access_token);
  secret('a refresh token', data.refresh_token);
  keepCookies(browser);
  return data;
}

function keepCookies(browser: ReturnType<typeof createBrowser>): void {
  for (const origin of [kiln.url, kiln.sandboxUrl]) {
    for (const [name, value] of browser.cookies(origin))
      if (value.length >= 8) secret(`cookie ${name}`, value);
  }
}

describe('signing in', () => {
  it('with a browser: codes, states, cookies, login codes, verifiers, and what is refused of them', async () => {
    const code_verifier = made('a code verifier');
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const browser = createBrowser();
    const query = `?redirect_url=/explorer&code_challenge=${challenge}`;
    const callback = await logIn(kiln.url, browser, { query });
    for (const name of ['code', 'state'])
      secret(`the ${name} of a callback`, callback.searchParams.get(name));
    keepCookies(browser);
    // A foreign browser, then our own, then ours again.
    expect((await createBrowser().open(callback.href)).status).toBe(400);
    const answer = await browser.open(callback.href);
    const location = new URL(answer.headers.get('location') ?? '');
    const login_code = secret('a login code', location.searchParams.get('login_code'));
    expect((await browser.open(callback.href)).status).toBe(400);
    expect((await post('/auth/idp/token', { login_code, code_verifier })).status).toBe(200);
    expect((await post('/auth/idp/token', { login_code, code_verifier })).status).toBe(401);
    expect(
      (await post('/auth/idp/token', { code: login_code, code_verifier, redirect_uri: 'x' })).status,
    ).not.toBe(200);
  });

  it('while the identity provider fails half-way', async () => {
    const browser = createBrowser();
    const callback = await logIn(kiln.url, browser);
    secret('the code of a callback', callback.searchParams.get('code'));
    keepCookies(browser);
    const altered = new URL(callback);
    altered.searchParams.set('code', made('an altered code'));
    expect((await browser.open(altered.href)).status).toBe(401);
  });

  it('from mini-programs, whose secret is in an address, and whose platform fails', async () => {
    for (const platform of ['wechat', 'douyin']) {
      const code = secret('a code of a mini-program', `ada-${platform}-${randomBytes(6).toString('hex')}`);
      const { status, body } = await post(`/auth/${platform}/token`, { code });
      expect(status).toBe(200);
      secret('an access token', body.data.access_token);
      expect((await post(`/auth/${platform}/token`, { code })).status).toBe(401);
      for (const fault of ['server-error', 'cut', 'malformed', 'wrong-content-type']) {
        await kiln.control('faults', { wire: platform, operation: 'session', fault, times: 1 });
        const failing = secret('a code of a mini-program', `ben-${platform}-${fault}-${codeTail()}`);
        expect((await post(`/auth/${platform}/token`, { code: failing })).status).toBeGreaterThanOrEqual(400);
      }
    }
  });
});

const codeTail = () => randomBytes(6).toString('hex');

describe('tokens', () => {
  it('in the header, in the query, in bodies, renewed, used twice, revoked, expired and forged', async () => {
    const ada = await tokens();
    const { access_token: token, refresh_token } = ada;
    const inQuery = (of: string) => rest(kiln.url, 'GET', `/auth/idp/userinfo?access_token=${of}`);
    expect((await inQuery(token)).status).toBe(200);
    const sign = await genuineSigner(kiln.runtime.config);
    const expired = secret('an expired token', await sign(token, { exp: 1_000_000_000 }));
    for (const bad of [expired, `${token.slice(0, -6)}AAAAAA`]) {
      expect((await inQuery(bad)).status).toBe(401);
      expect((await rest(kiln.url, 'GET', '/', undefined, bearer(bad))).status).toBe(401);
    }
    const renewed = (await post('/auth/idp/refresh', { refresh_token })).body.data;
    secret('an access token', renewed.access_token);
    secret('a refresh token', renewed.refresh_token);
    const again = (await post('/auth/idp/refresh', { refresh_token: renewed.refresh_token })).body.data;
    secret('a refresh token', again.refresh_token);
    expect((await post('/auth/idp/refresh', { refresh_token })).status).toBe(401);
    expect((await post('/auth/idp/revoke', { token: again.refresh_token }, bearer(token))).status).toBe(200);
    expect((await post('/auth/idp/refresh', { refresh_token: [refresh_token] })).status).toBe(400);
  });

  it('in the text, the variables and the address of GraphQL, and in the first message of a socket', async () => {
    const { access_token, refresh_token } = await tokens('sandbox-ben');
    const headers = bearer(access_token);
    const inText = `mutation { revokeSession(token: "${refresh_token}x") nothing }`;
    expect((await graphql(kiln.url, inText, {}, headers)).errors).toHaveLength(1);
    const variables = { token: refresh_token, other: access_token };
    const renew =
      'mutation ($token: String!, $other: Int) { refreshSession(refreshToken: $token) { scope } }';
    expect((await graphql(kiln.url, renew, variables, headers)).errors).toHaveLength(1);
    const search = new URLSearchParams({ query: `{ viewer { id } } # ${access_token}` });
    expect((await fetch(`${kiln.url}/graphql?${search.toString()}`, { headers })).status).toBeLessThan(500);
    for (const authorization of [`Bearer ${access_token}`, `Bearer ${access_token}x`]) {
      const client = createClient({
        url: `${kiln.url.replace('http', 'ws')}/graphql`,
        webSocketImpl: WebSocket,
        retryAttempts: 0,
        connectionParams: { authorization },
      });
      const first = client.iterate({ query: '{ viewer { id } }' }).next();
      const outcome = await first.catch((error: unknown) => error);
      const whole = authorization.endsWith(access_token);
      expect(outcome).toMatchObject(whole ? { value: { data: {} } } : { code: 4403 });
      await client.dispose();
    }
  });

  it('of programs: made, used, refused and revoked', async () => {
    const admin = bearer(operator);
    const create = 'mutation { createServiceKey(name: "shop", scopes: []) { secret key { id } } }';
    const { data } = await graphql(kiln.url, create, {}, admin);
    const key = secret('a service key', data.createServiceKey.secret);
    expect((await graphql(kiln.url, '{ serviceKeys { id } }', {}, bearer(key))).errors).toHaveLength(1);
    const revoke = 'mutation ($id: ID!) { revokeServiceKey(id: $id) { id } }';
    await graphql(kiln.url, revoke, { id: data.createServiceKey.key.id }, admin);
    await until(
      () => rest(kiln.url, 'GET', '/api/task/health', undefined, bearer(key)),
      ({ status }) => status === 401,
    );
    const basic = secret('a password', Buffer.from(`ada:${made('a password')}`).toString('base64'));
    await rest(kiln.url, 'GET', '/api/task/health', undefined, { authorization: `Basic ${basic}` });
  });
});

/** Requests to every provider whose key is set; some begin a task, some answer at once. */
const works: readonly (readonly [wire: string, path: string, fields: Readonly<Record<string, string>>])[] = [
  ['midjourney', '/api/imga/async/image', { prompt: 'a boat' }],
  ['openai', '/api/llm/chat', { prompt: 'hello' }],
  ['gemini', '/api/llm/altllm/chat', { prompt: 'hello' }],
  ['minimax', '/api/agg/speech_router/sync/generate/speech', { text: 'hello' }],
  ['kling', '/api/vidb/async/generate/video', { prompt: 'waves' }],
  ['hedra', '/api/agg/lipsync/v3/submit/task', { text: 'hello' }],
  ['fal', '/api/custom/image/submit/task', { prompt: 'a boat' }],
];

describe('work', () => {
  it('at every provider, that goes well and that fails in every way an upstream can', async () => {
    const file = await sharp({ create: { width: 64, height: 64, channels: 3, background: 'teal' } })
      .png()
      .toBuffer();
    const image = () => new File([Uint8Array.from(file)], 'a.png', { type: 'image/png' });
    const { access_token } = await tokens('sandbox-admin');
    const headers = { ...bearer(access_token), 'x-callback-url': receiver.url };
    const submit = async (at: string, fields: Readonly<Record<string, string>>) => {
      const form = new FormData();
      for (const [name, value] of Object.entries(fields)) form.set(name, value);
      form.set('img_file', image());
      return rest(kiln.url, 'POST', at, form, {
        ...headers,
        'idempotency-key': made('an idempotency key'),
      });
    };
    const ids: string[] = [];
    const take = ({ body }: { readonly body: { readonly data?: unknown } }) => {
      if (typeof body.data === 'string' && /^[0-9a-f-]{36}$/.test(body.data))
        ids.push(secret('the id of a task', body.data));
    };
    for (const [, at, fields] of works) take(await submit(at, fields));
    for (const fault of ['server-error', 'cut', 'malformed', 'wrong-content-type', 'wrong-length'] as const) {
      for (const [wire] of works) await kiln.control('faults', { wire, fault, times: 1 });
      for (const [, at, fields] of works) take(await submit(at, fields));
    }
    expect(ids.length).toBeGreaterThan(10);
    await Promise.all(ids.map((id) => ended(id, access_token)));
    const library = await graphql(kiln.url, '{ medias { edges { node { id } } } }', {}, headers);
    for (const { node } of library.data.medias.edges) secret('the id of a file', node.id);
    await until(
      async () => receiver.received.length,
      (count) => count > 0,
    );
    expect(logged('a start') || logged('a status call failed') || logged('a call')).toBe(true);
  });

  it('of which upstreams send notices, with a signature or in an address', async () => {
    const mac = made('the mac of a notice');
    for (const at of [`/hooks/fal?attempt=a&mac=${mac}`, `/hooks/midjourney?attempt=a&mac=${mac}`]) {
      const answer = await fetch(`${kiln.url}${at}`, {
        method: 'POST',
        headers: { 'x-fal-webhook-signature': made('a signature') },
        body: '{}',
      });
      expect(answer.status).toBe(401);
    }
    const headers = { 'stripe-signature': `t=1,v1=${made('a signature of Stripe')}` };
    expect((await rest(kiln.url, 'POST', '/payment/webhook', '{}', headers)).status).toBe(401);
  });
});

it('and the log, which tells much else, holds none of it', async () => {
  const kept = ['file-secret', 'sign-in-secret', 'webhook-secret', 'service-key'];
  for (const name of kept) {
    const text = await readFile(path.join(kiln.dataDir, name), 'utf8').catch(() => null);
    if (text !== null) secret(`the installation's ${name}`, text.trim());
  }
  expect(secrets.size).toBeGreaterThan(80);
  const requests = lines.filter((line) => line.includes('"msg":"request"'));
  expect(requests.length).toBeGreaterThan(100);
  for (const at of ['/auth/idp/callback', '/auth/idp/userinfo', '/graphql', '/hooks/fal']) {
    expect(requests.some((line) => line.includes(`"path":"${at}"`))).toBe(true);
  }
  const text = lines.join('');
  const found = [...secrets].filter(
    ([, value]) => text.includes(value) || text.includes(encodeURIComponent(value)),
  );
  const told = found.map(([what, value]) => `${what}: ${lines.find((line) => line.includes(value)) ?? ''}`);
  expect(told).toEqual([]);
});

/** Waits for the end of somebody's task. */
async function ended(id: string, token: string): Promise<void> {
  await until(
    () => rest(kiln.url, 'GET', `/api/task/status/${id}`, undefined, bearer(token)),
    ({ body }) => typeof body.status === 'boolean',
    60_000,
  );
}
