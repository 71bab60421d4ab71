import { createHash, createPublicKey, randomBytes } from 'node:crypto';

import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createBrowser, type TestBrowser } from '../../kit/clients/browser.ts';
import { rest } from '../../kit/clients/requests.ts';
import {
  appCode as appCodeAt,
  logIn as logInAt,
  providerTokens as providerTokensAt,
  signedIn as signedInAt,
} from '../../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** Signing in over REST at a live server, with the sandbox's identity provider behind its login page. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln?.close());

const logIn = (browser: TestBrowser, options: { query?: string; subject?: string } = {}) =>
  logInAt(kiln.url, browser, options);
const signedIn = (subject?: string, browser?: TestBrowser) => signedInAt(kiln.url, subject, browser);

const post = (path: string, body: object) => rest(kiln.url, 'POST', path, body);
const userinfo = (token: string) =>
  rest(kiln.url, 'GET', '/auth/idp/userinfo', undefined, { authorization: `Bearer ${token}` });

const envelope = {
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
};
const refused = (code: number, more: object = {}) => ({
  success: false,
  code,
  message: expect.any(String),
  ...envelope,
  ...more,
});

/** The answer with this status, whole. */
const refusal = (code: number) =>
  expect.objectContaining({
    status: code,
    body: refused(code, code === 400 ? { data: expect.any(Object) } : {}),
  });

describe('with a browser', () => {
  it('goes to the identity provider with a cookie that binds this browser', async () => {
    const answer = await createBrowser().open(`${kiln.url}/auth/idp/authorize?scopes=openid,%20email`);
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.href.startsWith(`${kiln.sandboxUrl}/identity/`)).toBe(true);
    expect(Object.fromEntries(location.searchParams)).toMatchObject({
      redirect_uri: `${kiln.url}/auth/idp/callback`,
      code_challenge_method: 'S256',
      scope: expect.stringMatching(/^openid email\b/),
    });
    const [cookie = ''] = answer.headers.getSetCookie();
    expect(cookie).toMatch(/^kiln-sign-in-[\w-]+=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    expect(cookie).not.toContain(location.searchParams.get('state'));
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
  });

  it('comes back with user and tokens, and takes the cookie back', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser);
    expect(browser.cookies(kiln.url).size).toBe(1);
    const answer = await browser.open(callback.href);
    expect(browser.cookies(kiln.url).size).toBe(0);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await answer.json()).toEqual({
      success: true,
      code: 200,
      message: 'signed in',
      data: {
        user: {
          id: expect.stringMatching(/^usr_/),
          email: 'ada@sandbox.example',
          name: 'Ada',
          picture: null,
          sub: 'sandbox-ada',
        },
        access_token: expect.stringMatching(/^ey/),
        refresh_token: expect.any(String),
        token_type: 'Bearer',
        expires_in: 900,
        scope: expect.stringContaining('openid'),
      },
      ...envelope,
    });
  });

  it('goes on to the app with a login code, good once', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser, { query: '?redirect_url=/explorer%3Fa%3D1' });
    const answer = await browser.open(callback.href);
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.href.startsWith(`${kiln.url}/explorer?a=1&login_code=`)).toBe(true);
    // No token in the address: a JWT begins so, and has points.
    expect(location.href).not.toMatch(/eyJ[\w-]*\./);
    const login_code = location.searchParams.get('login_code') ?? '';
    const { status, body } = await post('/auth/idp/token', { login_code });
    expect([status, body.data.user.sub]).toEqual([200, 'sandbox-ada']);
    expect(await post('/auth/idp/token', { login_code })).toEqual(refusal(401));
  });

  it('tells a client that asks for JSON where to go instead of sending it there', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser, { query: '?redirect_url=/explorer' });
    const answer = await browser.open(callback.href, { headers: { accept: 'application/json' } });
    expect([answer.status, answer.headers.get('location')]).toEqual([200, null]);
    const { data } = (await answer.json()) as { data: { location: string } };
    expect(data.location.startsWith(`${kiln.url}/explorer?login_code=`)).toBe(true);
  });

  it('with a challenge gives the tokens only to who knows its verifier', async () => {
    const code_verifier = randomBytes(32).toString('base64url');
    const challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const query = `?redirect_url=/explorer&code_challenge=${challenge}`;
    const fetchCode = async () => {
      const browser = createBrowser();
      const answer = await browser.open((await logIn(browser, { query })).href);
      return new URL(answer.headers.get('location') ?? '').searchParams.get('login_code');
    };
    const burnt = await fetchCode();
    expect(await post('/auth/idp/token', { login_code: burnt, code_verifier: 'x'.repeat(43) })).toEqual(
      refusal(401),
    );
    expect(await post('/auth/idp/token', { login_code: burnt, code_verifier })).toEqual(refusal(401));
    expect((await post('/auth/idp/token', { login_code: await fetchCode(), code_verifier })).status).toBe(
      200,
    );
    expect(
      await rest(kiln.url, 'GET', '/auth/idp/authorize?redirect_url=/explorer&code_challenge=plain'),
    ).toEqual(refusal(400));
  });

  it('says so when the login is refused', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser, { subject: '' });
    expect(callback.searchParams.get('error')).toBe('access_denied');
    const answer = await browser.open(callback.href);
    expect({ status: answer.status, body: await answer.json() }).toEqual(refusal(401));
    // A provider that forgets the state refuses all the same.
    expect(await rest(kiln.url, 'GET', '/auth/idp/callback?error=access_denied')).toEqual(refusal(401));
  });

  it('lets several tabs sign in at the same time', async () => {
    const browser = createBrowser();
    const one = await logIn(browser);
    const other = await logIn(browser);
    for (const callback of [one, other]) expect((await browser.open(callback.href)).status).toBe(200);
  });
});

