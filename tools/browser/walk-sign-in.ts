import type { Page } from 'playwright-core';

import { rest, until } from '../../test/kit/clients/requests.ts';
import type { Steps } from './steps.ts';

/** Signs in at the login page, back to JSON and back to an app, and tries the tokens. Returns the user's id. */
export async function walkSignIn(url: string, page: Page, { holds }: Steps): Promise<string> {
  const post = (path: string, body: object) => rest(url, 'POST', path, body);
  const userinfo = (token: string) =>
    rest(url, 'GET', '/auth/idp/userinfo', undefined, { authorization: `Bearer ${token}` });

  await page.goto(`${url}/auth/idp/authorize`);
  await page.waitForFunction("document.title === 'Sign in (sandbox)'");
  holds('authorize leads to the login page', new URL(page.url()).origin, url);
  await page.click('button[value="sandbox-ada"]');
  await page.waitForURL(({ pathname }) => pathname === '/auth/idp/callback');
  const { success, data } = JSON.parse(await page.locator('body').innerText());
  holds(
    'the callback answers the envelope',
    [success, data.user.name, data.token_type],
    [true, 'Ada', 'Bearer'],
  );
  holds('the token is ours and known', (await userinfo(data.access_token)).body.data.sub, data.user.sub);

  const next = await post('/auth/idp/refresh', { refresh_token: data.refresh_token });
  holds('refresh answers the next pair', [next.status, next.body.data.expires_in], [200, 900]);
  const { access_token: token } = next.body.data;
  const revoked = await post('/auth/idp/revoke', { token, user_id: data.user.id });
  const after = await until(
    () => userinfo(token),
    ({ status }) => status === 401,
    5_000,
  );
  holds('revoke closes the session within five seconds', [revoked.status, after.status], [200, 401]);
  const late = await post('/auth/idp/refresh', { refresh_token: next.body.data.refresh_token });
  holds('and its refresh token', late.status, 401);

  await page.goto(`${url}/walk/app`);
  await page.click('#sign-in');
  // The provider remembers who has signed in there: the page may not be shown again.
  const isLoginPage = "document.title === 'Sign in (sandbox)'";
  await page.waitForFunction(`${isLoginPage} || document.getElementById('who')?.textContent`);
  if (await page.evaluate(isLoginPage)) await page.click('button[value="sandbox-ada"]');
  await page.waitForFunction("document.getElementById('who')?.textContent");
  const who = await page.locator('#who').textContent();
  holds('with redirect_url the app gets a login code, and tokens for it', who, `Ada ${data.user.id}`);
  holds('nothing of it stays in the address', page.url(), `${url}/walk/app`);
  return String(data.user.id);
}
