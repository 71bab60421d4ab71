import { createHash, randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createBrowser } from '../../kit/clients/browser.ts';
import { graphql, rest } from '../../kit/clients/requests.ts';
import { logIn } from '../../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** Sessions of the console: the refresh token in a cookie, the access token in the reply. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln?.close());

const own = { 'sec-fetch-site': 'same-origin' };
const post = (path: string, body: object | undefined, headers: Record<string, string>) =>
  rest(kiln.url, 'POST', path, body, headers);

/** A login code as the redirect of a sign-in carries it, and its verifier. */
async function loginCode(): Promise<{ login_code: string; code_verifier: string }> {
  const code_verifier = randomBytes(32).toString('base64url');
  const challenge = createHash('sha256').update(code_verifier).digest('base64url');
  const browser = createBrowser();
  const query = `?redirect_url=/console/&code_challenge=${challenge}`;
  const callback = await logIn(kiln.url, browser, { query });
  const { headers } = await browser.open(callback.href);
  const location = new URL(headers.get('location') ?? '');
  expect(location.pathname).toBe('/console/');
  return { login_code: location.searchParams.get('login_code') ?? '', code_verifier };
}

/** Signs in; answers the access token, and the Cookie header of the browser. */
async function session() {
  const { body, headers } = await post('/auth/browser/token', await loginCode(), own);
  return { token: String(body.data.access_token), cookie: cookieIn(headers) };
}

function cookieIn(headers: Headers): string {
  return (headers.getSetCookie()[0] ?? '').split(';')[0] ?? '';
}

describe('a session of a browser', () => {
  it('keeps the refresh token from scripts and other sites', async () => {
    const { status, body, headers } = await post('/auth/browser/token', await loginCode(), own);
    expect(status).toBe(200);
    expect(Object.keys(body.data).sort()).toEqual([
      'access_token',
      'expires_in',
      'scope',
      'token_type',
      'user',
    ]);
    expect(headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^kiln-refresh=ses_\S+; Path=\/auth\/browser; Max-Age=2592000; HttpOnly; SameSite=Strict$/,
      ),
    ]);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('is renewed by its cookie, by several tabs at once to the same successor', async () => {
    const { cookie } = await session();
    const replies = await Promise.all(
      [1, 2, 3].map(() => post('/auth/browser/refresh', undefined, { ...own, cookie })),
    );
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(replies.map(({ headers }) => cookieIn(headers))).size).toBe(1);
    const authorization = `Bearer ${replies[0]?.body.data.access_token}`;
    const { data } = await graphql(
      kiln.url,
      '{ caller { kind mayStart mayIssueKeys } }',
      {},
      { authorization },
    );
    expect(data.caller).toEqual({ kind: 'USER', mayStart: true, mayIssueKeys: false });
  });

  it('ends with the sign-out, which takes the cookie back', async () => {
    const { cookie, token } = await session();
    const { status, headers } = await post('/auth/browser/revoke', undefined, { ...own, cookie });
    expect([status, headers.getSetCookie()[0]]).toEqual([
      200,
      expect.stringMatching(/^kiln-refresh=; .*Max-Age=0;/),
    ]);
    expect((await post('/auth/browser/refresh', undefined, { ...own, cookie })).status).toBe(401);
    const { errors } = await graphql(kiln.url, '{ caller { id } }', {}, { authorization: `Bearer ${token}` });
    expect(errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
  });

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another port of this host', { 'sec-fetch-site': 'same-site' }],
    ['another origin, in a browser that tells nothing else', { origin: 'https://example.org' }],
    ['a sandboxed frame', { origin: 'null' }],
  ])('is refused to a page of %s', async (_, headers) => {
    const { cookie } = await session();
    for (const path of ['/auth/browser/refresh', '/auth/browser/revoke']) {
      expect((await post(path, undefined, { ...headers, cookie })).status).toBe(403);
    }
    expect((await post('/auth/browser/token', await loginCode(), headers)).status).toBe(403);
    expect((await post('/auth/browser/refresh', undefined, { ...own, cookie })).status).toBe(200);
  });

  it('is none without the cookie', async () => {
    for (const path of ['/auth/browser/refresh', '/auth/browser/revoke']) {
      expect((await post(path, undefined, own)).status).toBe(401);
    }
  });
});

describe('who is asking', () => {
  it('is told what they may do', async () => {
    const query = '{ caller { id kind mayStart mayRunUnpaid mayAdministrate mayIssueKeys } }';
    expect((await graphql(kiln.url, query)).data.caller).toEqual({
      id: 'anon',
      kind: 'ANONYMOUS',
      mayStart: true,
      mayRunUnpaid: true,
      mayAdministrate: true,
      mayIssueKeys: false,
    });
  });
});