describe('the callback', () => {
  const open = async (browser: TestBrowser, url: URL) => {
    const answer = await browser.open(url.href);
    return { status: answer.status, body: await answer.json() };
  };

  it('names everything that is missing', async () => {
    const { status, body } = await rest(kiln.url, 'GET', '/auth/idp/callback');
    expect(status).toBe(400);
    expect(body.data.issues.map(({ field }: { field: string }) => field)).toEqual(['code', 'state']);
  });

  it('refuses a foreign browser', async () => {
    expect(await open(createBrowser(), await logIn(createBrowser()))).toEqual(refusal(400));
  });

  it('refuses a state that was used before, with its cookie and without', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser);
    const cookies = [...browser.cookies(kiln.url)];
    expect((await open(browser, callback)).status).toBe(200);
    expect(await open(browser, callback)).toEqual(refusal(400));
    for (const [name, value] of cookies) browser.cookies(kiln.url).set(name, value);
    expect(await open(browser, callback)).toEqual(refusal(401));
  });

  it.each([
    ['changed', (value: string) => `${value.slice(0, -6)}AAAAAA`],
    ['cut', (value: string) => value.slice(0, 40)],
    ['empty', () => ''],
    [
      'made up',
      () => Buffer.from(JSON.stringify({ state: 'x', nonce: 'x', verifier: 'x' })).toString('base64url'),
    ],
  ])('refuses a cookie that was %s', async (_, change) => {
    const browser = createBrowser();
    const callback = await logIn(browser);
    const jar = browser.cookies(kiln.url);
    for (const [name, value] of jar) jar.set(name, change(value));
    expect(await open(browser, callback)).toEqual(refusal(400));
  });

  it('refuses the code of another sign-in', async () => {
    const mine = createBrowser();
    const callback = await logIn(mine);
    const theirs = await logIn(createBrowser(), { subject: 'sandbox-ben' });
    callback.searchParams.set('code', theirs.searchParams.get('code') ?? '');
    expect(await open(mine, callback)).toEqual(refusal(401));
  });

  it('refuses an answer of another issuer', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser);
    callback.searchParams.set('iss', 'https://elsewhere.example');
    expect(await open(browser, callback)).toEqual(refusal(401));
  });
});

