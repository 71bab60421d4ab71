import { expect, it } from 'vitest';

import type { PlatformIdentity } from '../../domain/sign-in.ts';
import { createEncryption } from '../secrets/encryption.ts';
import { createAttempts } from './attempts.ts';
import { createBrowserSignIn, type BrowserSignInOptions } from './browser-sign-in.ts';
import { issueDevelopmentCode } from './development-administrator.ts';

/** Signing in with a browser, over an identity provider that lets everybody in. */

const person: PlatformIdentity = {
  platform: 'idp',
  appId: 'https://idp.example.org',
  subject: 'anna',
  unionId: null,
  email: null,
  name: 'Anna',
  picture: null,
  secret: null,
};
const secrets = { state: 'state-1', nonce: 'nonce-1', verifier: 'verifier-1' };
const opened: unknown[] = [];
const issued: unknown[] = [];
const linked: PlatformIdentity[] = [];
const codes = { issue: async (...given: unknown[]) => (issued.push(given), 'code-1') };
const users = { linkUser: async (one: PlatformIdentity) => (linked.push(one), { id: 'usr_1' }) };

function createBrowser(granted = '') {
  const provider = {
    begin: async ({ scopes }: { readonly scopes: readonly string[] }) => ({
      url: 'https://idp.example.org/login',
      scope: ['openid', ...scopes].join(' '),
      ...secrets,
    }),
    complete: async () => ({ identity: person, refreshToken: 'theirs', scope: granted }),
  };
  return createBrowserSignIn({
    provider,
    users,
    codes,
    attempts: createAttempts({ encryption: createEncryption('s', 'sign-in attempts'), isSecure: false }),
    sessions: { open: async (session: unknown) => (opened.push(session), 'tokens') },
    redirects: { publicUrl: 'https://kiln.example.org', allowed: ['com.example.app:'] },
  } as unknown as BrowserSignInOptions);
}

const page = { redirectUrl: '/home?tab=1', scopes: ['email'], codeChallenge: null };
const challenge = 'c'.repeat(43);
const app = { ...page, redirectUrl: 'com.example.app:/in', codeChallenge: challenge };

it.each([
  ['scopes', { scopes: Array.from({ length: 21 }, () => 'email') }],
  ['scopes', { scopes: ['s'.repeat(65)] }],
  ['scopes', { scopes: ['two words'] }],
  ['scopes', { scopes: ['email', ''] }],
  ['code_challenge', { codeChallenge: 'c'.repeat(42) }],
  ['code_challenge', { codeChallenge: `${challenge}c` }],
  ['code_challenge', { redirectUrl: 'com.example.app:/in' }],
  ['redirect_url', { redirectUrl: 'https://evil.test' }],
])('begins nothing where %s does not fit: %o', async (field, change) => {
  const begun = createBrowser().begin({ ...page, ...change });
  await expect(begun).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
});

it('begins with as many scopes as may be, with a page, an app that has a challenge, or nowhere to go', async () => {
  const scopes = Array.from({ length: 20 }, () => 's'.repeat(64));
  for (const change of [{ scopes }, app, { redirectUrl: null }]) {
    const { url, cookie } = await createBrowser().begin({ ...page, ...change });
    expect([url, cookie.maxAgeSeconds]).toEqual(['https://idp.example.org/login', 600]);
  }
});

async function completed(request: typeof page | typeof app | { readonly redirectUrl: null }, granted = '') {
  const browser = createBrowser(granted);
  const { cookie } = await browser.begin({ ...page, ...request });
  return browser.complete({ query: '?state=state-1&code=c', cookies: `${cookie.name}=${cookie.value}` });
}

it('completes with tokens, or at the page or app with a code; with the scope that was granted, else wanted', async () => {
  const cookieName = expect.stringMatching(/^kiln-sign-in-[\w-]{16}$/) as string;
  const session = { userId: 'usr_1', platform: 'idp', scope: 'openid email', providerToken: 'theirs' };
  expect(await completed({ redirectUrl: null })).toEqual({ signedIn: 'tokens', location: null, cookieName });
  expect(opened).toEqual([session]);
  const location = 'https://kiln.example.org/home?tab=1&login_code=code-1';
  expect(await completed(page, 'openid')).toEqual({ signedIn: null, location, cookieName });
  expect((await completed(app)).location).toBe('com.example.app:/in?login_code=code-1');
  expect(issued).toEqual([
    [{ ...session, scope: 'openid' }, null],
    [session, challenge],
  ]);
  expect(opened).toHaveLength(1);
});

it.each(['', '?state=', '?state=a&state=b', '?code=c'])(
  'completes nothing with %j for its query',
  async (query) => {
    await expect(createBrowser().complete({ query, cookies: '' })).rejects.toMatchObject({
      field: 'state',
      message: expect.stringContaining('begin at /auth/idp/authorize'),
    });
  },
);

it('needs an identity provider', async () => {
  const browser = createBrowserSignIn({ provider: null } as unknown as BrowserSignInOptions);
  await expect(browser.begin({ ...page, redirectUrl: null })).rejects.toMatchObject({
    code: 'NOT_CONFIGURED',
  });
});

it('lets the development administrator in for a quarter of an hour, without a provider', async () => {
  issued.length = 0;
  linked.length = 0;
  type Dependencies = Parameters<typeof issueDevelopmentCode>[0];
  expect(await issueDevelopmentCode({ users, codes } as unknown as Dependencies)).toBe('code-1');
  const known = { appId: 'development', subject: 'development-administrator' };
  expect(linked).toEqual([{ ...person, ...known, name: 'Development administrator' }]);
  const session = { userId: 'usr_1', platform: 'idp', scope: 'openid', providerToken: null };
  expect(issued).toEqual([[session, null, 900]]);
});
