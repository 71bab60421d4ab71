import { createHash, randomBytes } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createBrowser } from '../../kit/clients/browser.ts';
import { graphql, rest } from '../../kit/clients/requests.ts';
import { logIn, signedIn } from '../../kit/clients/sign-in.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** Signing in from elsewhere than our own pages: mini-programs by their platforms' codes, web and native apps by redirects. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  // The sandbox is embedded: its Alipay is the only one whose keys Kiln has.
  kiln = await startKiln({
    settings: {
      SANDBOX_URL: '',
      SIGN_IN_REDIRECTS: 'https://app.example.org,http://localhost:5173,com.example.app:',
    },
  });
});
afterAll(() => kiln?.close());

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  rest(kiln.url, 'POST', path, body, headers);
const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const apps = { wechat: 'wx00000000sandbox1', douyin: 'tt00000000sandbox1', alipay: '2021000000000001' };
const platforms = Object.keys(apps) as (keyof typeof apps)[];
let codes = 0;
/** A new code of somebody's own. */
const newCode = (name: string) => `${name}-${(codes += 1)}`;

describe.each(platforms)('a mini-program of %s', (platform) => {
  const signIn = (body: object, headers?: Record<string, string>) =>
    post(`/auth/${platform}/token`, body, headers);
  const app_id = apps[platform];

  it('signs its user in, who is the same the next time', async () => {
    const { status, body } = await signIn({ app_id, code: newCode('ada') });
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        code: 200,
        message: 'signed in',
        data: {
          user: {
            id: expect.stringMatching(/^usr_/),
            email: null,
            name: null,
            picture: null,
            sub: null,
          },
          access_token: expect.stringMatching(/^ey/),
          refresh_token: expect.stringMatching(/^ses_/),
          token_type: 'Bearer',
          expires_in: 900,
          scope: 'openid',
        },
        timestamp: expect.any(String),
        traceId: expect.any(String),
      },
    ]);
    const { user, access_token, refresh_token } = body.data;
    const again = await signIn({ code: newCode('ada') });
    expect(again.body.data.user.id).toBe(user.id);
    expect((await signIn({ app_id, code: newCode('ben') })).body.data.user.id).not.toBe(user.id);
    const info = await rest(kiln.url, 'GET', '/auth/idp/userinfo', undefined, bearer(access_token));
    expect(info.body.data).toEqual(user);
    expect((await post('/auth/idp/refresh', { refresh_token })).status).toBe(200);
    const { data } = await graphql(kiln.url, '{ sessions { platform } }', {}, bearer(access_token));
    expect(data.sessions[0]).toEqual({ platform });
  });

  it('is refused with a code that is used, unknown, blocked or of another app', async () => {
    const code = newCode('ada');
    expect((await signIn({ app_id, code })).status).toBe(200);
    expect((await signIn({ app_id, code })).status).toBe(401);
    expect((await signIn({ app_id, code: 'nobody-1' })).status).toBe(401);
    expect((await signIn({ app_id, code: newCode('blocked') })).status).toBe(401);
    const foreign = await signIn({ app_id: 'another-app', code: newCode('ada') });
    expect([foreign.status, foreign.body.data.issues[0].field]).toEqual([400, 'app_id']);
    const mutation =
      'mutation ($input: PlatformSignInInput!) { signInWithPlatform(input: $input) { scope } }';
    const input = { platform, appId: 'another-app', code: newCode('ada') };
    const { errors } = await graphql(kiln.url, mutation, { input });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringMatching(/^appId /),
      extensions: { field: 'appId' },
    });
    const empty = await signIn({ app_id });
    expect([empty.status, empty.body.data.issues[0].field]).toEqual([400, 'code']);
  });

  it('is refused values that are no texts', async () => {
    const { status, body } = await signIn({ app_id: [app_id], code: { $ne: '' } });
    const fields = body.data.issues.map(({ field }: { field: string }) => field);
    expect([status, fields]).toEqual([400, ['app_id', 'code']]);
  });

  it('joins the account of who is signed in, and never takes one that is somebody else’s', async () => {
    // Accounts are told apart by platform: each joins somebody of its own.
    const admin = await signedIn(kiln.url, 'sandbox-admin');
    const joined = await signIn({ code: newCode('operator') }, bearer(admin.access_token));
    expect([joined.status, joined.body.data.user]).toEqual([200, admin.user]);
    expect((await signIn({ code: newCode('operator') })).body.data.user.id).toBe(admin.user.id);
    const ada = await signedIn(kiln.url, 'sandbox-ada');
    const taken = await signIn({ code: newCode('operator') }, bearer(ada.access_token));
    expect([taken.status, taken.body.message]).toEqual([400, expect.stringContaining('another account')]);
  });
});