describe('a redirect', () => {
  const own = () => new URL(kiln.url).host;
  it.each([
    'https://evil.example/',
    '//evil.example/',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    'https:evil.example',
    'http:\\\\evil.example',
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://evil.example/x',
    ' https://evil.example',
    '/\thttps://evil.example',
    '/\n/evil.example',
    '/%0d%0aSet-Cookie: a=b\r\n',
    'evil.example',
    '',
    'http://[::1',
    'https://{own}/',
    'http://{own}@evil.example/',
    'http://evil@{own}/',
    'http://evil:secret@{own}/',
    'http://{own}.evil.example/',
    'http://evil.example#{own}',
    'http://evil.example?{own}',
    'http://127.0.0.1:1/',
    'com.example.app:/back',
    'ftp://{own}/',
    'http://\u202e{own}/',
    `/${'a'.repeat(5_000)}`,
    '/x/..//evil.example',
    '/.//evil.example/%2e%2e',
  ])('to %j is refused', async (target) => {
    const query = new URLSearchParams({ redirect_url: target.replaceAll('{own}', own()) });
    const { status, headers, body } = await rest(kiln.url, 'GET', `/auth/idp/authorize?${query.toString()}`);
    expect([status, headers.get('location'), headers.getSetCookie()]).toEqual([400, null, []]);
    expect(body).toEqual(
      refused(400, { data: { issues: [{ field: 'redirect_url', message: expect.any(String) }] } }),
    );
  });

  it('to our own /%2f/evil.example stays with us', async () => {
    const browser = createBrowser();
    const query = `?${new URLSearchParams({ redirect_url: '/%2f/evil.example' }).toString()}`;
    const answer = await browser.open((await logIn(browser, { query })).href);
    expect(new URL(answer.headers.get('location') ?? '', 'https://nowhere.example').origin).toBe(kiln.url);
  });

  it('that would not fit the cookie is refused instead of lost', async () => {
    const query = new URLSearchParams({
      redirect_url: `/${'a'.repeat(1_900)}`,
      scopes: Array.from({ length: 20 }, (_, index) => `${'s'.repeat(60)}${index}`).join(','),
    });
    expect(await rest(kiln.url, 'GET', `/auth/idp/authorize?${query.toString()}`)).toEqual(refusal(400));
  });
});

describe('inputs', () => {
  it.each([
    ['authorize', '/auth/idp/authorize?redirect_url=/a&redirect_url=/b', 'redirect_url'],
    ['authorize', '/auth/idp/authorize?scopes=openid&scopes=email', 'scopes'],
    ['callback', '/auth/idp/callback?code=a&state=b&state=c', 'state'],
    ['callback', '/auth/idp/callback?code=a&code=b&state=c', 'code'],
    ['userinfo', '/auth/idp/userinfo?access_token=a&access_token=b', 'access_token'],
  ])('of %s given twice are refused', async (_, path, field) => {
    const { status, body } = await rest(kiln.url, 'GET', path);
    expect([status, body.data.issues]).toEqual([
      400,
      [{ in: 'query', field, message: 'Input should be given once' }],
    ]);
  });

  it.each([
    ['nothing', '/auth/idp/refresh', '', [null]],
    ['broken JSON', '/auth/idp/refresh', '{"refresh_token":', [null]],
    ['a list', '/auth/idp/refresh', '[1]', [null]],
    ['no field', '/auth/idp/refresh', '{}', ['refresh_token']],
    ['null', '/auth/idp/refresh', '{"refresh_token":null}', ['refresh_token']],
    ['a list for a text', '/auth/idp/refresh', '{"refresh_token":["a"]}', ['refresh_token']],
    ['two wrong fields', '/auth/idp/revoke', '{"token":{},"user_id":7}', ['token', 'user_id']],
  ])('that are %s are told by name', async (_, path, json, fields) => {
    const { status, body } = await rest(kiln.url, 'POST', path, json);
    expect(status).toBe(400);
    expect(body.data.issues.map(({ field }: { field: string }) => field)).toEqual(fields);
    expect(body).toEqual(refused(400, { data: expect.any(Object) }));
  });

  it('that nobody knows are ignored, and null is nothing', async () => {
    const { refresh_token } = await signedIn();
    const { status } = await post('/auth/idp/refresh', { refresh_token, user_id: null, more: [1] });
    expect(status).toBe(200);
  });

  it('of a token exchange are exactly one proof', async () => {
    expect(await post('/auth/idp/token', {})).toEqual(refusal(400));
    expect(await post('/auth/idp/token', { login_code: 'a', id_token: 'b' })).toEqual(refusal(400));
    const { body } = await post('/auth/idp/token', { code: 'a', code_verifier: 'b' });
    expect(body.data.issues[0].field).toBe('redirect_uri');
    expect(await post('/auth/nowhere/token', { app_id: 'a', code: 'b' })).toEqual(refusal(400));
  });
});

