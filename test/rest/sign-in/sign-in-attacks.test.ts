import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createBrowser } from '../../kit/clients/browser.ts';
import { graphql, rest, until } from '../../kit/clients/requests.ts';
import {
  readClaims,
  genuineSigner,
  logIn,
  providerTokens,
  signedIn,
  type GenuineSigner,
  type SignInData,
} from '../../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/**
 * What somebody tries who has a key, a token, a code or a link that is not theirs to use, at the public face. Foreign
 * browsers, states, cookies, codes and redirects are in sign-in.test.ts; other processes in topology/credentials.test.ts.
 */

let kiln: KilnUnderTest;
let ada: SignInData;
let sign: GenuineSigner;
beforeAll(async () => {
  kiln = await startKiln({ settings: { REST_AUTH: 'compat' } });
  ada = await signedIn(kiln.url);
  sign = await genuineSigner(kiln.runtime.config);
});
afterAll(() => kiln?.close());

const userinfo = (token: string) =>
  rest(kiln.url, 'GET', '/auth/idp/userinfo', undefined, { authorization: `Bearer ${token}` });
const viewer = (token: string) =>
  graphql(kiln.url, '{ viewer { id } sessions { id } }', {}, { authorization: `Bearer ${token}` });
const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  rest(kiln.url, 'POST', path, body, headers);
const now = () => Math.floor(Date.now() / 1_000);