it('somebody without an account of Douyin signs in by an anonymous code', async () => {
  const anonymous = await post('/auth/douyin/token', { anonymous_code: newCode('ben') });
  expect(anonymous.status).toBe(200);
  const known = await post('/auth/douyin/token', { code: newCode('ben') });
  expect(known.body.data.user.id).not.toBe(anonymous.body.data.user.id);
});

describe('an app that the operator has listed', () => {
  it.each([
    ['https://app.example.org', 'https://app.example.org/?login_code='],
    ['https://APP.example.org:443/back?x=1#at', 'https://app.example.org/back?x=1&login_code='],
    ['http://localhost:5173/signed-in', 'http://localhost:5173/signed-in?login_code='],
  ])('gets its user back at %s with a code for tokens', async (target, location) => {
    const browser = createBrowser();
    const query = `?${new URLSearchParams({ redirect_url: target }).toString()}`;
    const answer = await browser.open((await logIn(kiln.url, browser, { query })).href);
    const at = answer.headers.get('location') ?? '';
    expect([answer.status, at.startsWith(location)]).toEqual([302, true]);
    const login_code = new URL(at).searchParams.get('login_code');
    const { status, body } = await post('/auth/idp/token', { login_code });
    expect([status, body.data.user.sub]).toEqual([200, 'sandbox-ada']);
  });

  it('with a scheme of its own must show that it is the one that asked', async () => {
    const redirect_url = 'com.example.app:/signed-in';
    const path = `/auth/idp/authorize?${new URLSearchParams({ redirect_url }).toString()}`;
    const refused = await rest(kiln.url, 'GET', path);
    expect([refused.status, refused.body.data.issues[0].field]).toEqual([400, 'code_challenge']);

    const code_verifier = randomBytes(32).toString('base64url');
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url');
    const query = `?${new URLSearchParams({ redirect_url, code_challenge }).toString()}`;
    const codeFor = async () => {
      const browser = createBrowser();
      const answer = await browser.open((await logIn(kiln.url, browser, { query })).href);
      const location = answer.headers.get('location') ?? '';
      expect(location).toMatch(/^com\.example\.app:\/signed-in\?login_code=/);
      return new URL(location).searchParams.get('login_code');
    };
    // Another app that claims the scheme has the code, but not its verifier.
    expect((await post('/auth/idp/token', { login_code: await codeFor() })).status).toBe(401);
    const { status } = await post('/auth/idp/token', { login_code: await codeFor(), code_verifier });
    expect(status).toBe(200);
  });

  it.each([
    'http://app.example.org/',
    'https://app.example.org:8443/',
    'https://app.example.org.evil.example/',
    'https://app.example.orgs/',
    'https://evil.app.example.org/',
    'https://app.example.org@evil.example/',
    'https://ada@app.example.org/',
    'https://app.example.org\\.evil.example/',
    'https://evil.example/https://app.example.org/',
    'https://evil.example/?https://app.example.org',
    'https://evil.example/#https://app.example.org',
    'https://app.example.org%2eevil.example/',
    'https://app。example.org.evil.example/',
    'https://localhost:5173/',
    'http://localhost:51730/',
    'http://127.0.0.1:5173/',
    'http://[::1]:5173/',
    'com.example.apps:/signed-in',
    'com.example:/app',
    'com.example.app%3a/signed-in',
    'javascript:location="https://app.example.org"',
  ])('does not make %j one', async (target) => {
    const code_challenge = createHash('sha256').update('x').digest('base64url');
    const query = new URLSearchParams({ redirect_url: target, code_challenge });
    const { status, headers, body } = await rest(kiln.url, 'GET', `/auth/idp/authorize?${query.toString()}`);
    expect([status, headers.get('location'), headers.getSetCookie()]).toEqual([400, null, []]);
    expect(body.data.issues[0].field).toBe('redirect_url');
  });
});