describe('tokens', () => {
  it('tell who bears them, in the header and in the query', async () => {
    const { user, access_token } = await signedIn();
    const inHeader = await userinfo(access_token);
    const inQuery = await rest(kiln.url, 'GET', `/auth/idp/userinfo?access_token=${access_token}`);
    for (const { status, body } of [inHeader, inQuery]) {
      expect([status, body]).toEqual([
        200,
        { success: true, code: 200, message: 'success', data: user, ...envelope },
      ]);
    }
    // Nowhere else.
    const elsewhere = await rest(
      kiln.url,
      'GET',
      `/auth/idp/logout?access_token=${access_token}`,
      undefined,
      {
        accept: 'application/json',
      },
    );
    expect(elsewhere.status).toBe(200);
    expect((await userinfo(access_token)).status).toBe(200);
  });

  it('are renewed; a used one closes the session', async () => {
    const first = await signedIn();
    const second = await post('/auth/idp/refresh', { refresh_token: first.refresh_token });
    expect([second.status, second.body]).toEqual([
      200,
      expect.objectContaining({
        success: true,
        data: expect.objectContaining({ expires_in: 900, scope: first.scope }),
      }),
    ]);
    const { refresh_token } = second.body.data;
    expect((await post('/auth/idp/refresh', { refresh_token, user_id: 'sandbox-ada' })).status).toBe(200);
    expect(await post('/auth/idp/refresh', { refresh_token, user_id: 'sandbox-ben' })).toEqual(refusal(401));
    expect(await post('/auth/idp/refresh', { refresh_token: first.refresh_token })).toEqual(refusal(401));
    expect(await post('/auth/idp/refresh', { refresh_token })).toEqual(refusal(401));
  });

  it('are renewed twenty times at once with one successor', async () => {
    const { refresh_token } = await signedIn();
    const all = await Promise.all(
      Array.from({ length: 20 }, () => post('/auth/idp/refresh', { refresh_token })),
    );
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(new Set(all.map(({ body }) => body.data.refresh_token)).size).toBe(1);
  });

  it('are revoked by either kind, without data, and unknown ones are fine', async () => {
    const { access_token, refresh_token } = await signedIn();
    const answer = await post('/auth/idp/revoke', { token: refresh_token });
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, code: 200, message: 'the session is closed', ...envelope },
    ]);
    expect((await userinfo(access_token)).status).toBe(401);
    expect(await post('/auth/idp/refresh', { refresh_token })).toEqual(refusal(401));
    expect((await post('/auth/idp/revoke', { token: 'nothing of ours' })).status).toBe(200);
  });

  it('are not revoked in the name of somebody else, which is told', async () => {
    const { access_token } = await signedIn();
    const revoke = (user_id: string) => post('/auth/idp/revoke', { token: access_token, user_id });
    const refused = await revoke('sandbox-ben');
    expect(refused).toEqual(refusal(400));
    expect(refused.body.data.issues).toEqual([{ field: 'user_id', message: expect.any(String) as string }]);
    expect((await userinfo(access_token)).status).toBe(200);
    expect((await revoke('sandbox-ada')).status).toBe(200);
    expect((await userinfo(access_token)).status).toBe(401);
  });

  it('take an empty user_id for none', async () => {
    const { refresh_token } = await signedIn();
    const renewed = await post('/auth/idp/refresh', { refresh_token, user_id: '' });
    expect(renewed.status).toBe(200);
    const { access_token: token } = renewed.body.data;
    expect((await post('/auth/idp/revoke', { token, user_id: '' })).status).toBe(200);
    expect((await userinfo(token)).status).toBe(401);
  });

  it('are closed on the way to the provider’s own page for signing out', async () => {
    const browser = createBrowser();
    const { access_token, refresh_token } = await signedIn('sandbox-ada', browser);
    const answer = await fetch(`${kiln.url}/auth/idp/logout`, {
      redirect: 'manual',
      headers: { authorization: `Bearer ${access_token}` },
    });
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.origin).toBe(kiln.sandboxUrl);
    expect(location.searchParams.get('post_logout_redirect_uri')).toBe(`${kiln.url}/`);
    expect(await post('/auth/idp/refresh', { refresh_token })).toEqual(refusal(401));
    const page = await browser.follow(location.href);
    expect([page.response?.status, await page.response?.text()]).toEqual([
      200,
      expect.stringContaining('Sign out'),
    ]);
  });

  it('are signed by published keys', async () => {
    const { status, headers, body } = await rest(kiln.url, 'GET', '/.well-known/jwks.json');
    expect([status, headers.get('cache-control')]).toEqual([200, 'public, max-age=300']);
    expect(Object.keys(body)).toEqual(['keys']);
    const { access_token } = await signedIn();
    const { kid } = JSON.parse(Buffer.from(access_token.split('.')[0] ?? '', 'base64url').toString()) as JWK;
    expect(body.keys).toContainEqual(expect.objectContaining({ kid, kty: 'OKP', crv: 'Ed25519' }));
    for (const key of body.keys) expect(key).not.toHaveProperty('d');
  });

  it('that are none of ours open nothing', async () => {
    const { access_token, user } = await signedIn();
    const { body } = await rest(kiln.url, 'GET', '/.well-known/jwks.json');
    const [head, payload, signature] = access_token.split('.') as [string, string, string];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const kid = body.keys[0].kid as string;
    const pem = createPublicKey({ key: body.keys[0], format: 'jwk' }).export({ type: 'spki', format: 'pem' });
    const other = await generateKeyPair('EdDSA');
    const sign = (change: object, header: object = {}) =>
      new SignJWT({ ...claims, ...change })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid, ...header })
        .sign(other.privateKey);
    const hmac = (secret: Uint8Array) =>
      new SignJWT(claims).setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid }).sign(secret);
    const tokens = {
      'without a signature': `${part({ alg: 'none', typ: 'at+jwt', kid })}.${payload}.`,
      'without a signature, of no type': new UnsecuredJWT(claims).encode(),
      'HS256 with the public key': await hmac(Buffer.from(pem)),
      'HS256 with the published key': await hmac(Buffer.from(JSON.stringify(body.keys[0]))),
      'of another key': await sign({}),
      'of a key that it brings along': await sign({}, { jwk: await exportJWK(other.publicKey) }),
      'of another audience': await sign({ aud: 'another-app' }),
      expired: await sign({ exp: Math.floor(Date.now() / 1000) - 3_600 }),
      'with another subject': `${head}.${part({ ...claims, sub: `${user.id}x` })}.${signature}`,
      'an ID token': await sign({}, { typ: 'JWT' }),
      opaque: randomBytes(32).toString('base64url'),
      'a word': 'admin',
    };
    for (const [what, token] of Object.entries(tokens)) {
      for (const answer of [
        await userinfo(token),
        await rest(kiln.url, 'GET', `/auth/idp/userinfo?access_token=${token}`),
      ]) {
        expect([what, answer.status, answer.headers.get('www-authenticate')]).toEqual([what, 401, 'Bearer']);
        expect(answer).toEqual(refusal(401));
      }
    }
    expect(await rest(kiln.url, 'GET', '/auth/idp/userinfo')).toEqual(refusal(401));
  });

  it('of the identity provider itself are not ours', async () => {
    const { access_token, id_token } = await providerTokens();
    for (const token of [access_token, id_token]) expect(await userinfo(token)).toEqual(refusal(401));
  });
});

