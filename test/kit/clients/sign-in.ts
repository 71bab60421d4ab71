import { createHash, randomBytes } from 'node:crypto';

import { importJWK, SignJWT, type JWK } from 'jose';
import { Client } from 'pg';

import type { Config } from '../../../platform/config/config.ts';
import { installationSecret } from '../../../platform/secrets/secrets.ts';
import { createEncryption } from '../../../subgraphs/workflow/sign-in/secrets/encryption.ts';
import { createBrowser, type TestBrowser } from './browser.ts';
import { rest, until } from './requests.ts';

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
  // The sandbox's provider is loaded at its first use: on a busy machine that takes longer than Kiln waits for it.
  const begun = await until(
    () => browser.follow(`${url}/auth/idp/authorize${query}`, isCallback),
    ({ response }) => response?.status !== 503,
  );
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

/** Signs in with a code of a mini-program, at the sandbox's WeChat. */
export async function platformSignIn(url: string, code: string): Promise<SignInData> {
  // The sandbox is loaded at its first use: on a busy machine that takes longer than Kiln waits for it.
  const { body } = await until(
    () => rest(url, 'POST', '/auth/wechat/token', { code }),
    ({ status }) => status !== 503,
  );
  if (body.data === undefined) throw new Error(`nobody signs in: ${JSON.stringify(body)}`);
  return body.data as SignInData;
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
    const encryption = createEncryption(await installationSecret(config, 'sign-in-secret'), 'signing keys');
    const key = await importJWK((await encryption.decrypt(row.sealed_private_jwk)) as JWK, 'EdDSA');
    return (token, change = {}, header = {}) =>
      new SignJWT({ ...readClaims(token), ...change })
        .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: row.kid, ...header })
        .sign(key);
  } finally {
    await database.end();
  }
}

/** What a token says. */
export function readClaims(token: string): Record<string, unknown> {
  const [, payload = ''] = token.split('.');
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as Record<string, unknown>;
}

/** A code that an app got by itself, at the sandbox's identity provider, for a verifier of its own. */
export async function appCode(url: string, sandboxUrl: string) {
  const { body } = await rest(`${sandboxUrl}/identity`, 'GET', '/.well-known/openid-configuration');
  const code_verifier = randomBytes(32).toString('base64url');
  const redirect_uri = `${url}/auth/idp/callback`;
  const query = new URLSearchParams({
    client_id: 'kiln',
    response_type: 'code',
    scope: 'openid email',
    redirect_uri,
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const browser = createBrowser();
  const page = await browser.follow(`${body.authorization_endpoint}?${query.toString()}`);
  const end = await browser.follow(page.url.href, isCallback, { form: { subject: 'sandbox-ben' } });
  const code = end.url.searchParams.get('code') ?? '';
  return { tokenEndpoint: String(body.token_endpoint), proof: { code, code_verifier, redirect_uri } };
}

/** The identity provider's own tokens, for the client that Kiln is there. */
export async function providerTokens(url: string, sandboxUrl: string) {
  const { tokenEndpoint, proof } = await appCode(url, sandboxUrl);
  const answer = await fetch(tokenEndpoint, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('kiln:kiln-sandbox-client').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'authorization_code', ...proof }),
  });
  return (await answer.json()) as { readonly access_token: string; readonly id_token: string };
}
