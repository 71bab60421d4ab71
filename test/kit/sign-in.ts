import { importJWK, SignJWT, type JWK } from 'jose';
import { Client } from 'pg';

import type { Config } from '../../platform/config.ts';
import { installationSecret } from '../../platform/installation-secret.ts';
import { createSealer } from '../../subgraphs/workflow/sign-in/sealer.ts';
import { createBrowser, type TestBrowser } from './browser.ts';

/** Signing in as the sandbox's people, at the public face of a Kiln. */

/** What a sign-in answers over REST. */
export interface SignInData {
  readonly user: { readonly id: string; readonly sub: string | null };
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

const isCallback = (url: URL): boolean => url.pathname.endsWith('/auth/idp/callback');

/** Begins at `authorize`, answers the login page as `subject` ('' refuses), and stops in front of the callback. */
export async function logIn(
  url: string,
  browser: TestBrowser,
  { query = '', subject = 'sandbox-ada' }: { readonly query?: string; readonly subject?: string } = {},
): Promise<URL> {
  const begun = await browser.follow(`${url}/auth/idp/authorize${query}`, isCallback);
  // Who has signed in at the provider before does not see the page again.
  if (begun.response === null) return begun.url;
  const page = await begun.response.text();
  if (!page.includes('sandbox-ada')) throw new Error(`this is no login page: ${page.slice(0, 500)}`);
  return (await browser.follow(begun.url.href, isCallback, { form: { subject } })).url;
}

/** Signs in with a browser, to the end. */
export async function signedIn(
  url: string,
  subject = 'sandbox-ada',
  browser = createBrowser(),
): Promise<SignInData> {
  const callback = await logIn(url, browser, { subject });
  const answer = await browser.open(callback.href);
  if (answer.status !== 200) throw new Error(`the callback answered ${answer.status}`);
  return ((await answer.json()) as { readonly data: SignInData }).data;
}

/** A token with the claims of another, changed, and its header, signed with the key that Kiln itself signs with. */
export type GenuineSigner = (token: string, change?: object, header?: object) => Promise<string>;

/** Takes the key out of a Kiln's database, as nobody outside can: what it signs differs from Kiln's own in what it says alone. */
export async function genuineSigner(config: Pick<Config, 'split' | 'data'>): Promise<GenuineSigner> {
  const database = new Client({ connectionString: config.data.databaseUrl ?? undefined });
  await database.connect();
  try {
    const { rows } = await database.query<{ kid: string; sealed_private_jwk: string }>(
      'select kid, sealed_private_jwk from workflow.signing_keys order by signs_from limit 1',
    );
    const [row] = rows;
    if (row === undefined) throw new Error('there is no signing key: sign somebody in first');
    const sealer = createSealer(await installationSecret(config, 'sign-in-secret'), 'signing keys');
    const key = await importJWK((await sealer.open(row.sealed_private_jwk)) as JWK, 'EdDSA');
    return (token, change = {}, header = {}) =>
      new SignJWT({ ...claimsOf(token), ...change })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: row.kid, ...header })
        .sign(key);
  } finally {
    await database.end();
  }
}

/** What a token says. */
export function claimsOf(token: string): Record<string, unknown> {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
}