const appCode = () => appCodeAt(kiln.url, kiln.sandboxUrl);
const providerTokens = () => providerTokensAt(kiln.url, kiln.sandboxUrl);

describe('a native app', () => {
  it('signs in with a code that it got itself, once', async () => {
    const { proof } = await appCode();
    expect(await post('/auth/idp/token', { ...(await appCode()).proof, code_verifier: 'x' })).toEqual(
      refusal(401),
    );
    const { status, body } = await post('/auth/idp/token', proof);
    expect([status, body.data.user.sub]).toEqual([200, 'sandbox-ben']);
    expect(await post('/auth/idp/token', proof)).toEqual(refusal(401));
  });

  it('signs in with an ID token that was made for us, and with no other', async () => {
    const { id_token } = await providerTokens();
    const { status, body } = await post('/auth/idp/token', { id_token });
    expect([status, body.data.user.sub]).toEqual([200, 'sandbox-ben']);
    expect(await post('/auth/idp/token', { id_token, nonce: 'of somebody else' })).toEqual(refusal(401));
    const [, payload = ''] = id_token.split('.');
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
    const { privateKey } = await generateKeyPair('RS256');
    const forged = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256' }).sign(privateKey);
    for (const token of [forged, new UnsecuredJWT(claims).encode(), `${id_token}x`, 'x']) {
      expect(await post('/auth/idp/token', { id_token: token })).toEqual(refusal(401));
    }
  });
});

