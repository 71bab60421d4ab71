import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createBrowser, type TestBrowser } from '../../kit/clients/browser.ts';
import { rest, until } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/**
 * The browser's way in against another OpenID Connect server than the sandbox's. Only with IDP_UNDER_TEST=1: which one is
 * said by the IDP_* settings, who signs in by IDP_USER and IDP_PASSWORD (CONTRIBUTING.md, "Optional checks").
 */
const { env } = process;
const settings = Object.fromEntries(
  ['IDP_ISSUER', 'IDP_CLIENT_ID', 'IDP_CLIENT_SECRET'].map((name) => [name, env[name] ?? '']),
);

describe.skipIf(env['IDP_UNDER_TEST'] !== '1')('with the identity provider of the settings', () => {
  let kiln: KilnUnderTest;
  beforeAll(async () => {
    kiln = await startKiln({ settings: { ...settings, REST_AUTH: 'compat' } });
  });
  afterAll(() => kiln?.close());

  /** Fills in the provider's own login form, and confirms what it asks afterwards. */
  async function logIn(browser: TestBrowser, query = ''): Promise<URL> {
    const isCallback = (url: URL): boolean => url.pathname === '/auth/idp/callback';
    let visit = await browser.follow(`${kiln.url}/auth/idp/authorize${query}`, isCallback);
    for (let pages = 0; pages < 5 && visit.response !== null; pages += 1) {
      const page = await visit.response.text();
      const [, action] = /<form[^>]*\baction="([^"]+)"/.exec(page) ?? [];
      if (action === undefined) throw new Error('the provider shows a page without a form');
      const target = new URL(action.replaceAll('&amp;', '&'), visit.url);
      const form = page.includes('name="password"')
        ? { username: env['IDP_USER'] ?? '', password: env['IDP_PASSWORD'] ?? '', credentialId: '' }
        : { ...hiddenFields(page), accept: 'Yes' };
      visit = await browser.follow(target.href, isCallback, { form });
    }
    return visit.url;
  }

  function hiddenFields(page: string): Record<string, string> {
    const inputs = page.match(/<input[^>]*type="hidden"[^>]*>/g) ?? [];
    return Object.fromEntries(
      inputs.map((input) => [
        /name="([^"]*)"/.exec(input)?.[1] ?? '',
        /value="([^"]*)"/.exec(input)?.[1] ?? '',
      ]),
    );
  }

  it('signs in, refreshes, tells who is there, and revokes', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser, '?scopes=openid,email,profile');
    const answer = await browser.open(callback.href, { headers: { accept: 'application/json' } });
    expect(answer.status).toBe(200);
    const { data } = (await answer.json()) as {
      data: { user: { sub: string; email: string }; access_token: string; refresh_token: string };
    };
    expect(data.user).toMatchObject({ sub: expect.any(String), email: expect.stringContaining('@') });
    const refreshed = await rest(kiln.url, 'POST', '/auth/idp/refresh', {
      refresh_token: data.refresh_token,
    });
    expect(refreshed.status).toBe(200);
    const token = String(refreshed.body.data.access_token);
    const bearer = { authorization: `Bearer ${token}` };
    const facts = await rest(kiln.url, 'GET', '/auth/idp/userinfo', undefined, bearer);
    expect(facts.body.data).toMatchObject({ sub: data.user.sub, email: data.user.email });
    expect((await rest(kiln.url, 'POST', '/auth/idp/revoke', { token })).status).toBe(200);
    // The gateway may know the token for two seconds more.
    await until(
      () => rest(kiln.url, 'GET', '/auth/idp/userinfo', undefined, bearer),
      ({ status }) => status === 401,
    );
  });

  it('goes to the page of an app with a login code that is good once', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser, '?redirect_url=/app/home');
    const answer = await browser.open(callback.href);
    expect(answer.status).toBe(302);
    const location = new URL(answer.headers.get('location') ?? '');
    expect(location.pathname).toBe('/app/home');
    expect([...location.searchParams.keys()]).toEqual(['login_code']);
    const body = { login_code: location.searchParams.get('login_code') };
    expect((await rest(kiln.url, 'POST', '/auth/idp/token', body)).body.data).toMatchObject({
      access_token: expect.any(String),
    });
    expect((await rest(kiln.url, 'POST', '/auth/idp/token', body)).status).toBe(401);
  });

  it('refuses the code in another browser, and a second time', async () => {
    const browser = createBrowser();
    const callback = await logIn(browser);
    expect((await createBrowser().open(callback.href)).status).toBe(400);
    expect((await browser.open(callback.href)).status).toBe(200);
    expect((await browser.open(callback.href)).status).toBe(400);
  });
});