describe('a token that our own key has signed', () => {
  it('is good when it says what ours say: the key is the real one', async () => {
    const token = await sign(ada.access_token, { iat: now(), exp: now() + 60 });
    expect(token).not.toBe(ada.access_token);
    expect((await userinfo(token)).body.data).toEqual(ada.user);
    expect((await viewer(token)).data.viewer.id).toBe(ada.user.id);
  });

  it.each([
    ['has expired', () => ({ iat: now() - 1_000, exp: now() - 100 })],
    ['never expires', () => ({ exp: undefined })],
    ['is of another audience', () => ({ aud: 'workflow-api' })],
    ['is of another audience beside none of ours', () => ({ aud: ['another-app', 'kiln.example'] })],
    ['is of no audience', () => ({ aud: undefined })],
    ['is of another issuer', () => ({ iss: 'https://elsewhere.example' })],
    ['is of our issuer with a path', () => ({ iss: `${kiln.url}/` })],
    ['is of a session that is none', () => ({ sid: 'ses_0123456789' })],
    ['is of no session', () => ({ sid: undefined })],
    ['is of no user', () => ({ sub: undefined })],
    ['is of a service key', () => ({ sub: 'key_development' })],
    ['is not good yet', () => ({ nbf: now() + 3_600 })],
  ])('is refused everywhere when it %s', async (_, change) => {
    expect(await answersTo(await sign(ada.access_token, change()))).toEqual(REFUSED);
  });

  it('is refused everywhere when it is of another type', async () => {
    for (const typ of ['JWT', 'id+jwt', 'logout+jwt']) {
      const token = await sign(ada.access_token, { iat: now() }, { typ });
      const refused = await userinfo(token);
      expect([typ, refused.status]).toEqual([typ, 401]);
      expect((await viewer(token)).errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
    }
  });

  it('gives nobody a scope by claiming one', async () => {
    const token = await sign(ada.access_token, { scope: 'openid admin', scopes: ['admin'], iat: now() });
    const keys = await graphql(kiln.url, '{ serviceKeys { id } }', {}, { authorization: `Bearer ${token}` });
    expect(keys.errors?.[0]?.extensions['code']).toBe('FORBIDDEN');
    expect((await viewer(token)).data.viewer.id).toBe(ada.user.id);
  });
});

describe('a token that another key has signed', () => {
  it.each(['our key’s name', 'its own name', 'a path for a name', 'no name'])(
    'is refused everywhere, with %s',
    async (name) => {
      const other = await generateKeyPair('EdDSA', { extractable: true });
      const { keys } = (await rest(kiln.url, 'GET', '/.well-known/jwks.json')).body;
      const kid = {
        'our key’s name': keys[0].kid,
        'its own name': 'other',
        'a path for a name': '../../dev/null',
        'no name': undefined,
      }[name];
      const jwk = await exportJWK(other.publicKey);
      const token = await new SignJWT(readClaims(ada.access_token))
        .setProtectedHeader({
          alg: 'EdDSA',
          typ: 'at+jwt',
          kid,
          jwk,
          jku: `${kiln.url}/keys`,
          x5u: 'https://elsewhere.example/',
        })
        .sign(other.privateKey);
      expect(await answersTo(token)).toEqual(REFUSED);
    },
  );
});

describe('what was given to another app', () => {
  let other: KilnUnderTest;
  beforeAll(async () => {
    // Another app at the same identity provider.
    const IDP_ISSUER = `${kiln.sandboxUrl}/identity`;
    const settings = { IDP_ISSUER, IDP_CLIENT_ID: 'another-app', REST_AUTH: 'compat' };
    other = await startKiln({ settings });
  });
  afterAll(() => other?.close());

  it('is of no use here: its access token, its ID token, and the tokens of another Kiln', async () => {
    const { access_token, id_token } = await providerTokens(kiln.url, kiln.sandboxUrl);
    const at = (url: string, token: string) =>
      rest(url, 'GET', '/auth/idp/userinfo', undefined, { authorization: `Bearer ${token}` });
    for (const token of [access_token, id_token, ada.access_token, ada.refresh_token]) {
      expect((await at(other.url, token)).status).toBe(401);
    }
    const { status } = await rest(other.url, 'POST', '/auth/idp/token', { id_token });
    expect(status).toBe(401);
    const { refresh_token } = ada;
    expect((await rest(other.url, 'POST', '/auth/idp/refresh', { refresh_token })).status).toBe(401);
    // For whom it was made it is good.
    expect((await post('/auth/idp/token', { id_token })).status).toBe(200);
    expect((await at(kiln.url, ada.access_token)).status).toBe(200);
  });
});

describe('a refresh token', () => {
  it('that is used again closes the session: its bearer, the thief, and every token they have', async () => {
    const mine = await signedIn(kiln.url);
    const stolen = mine.refresh_token;
    const renewed = (await post('/auth/idp/refresh', { refresh_token: stolen })).body.data as SignInData;
    const again = (await post('/auth/idp/refresh', { refresh_token: renewed.refresh_token })).body
      .data as SignInData;
    expect((await userinfo(again.access_token)).status).toBe(200);
    expect((await post('/auth/idp/refresh', { refresh_token: stolen })).status).toBe(401);
    for (const { access_token, refresh_token } of [mine, renewed, again]) {
      await until(
        () => userinfo(access_token),
        ({ status }) => status === 401,
        5_000,
      );
      expect((await post('/auth/idp/refresh', { refresh_token })).status).toBe(401);
    }
    // Nobody else's.
    expect((await userinfo(ada.access_token)).status).toBe(200);
  });

  it('is no access token, and the other way round', async () => {
    const { access_token, refresh_token } = ada;
    expect((await userinfo(refresh_token)).status).toBe(401);
    expect((await post('/auth/idp/refresh', { refresh_token: access_token })).status).toBe(401);
    expect((await userinfo(access_token)).status).toBe(200);
  });

  it('of another session, generation or mac is refused and closes nothing', async () => {
    const mine = await signedIn(kiln.url, 'sandbox-ben');
    const [session = '', generation = '', mac = ''] = mine.refresh_token.split('.');
    const [other = ''] = ada.refresh_token.split('.');
    const forged = [
      `${other}.${generation}.${mac}`,
      `${session}.${Number(generation) + 1}.${mac}`,
      `${session}.0.${mac}`,
      `${session}.${generation}.${'A'.repeat(43)}`,
      `${session}.${generation}.`,
      `${session}.${generation}.${mac}.${mac}`,
      `${mine.refresh_token}A`,
    ];
    for (const refresh_token of forged) {
      const { status } = await post('/auth/idp/refresh', { refresh_token });
      expect([refresh_token, status]).toEqual([refresh_token, 401]);
    }
    for (const { refresh_token } of [mine, ada]) {
      const { status, body } = await post('/auth/idp/refresh', { refresh_token });
      expect(status).toBe(200);
      expect(body.data.refresh_token).not.toBe(refresh_token);
    }
  });
});

describe('a credential that has ended', () => {
  it('does not keep anybody from renewing, revoking and coming back, whose proof is elsewhere', async () => {
    const mine = await signedIn(kiln.url);
    const ended = await sign(mine.access_token, { iat: now() - 1_000, exp: now() - 100 });
    const authorization = `Bearer ${ended}`;
    const renewed = await post('/auth/idp/refresh', { refresh_token: mine.refresh_token }, { authorization });
    expect(renewed.status).toBe(200);
    const browser = createBrowser();
    const callback = await logIn(kiln.url, browser);
    expect((await browser.open(callback.href, { headers: { authorization } })).status).toBe(200);
    const token = renewed.body.data.refresh_token as string;
    expect((await post('/auth/idp/revoke', { token }, { authorization })).status).toBe(200);
    await until(
      () => userinfo(mine.access_token),
      ({ status }) => status === 401,
      5_000,
    );
  });

  it('is refused where it would have a meaning, and everywhere else', async () => {
    const ended = await sign(ada.access_token, { iat: now() - 1_000, exp: now() - 100 });
    const authorization = `Bearer ${ended}`;
    for (const [method, path] of [
      ['POST', '/auth/idp/token'],
      ['POST', '/auth/wechat/token'],
      ['GET', '/auth/idp/logout'],
      ['GET', '/auth/idp/userinfo'],
      ['GET', '/api/task/health'],
      ['GET', '/api/nothing'],
    ] as const) {
      const body = method === 'POST' ? { code: 'ada-1' } : undefined;
      const { status, headers } = await rest(kiln.url, method, path, body, { authorization });
      expect([path, status, headers.get('www-authenticate')]).toEqual([path, 401, 'Bearer']);
    }
  });
});

describe('who only looks (HEAD)', () => {
  it('uses up nobody’s sign-in', async () => {
    const browser = createBrowser();
    const callback = await logIn(kiln.url, browser);
    const cookie = [...browser.cookies(kiln.url)].map(([name, value]) => `${name}=${value}`).join('; ');
    for (const path of [
      '/auth/idp/authorize',
      '/auth/idp/logout',
      `${callback.pathname}${callback.search}`,
    ]) {
      const answer = await fetch(`${kiln.url}${path}`, { method: 'HEAD', headers: { cookie } });
      expect([path, answer.status, answer.headers.get('allow'), answer.headers.getSetCookie()]).toEqual([
        path,
        405,
        'GET',
        [],
      ]);
    }
    expect((await browser.open(callback.href)).status).toBe(200);
  });
});

describe('many at once', () => {
  it('twelve first sign-ins of one person make one user', async () => {
    const ready = await Promise.all(
      Array.from({ length: 12 }, async () => {
        const browser = createBrowser();
        return { browser, callback: await logIn(kiln.url, browser, { subject: 'sandbox-admin' }) };
      }),
    );
    const all = await Promise.all(
      ready.map(async ({ browser, callback }) => {
        const answer = await browser.open(callback.href);
        return { status: answer.status, ...((await answer.json()) as { data: SignInData }) };
      }),
    );
    expect(all.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(new Set(all.map(({ data }) => data.user.id)).size).toBe(1);
    expect(new Set(all.map(({ data }) => data.refresh_token.split('.')[0])).size).toBe(12);
  });

  it('twelve first sign-ins of one person in a mini-program make one user', async () => {
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => post('/auth/wechat/token', { code: `ben-first-${index}` })),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    expect(new Set(answers.map(({ body }) => body.data.user.id)).size).toBe(1);
  });
});

/** Over REST in the header, in the query, and on a path that is for everybody; over GraphQL. */
async function answersTo(token: string): Promise<readonly unknown[]> {
  const answers = [
    await userinfo(token),
    await rest(kiln.url, 'GET', `/auth/idp/userinfo?access_token=${token}`),
    await rest(kiln.url, 'GET', '/api/task/health', undefined, { authorization: `Bearer ${token}` }),
  ];
  const { errors } = await viewer(token);
  return [
    ...answers.map(({ status, headers }) => [status, headers.get('www-authenticate')]),
    errors?.[0]?.extensions['code'],
  ];
}

const REFUSED = [[401, 'Bearer'], [401, 'Bearer'], [401, 'Bearer'], 'UNAUTHENTICATED'];