describe('the workflow service’s envelope', () => {
  it('is that of unknown paths and wrong methods below its folders, and not of others', async () => {
    expect(await rest(kiln.url, 'GET', '/auth/nothing/here')).toEqual(refusal(404));
    const wrong = await rest(kiln.url, 'DELETE', '/auth/idp/refresh');
    expect(wrong).toEqual(refusal(405));
    expect(wrong.headers.get('allow')).toBe('POST');
    expect((await rest(kiln.url, 'GET', '/api/nothing')).body).toMatchObject({ status: false, data: null });
    const large = await rest(kiln.url, 'POST', '/auth/idp/refresh', {
      refresh_token: 'a'.repeat(1_100_000),
    });
    expect(large).toEqual(refusal(413));
  });

  it('is that of a limit that is reached', async () => {
    const limited = await startKiln({ settings: { RATE_LIMIT: 'sign-in=1' } });
    try {
      const refresh = () => rest(limited.url, 'POST', '/auth/idp/refresh', { refresh_token: 'x' });
      const first = await refresh();
      expect([first.status, first.headers.get('x-ratelimit-remaining')]).toEqual([401, '0']);
      const second = await refresh();
      expect(second).toEqual(refusal(429));
      expect(Number(second.headers.get('retry-after'))).toBeGreaterThan(0);
    } finally {
      await limited.close();
    }
  });

  it('is described', async () => {
    const { body } = await rest(kiln.url, 'GET', '/openapi-workflow.json');
    expect(body.paths['/auth/idp/authorize'].get.responses).toHaveProperty('302');
    expect(body.servers).toEqual([{ url: kiln.url }]);
    const page = await fetch(`${kiln.url}/docs/workflow`);
    expect(await page.text()).toContain('/auth/idp/callback');
  });
});

describe('behind https and a path prefix', () => {
  it('binds the cookie to the host, and keeps the envelope', async () => {
    const proxied = await startKiln({ settings: { PUBLIC_URL: 'https://kiln.example.org/kiln' } });
    try {
      const { url } = proxied;
      const answer = await createBrowser().open(`${url}/kiln/auth/idp/authorize`);
      expect(answer.headers.get('location')).toContain(
        encodeURIComponent('https://kiln.example.org/kiln/auth/idp/callback'),
      );
      expect(answer.headers.getSetCookie()).toEqual([
        expect.stringMatching(
          /^__Host-kiln-sign-in-[\w-]+=\S+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
        ),
      ]);
      expect(await rest(url, 'GET', '/kiln/auth/nothing/here')).toEqual(refusal(404));
      const forged = `${Buffer.from('{"alg":"EdDSA","typ":"at+jwt"}').toString('base64url')}.e30.x`;
      expect(await rest(url, 'GET', `/kiln/auth/idp/userinfo?access_token=${forged}`)).toEqual(refusal(401));
    } finally {
      await proxied.close();
    }
  });
});

describe('an identity provider that is away', () => {
  it('is a 503 with Retry-After, and tokens of before go on', async () => {
    const alone = await startKiln({ settings: { SANDBOX_URL: 'http://127.0.0.1:1' } });
    try {
      const answer = await rest(alone.url, 'GET', '/auth/idp/authorize');
      expect(answer).toEqual(refusal(503));
      expect(answer.headers.get('retry-after')).toBe('5');
      expect((await rest(alone.url, 'GET', '/.well-known/jwks.json')).status).toBe(200);
    } finally {
      await alone.close();
    }
  });
});
