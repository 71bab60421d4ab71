import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';

import { getDistDirectory } from 'altair-static';
import { afterEach, describe, expect, test } from 'vitest';

import { createRateLimiter } from '../limits/rate-limit.ts';
import { createCors } from '../request/cors.ts';
import { requireContext } from '../request/request-context.ts';
import { type TestGateway, post, SHOP_SECRET, startTestGateway, until } from './server-under-test.fixture.ts';

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

interface Envelope {
  readonly status: boolean;
  readonly data: null;
  readonly msg: string;
  readonly detail: string;
}

async function getJson<Body>(url: string, headers: Record<string, string> = {}): Promise<[number, Body]> {
  const response = await fetch(url, { headers });
  return [response.status, (await response.json()) as Body];
}

describe('the gateway', () => {
  test('tells that it serves, and which part is not ready', async () => {
    let isBroken = false;
    const never = new Promise<void>(() => undefined);
    gateway = await startTestGateway({
      readiness: {
        database: async () => {
          if (isBroken) throw new Error('password=hunter2');
        },
        media: async () => (isBroken ? never : undefined),
        workflow: async () => undefined,
      },
    });
    expect(await getJson(`${gateway.url}/healthz`)).toEqual([200, { status: 'ok' }]);
    const checks = ['database', 'media', 'workflow'];
    expect(await getJson(`${gateway.url}/readyz`)).toEqual([200, { status: 'ready', checks, failing: [] }]);
    isBroken = true;
    expect(await getJson(`${gateway.url}/readyz`)).toEqual([
      503,
      { status: 'not ready', checks, failing: ['database', 'media'] },
    ]);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
  });

  test('serves everything below the path prefix of PUBLIC_URL', async () => {
    const paths: string[] = [];
    const echo = (request: { url: string }, response: { end: (text: string) => unknown }): void => {
      paths.push(request.url);
      response.end('served');
    };
    gateway = await startTestGateway({
      publicUrl: 'https://example.org/kiln/',
      files: echo,
      sandbox: echo,
      rest: echo,
    });
    for (const path of ['/files/1/a.png?sig=x', '/sandbox', '/sandbox/pay?id=1', '/api/task/status']) {
      expect(await (await fetch(`${gateway.url}/kiln${path}`)).text()).toBe('served');
    }
    expect(paths).toEqual(['/files/1/a.png?sig=x', '/sandbox', '/sandbox/pay?id=1', '/api/task/status']);
    expect((await post({ url: `${gateway.url}/kiln` }, { query: '{ hello }' })).body.data).toEqual({
      hello: 'hi',
    });
    expect((await fetch(`${gateway.url}/kiln/healthz`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${gateway.url}/graphql`)).status).toBe(404);
    expect(gateway.lines.join('')).not.toContain('sig=x');
  });

  test('answers unknown paths and failures in the envelope, without details of ours', async () => {
    gateway = await startTestGateway({
      sandbox: () => {
        throw new Error('password=hunter2');
      },
    });
    expect(await getJson<Envelope>(`${gateway.url}/nowhere`)).toEqual([
      404,
      { status: false, data: null, msg: 'no such path: /nowhere', detail: 'Not Found' },
    ]);
    const [status, body] = await getJson<Envelope>(`${gateway.url}/sandbox`);
    expect(status).toBe(500);
    expect(body.msg).toMatch(/^internal error, trace id [0-9a-f]{32}$/);
    const traceId = body.msg.slice(-32);
    expect(gateway.lines.some((line) => line.includes(traceId) && line.includes('a request failed'))).toBe(
      true,
    );
  });

  test('knows service keys, refuses forged ones everywhere and unknown bearers on /graphql only', async () => {
    gateway = await startTestGateway({
      rest: (request, response) => response.json(requireContext(request).caller),
    });
    const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
    const [, key] = await getJson(`${gateway.url}/api/x`, bearer(SHOP_SECRET));
    expect(key).toMatchObject({ kind: 'key', id: 'key_shop', scopes: ['admin'], address: '127.0.0.1' });
    const jwt = `${Buffer.from('{"alg":"EdDSA","typ":"at+jwt"}').toString('base64url')}.e30.c2ln`;
    for (const forged of ['kiln_forged', jwt]) {
      expect((await getJson<Envelope>(`${gateway.url}/api/x`, bearer(forged)))[0]).toBe(401);
      expect((await post(gateway, { query: 'mutation { start }' }, bearer(forged))).status).toBe(401);
    }
    expect(gateway.world.starts).toBe(0);
    expect(gateway.lines.filter((line) => line.includes('"level":50'))).toEqual([]);
    const [status, leftover] = await getJson(`${gateway.url}/api/x`, bearer('somebody-elses-token'));
    expect([status, leftover]).toMatchObject([200, { kind: 'anonymous', id: 'anon' }]);
    const unknown = await post(gateway, { query: '{ hello }' }, bearer('somebody-elses-token'));
    expect([unknown.status, unknown.body.errors?.[0]?.extensions]).toEqual([
      401,
      { code: 'UNAUTHENTICATED' },
    ]);
    expect((await post(gateway, { query: '{ hello }' }, { authorization: 'Basic eDp5' })).status).toBe(200);
    expect(gateway.lines.join('')).not.toContain('somebody-elses-token');
  });

  test('lets the browser origins call that may, and exposes the headers they need', async () => {
    gateway = await startTestGateway({ corsOrigins: ['https://shop.example'] });
    const preflight = (origin: string) =>
      fetch(`${gateway?.url}/graphql`, {
        method: 'OPTIONS',
        headers: {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'content-type',
        },
      });
    const allowed = await preflight('https://shop.example');
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(allowed.headers.get('access-control-allow-headers')).toBe('content-type');
    expect((await preflight('https://evil.example')).headers.get('access-control-allow-origin')).toBeNull();
    const answer = await post(gateway, { query: '{ hello }' }, { origin: 'https://shop.example' });
    expect(answer.headers.get('access-control-expose-headers')).toMatch(
      /X-RateLimit-Limit.*Retry-After.*Deprecation.*X-Trace-Id/,
    );
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('vary')).toContain('Origin');
  });

  test('shows browsers Apollo Sandbox with the way to the explorer, in production neither', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    gateway = await startTestGateway();
    const page = await (await fetch(`${gateway.url}/graphql`, { headers })).text();
    expect(page).toContain('EmbeddedSandbox');
    expect(page).toContain('href="/explorer/"');
    await gateway.close();
    gateway = await startTestGateway({ production: true });
    const production = await (await fetch(`${gateway.url}/graphql`, { headers })).text();
    expect(production).not.toContain('href=');
    expect(production).not.toContain('https://');
  });

  test('serves an explorer that loads from this origin alone', async () => {
    gateway = await startTestGateway({ publicUrl: 'https://example.org/kiln' });
    const response = await fetch(`${gateway.url}/kiln/explorer/`);
    const page = await response.text();
    expect(response.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(page).toContain('<base href="/kiln/explorer/">');
    expect(page).toContain('<title>Explorer · Kiln</title>');
    expect(page).toContain('href="/kiln/console/"');
    // Of the window and of its three first tabs.
    const wire = `${gateway.url.slice('http'.length)}/kiln/graphql`;
    for (const scheme of ['http', 'ws']) expect(page.split(`\`${scheme}${wire}\``)).toHaveLength(5);
    expect(page).not.toContain('/auth/');
    const loaded = [...page.matchAll(/<(?:script|link|img)\b[^>]*\b(?:src|href)="([^"]+)"/g)].map(
      ([, url]) => url ?? '',
    );
    expect(loaded.length).toBeGreaterThan(3);
    for (const url of loaded) {
      expect(url).not.toMatch(/^(https?:)?\/\//);
      const part = await fetch(new URL(url, `${gateway.url}/kiln/explorer/`));
      expect(part.status).toBe(200);
      await part.arrayBuffer();
    }
    const styles = await readFile(join(getDistDirectory(), 'styles.css'), 'utf8');
    expect([...styles.matchAll(/url\(["']?(https?:)?\/\//g)]).toEqual([]);
    expect(await readdir(getDistDirectory())).toContain('main.js');
  });

  test('signs the explorer in only where it is told to, with nothing secret in the page', async () => {
    gateway = await startTestGateway({ explorerSignsIn: true });
    const page = await (await fetch(`${gateway.url}/explorer/`)).text();
    expect(page).toContain("'POST', '/auth/wechat/token'");
    expect(page).toContain('Bearer {{token}}');
    await gateway.close();
    gateway = await startTestGateway({ explorerSignsIn: true, production: true });
    expect((await fetch(`${gateway.url}/explorer/`)).status).toBe(404);
  });

  test('never writes a hostile Host header into the explorer', async () => {
    gateway = await startTestGateway();
    const { request } = await import('undici');
    const { body } = await request(`${gateway.url}/explorer/`, { headers: { host: 'x`;alert(1)</script>' } });
    expect(await body.text()).not.toContain('alert(1)');
  });

  test('believes the forwarded protocol for the explorer from a trusted proxy alone', async () => {
    const openSocket = async (trustProxy: readonly string[], proto: string) => {
      gateway = await startTestGateway({ trustProxy });
      const page = await fetch(`${gateway.url}/explorer/`, { headers: { 'x-forwarded-proto': proto } });
      const [, scheme] = /`(wss?):\/\/127\.0\.0\.1:\d+\/graphql/.exec(await page.text()) ?? [];
      await gateway.close();
      return scheme;
    };
    expect(await openSocket([], 'https')).toBe('ws');
    expect(await openSocket(['10.0.0.0/8'], 'https')).toBe('ws');
    expect(await openSocket(['127.0.0.1'], 'https')).toBe('wss');
    expect(await openSocket(['127.0.0.1'], 'https, http')).toBe('wss');
    expect(await openSocket(['127.0.0.1'], 'http')).toBe('ws');
    gateway = undefined;
  });

  test('says that it is not ready while it still serves before it stops', async () => {
    gateway = await startTestGateway({ stillServeMs: 300 });
    const { url } = gateway;
    const stopped = gateway.close();
    expect(await getJson(`${url}/readyz`)).toMatchObject([503, { failing: ['stopping'] }]);
    expect((await post(gateway, { query: '{ hello }' })).body.data).toEqual({ hello: 'hi' });
    await stopped;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
    gateway = undefined;
  });

  test('lets a running request end when it stops, and cuts it when it takes too long', async () => {
    gateway = await startTestGateway({ drainMs: 300 });
    const { world, url } = gateway;
    const answer = post(gateway, { query: '{ hang }' }).catch((error: unknown) => error);
    await until(() => world.hanging.length === 1);
    await gateway.close();
    await until(() => world.hanging[0]?.aborted === true);
    expect(await answer).toBeInstanceOf(Error);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow('fetch failed');
    gateway = undefined;
  });
});

describe('the schema as a file', () => {
  test('is for everybody where it may be asked for, and in production for who is known', async () => {
    gateway = await startTestGateway();
    const open = await fetch(`${gateway.url}/schema.graphql`);
    expect([open.status, open.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    expect(open.headers.get('cache-control')).toBe('no-cache');
    expect(await open.text()).toMatch(/^type Query \{$/m);
    await gateway.close();
    gateway = await startTestGateway({ production: true });
    const refused = await fetch(`${gateway.url}/schema.graphql`);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const headers = { authorization: `Bearer ${SHOP_SECRET}` };
    expect((await fetch(`${gateway.url}/schema.graphql`, { headers })).status).toBe(200);
  });
});

describe('readiness', () => {
  test('is told so often a minute to one address, whatever it sends, and the process answers in any case', async () => {
    const rateLimiter = createRateLimiter({ status: 1 });
    gateway = await startTestGateway({ rateLimiter, readyPerMinute: 2 });
    const ready = () =>
      fetch(`${gateway?.url}/readyz`, { headers: { authorization: `Bearer ${SHOP_SECRET}` } });
    const answers = [await ready(), await ready(), await ready()];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get('cache-control')).slice(0, 2)).toEqual([
      'no-store',
      'no-store',
    ]);
    expect(Number(answers[2]?.headers.get('retry-after'))).toBeGreaterThan(0);
    const alive = await fetch(`${gateway.url}/healthz`);
    expect([alive.status, alive.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });

  test('names the providers to administrators who ask, and is none of theirs', async () => {
    let isAway = false;
    gateway = await startTestGateway({
      metricsKey: 'the-key',
      providers: async () => {
        if (isAway) throw new Error('they can not be read');
        return { openai: 'ready' };
      },
    });
    const { url } = gateway;
    const read = async (query: string, secret?: string) => {
      const headers = secret === undefined ? {} : { authorization: `Bearer ${secret}` };
      return (await getJson<{ providers?: unknown }>(`${url}/readyz${query}`, headers))[1].providers;
    };
    expect(await read('?verbose', SHOP_SECRET)).toEqual({ openai: 'ready' });
    expect(await read('?verbose', 'the-key')).toEqual({ openai: 'ready' });
    expect([await read('', SHOP_SECRET), await read('?verbose'), await read('?verbose', 'other')]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    isAway = true;
    expect(await getJson(`${url}/readyz?verbose`, { authorization: 'Bearer the-key' })).toMatchObject([
      200,
      { providers: null },
    ]);
  });
});

describe('other origins', () => {
  test('are told for how long and what they may send, and any of them where none is named', async () => {
    gateway = await startTestGateway();
    const headers = { origin: 'https://any.example', 'access-control-request-method': 'POST' };
    const answer = await fetch(`${gateway.url}/graphql`, { method: 'OPTIONS', headers });
    const named = ['allow-origin', 'allow-methods', 'max-age', 'allow-headers'].map((name) =>
      answer.headers.get(`access-control-${name}`),
    );
    expect([answer.status, ...named]).toEqual([204, '*', 'GET, HEAD, POST, PUT, PATCH, DELETE', '600', null]);
    expect(answer.headers.get('vary')).toBe('Access-Control-Request-Headers');
    // Not a preflight.
    const plain = await fetch(`${gateway.url}/nowhere`, {
      method: 'OPTIONS',
      headers: { origin: 'https://x.example' },
    });
    expect(plain.status).toBe(404);
  });

  test('open sockets and streams where they are named, or are this one', () => {
    const allows = (origins: 'any' | readonly string[], headers: Record<string, string>) =>
      createCors({ origins }).allows({ headers } as unknown as IncomingMessage);
    const listed = ['https://shop.example/'];
    expect(allows('any', { origin: 'https://x.example' })).toBe(true);
    expect(allows('any', { 'sec-fetch-site': 'cross-site' })).toBe(true);
    expect(allows(listed, { origin: 'https://shop.example' })).toBe(true);
    expect(allows(listed, { origin: 'https://x.example', host: 'kiln.example' })).toBe(false);
    expect(allows(listed, { origin: 'https://kiln.example', host: 'kiln.example' })).toBe(true);
    expect(allows(listed, { origin: 'null', host: 'kiln.example' })).toBe(false);
    expect(allows(listed, {})).toBe(true);
    expect(allows(listed, { 'sec-fetch-site': 'same-origin' })).toBe(true);
    for (const site of ['cross-site', 'same-site'])
      expect(allows(listed, { 'sec-fetch-site': site })).toBe(false);
  });
});

test('what a handler refuses keeps its status and words; a browser that is lost gets a page', async () => {
  gateway = await startTestGateway({
    publicUrl: 'https://example.org/kiln',
    sandbox: () => {
      throw Object.assign(new Error('too long'), { status: 414 });
    },
  });
  const { url } = gateway;
  expect(await getJson<Envelope>(`${url}/kiln/sandbox`)).toMatchObject([414, { msg: 'too long' }]);
  const page = await fetch(`${url}/kiln/no<where>`, { headers: { accept: 'text/html' } });
  expect([page.status, page.headers.get('cache-control')]).toEqual([404, 'no-store']);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await page.text();
  expect(text).toContain('href="/kiln/console/"');
  expect(text).not.toContain('no<where>');
  const posted = await fetch(`${url}/kiln/nowhere`, { method: 'POST', headers: { accept: 'text/html' } });
  expect(posted.headers.get('content-type')).toContain('application/json');
});
