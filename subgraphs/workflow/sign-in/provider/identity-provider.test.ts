import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWTPayload } from 'jose';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { createOutboundRule } from '../../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { startSandbox } from '../../../../sandbox/test-kit.ts';
import { createBrowser } from '../../../../test/kit/clients/browser.ts';
import type { IdentityProvider, IdentityProviderSettings } from './identity-provider.ts';
import { createIdentityProvider } from './openid-connect.ts';

/** The client of an identity provider: against the sandbox's, and against servers that misbehave. */

let sandbox: Sandbox;
let stop: () => Promise<void>;
let http: HttpClient;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger: silentLogger() });
});
afterAll(async () => {
  await http?.close();
  await stop?.();
});

const CALLBACK = 'http://127.0.0.1:4000/auth/idp/callback';

function providerAt(
  issuer: string,
  change: Partial<IdentityProviderSettings> = {},
  client: HttpClient = http,
): IdentityProvider {
  return createIdentityProvider({
    http: client,
    settings: {
      issuer,
      clientId: 'kiln',
      clientSecret: 'kiln-sandbox-client',
      callbackUrl: CALLBACK,
      endpoints: null,
      audiences: [],
      parameters: {},
      internalUrl: null,
      ...change,
    },
  });
}

const UNAUTHENTICATED = { code: 'UNAUTHENTICATED' };
const UNAVAILABLE = { code: 'UNAVAILABLE', retryAfter: 5 };

describe('with the sandbox', () => {
  const isCallback = (url: URL): boolean => url.href.startsWith(CALLBACK);

  /** The query that the provider sends a browser back with. */
  async function returned(url: string, subject = 'sandbox-ada'): Promise<string> {
    const browser = createBrowser();
    const page = await browser.follow(url, isCallback);
    await page.response?.body?.cancel();
    return (await browser.follow(page.url.href, isCallback, { form: { subject } })).url.search;
  }

  it('says who came back, with what was granted', async () => {
    const provider = providerAt(sandbox.issuer);
    const begun = await provider.begin({ scopes: ['email', 'profile'] });
    expect(begun.scope.split(' ')).toEqual(['openid', 'email', 'profile', 'offline_access']);
    const proved = await provider.complete(await returned(begun.url), begun);
    expect(proved).toEqual({
      identity: {
        platform: 'idp',
        appId: sandbox.issuer,
        subject: 'sandbox-ada',
        unionId: null,
        email: 'ada@sandbox.example',
        name: 'Ada',
        picture: null,
        secret: null,
      },
      refreshToken: expect.any(String),
      scope: expect.stringContaining('openid'),
    });
    await provider.revoke(proved.refreshToken ?? '');
  });

  it('refuses who refused, a code that is used, and one of another flow', async () => {
    const provider = providerAt(sandbox.issuer);
    const first = await provider.begin({ scopes: [] });
    const refused = await returned(first.url, '');
    await expect(provider.complete(refused, first)).rejects.toMatchObject({
      ...UNAUTHENTICATED,
      message: 'the sign-in was refused',
    });
    const failed = refused.replace('access_denied', 'server_error');
    await expect(provider.complete(failed, first)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      message: expect.stringContaining('did not sign anybody in: begin again'),
    });

    const second = await provider.begin({ scopes: [] });
    const query = await returned(second.url);
    const other = await provider.begin({ scopes: [] });
    // The code of one flow in the callback of another: its state fits, its verifier does not.
    const injected = new URLSearchParams(query);
    injected.set('state', other.state);
    await expect(provider.complete(`?${injected.toString()}`, other)).rejects.toMatchObject(UNAUTHENTICATED);
    // The rightful flow goes on, and its code is good once.
    await provider.complete(query, second);
    await expect(provider.complete(query, second)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it.each([
    ['of another issuer', (query: URLSearchParams) => query.set('iss', 'https://evil.test')],
    ['without its issuer', (query: URLSearchParams) => query.delete('iss')],
    ['with two codes', (query: URLSearchParams) => query.append('code', 'another')],
    ['with another state', (query: URLSearchParams) => query.set('state', 'another')],
    ['without a code', (query: URLSearchParams) => query.delete('code')],
  ])('refuses an answer %s', async (_, change) => {
    const provider = providerAt(sandbox.issuer);
    const begun = await provider.begin({ scopes: [] });
    const query = new URLSearchParams(await returned(begun.url));
    change(query);
    await expect(provider.complete(`?${query.toString()}`, begun)).rejects.toMatchObject({
      code: expect.stringMatching(/^(UNAUTHENTICATED|BAD_USER_INPUT)$/),
    });
  });

  it('exchanges the code of an app for its verifier only', async () => {
    const provider = providerAt(sandbox.issuer);
    const readCode = async (url: string) => new URLSearchParams(await returned(url)).get('code') ?? '';
    const begun = await provider.begin({ scopes: ['email'] });
    const code = await readCode(begun.url);
    const request = { code, redirectUri: CALLBACK, nonce: begun.nonce, verifier: begun.verifier };
    expect(await provider.exchange(request)).toMatchObject({ identity: { subject: 'sandbox-ada' } });
    await expect(provider.exchange(request)).rejects.toMatchObject(UNAUTHENTICATED);
    const next = await provider.begin({ scopes: [] });
    const wrong = { ...request, code: await readCode(next.url), nonce: next.nonce };
    await expect(provider.exchange(wrong)).rejects.toMatchObject(UNAUTHENTICATED);
    await expect(provider.exchange({ ...request, redirectUri: 'nowhere' })).rejects.toMatchObject({
      field: 'redirectUri',
    });
  });

  it('refuses a secret that is wrong', async () => {
    const provider = providerAt(sandbox.issuer, { clientSecret: 'another' });
    const begun = await provider.begin({ scopes: [] });
    await expect(provider.complete(await returned(begun.url), begun)).rejects.toMatchObject(UNAUTHENTICATED);
  });

  it('passes extra parameters on, and knows where to sign out', async () => {
    const usual = new URL((await providerAt(sandbox.issuer).begin({ scopes: [] })).url);
    expect(usual.searchParams.get('prompt')).toBe('consent');
    const provider = providerAt(sandbox.issuer, {
      parameters: { access_type: 'offline', prompt: 'login' },
    });
    const { searchParams } = new URL((await provider.begin({ scopes: [] })).url);
    expect(Object.fromEntries(searchParams)).toMatchObject({ access_type: 'offline', prompt: 'login' });
    const out = new URL((await provider.signOutUrl('http://127.0.0.1:4000/')) ?? '');
    expect(out.href.startsWith(`${sandbox.issuer}/`)).toBe(true);
    expect(out.searchParams.get('post_logout_redirect_uri')).toBe('http://127.0.0.1:4000/');
  });

  it('is reached behind the address that browsers know', async () => {
    const elsewhere = await startSandbox({
      identity: {
        issuer: 'https://kiln.example.org/sandbox/identity',
        redirectUris: [CALLBACK],
        postLogoutUris: [],
      },
    });
    try {
      const { issuer, identityUrl } = elsewhere.sandbox;
      const begun = await providerAt(issuer, { internalUrl: identityUrl }).begin({ scopes: [] });
      expect(begun.url.startsWith('https://kiln.example.org/sandbox/identity/')).toBe(true);
    } finally {
      await elsewhere.stop();
    }
  });
});

/** What a server of a test answers, by path; null breaks the connection. */
type Answers = Record<string, { readonly status?: number; readonly body: unknown } | null>;

interface Standing {
  readonly url: string;
  readonly answers: Answers;
  /** What was asked for: path and form. */
  readonly asked: { readonly path: string; readonly form: URLSearchParams }[];
}

const open: Server[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function stand(answers: Answers = {}): Promise<Standing> {
  const asked: Standing['asked'] = [];
  const server = createServer((request, response) => {
    void text(request).then((form) => {
      const path = request.url ?? '';
      asked.push({ path, form: new URLSearchParams(form) });
      const answer = answers[path];
      if (answer === undefined) return response.writeHead(404).end('{}');
      if (answer === null) return response.destroy();
      const isText = typeof answer.body === 'string';
      response.writeHead(answer.status ?? 200, { 'content-type': isText ? 'text/html' : 'application/json' });
      return response.end(isText ? answer.body : JSON.stringify(answer.body));
    });
  });
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, answers, asked };
}

const DISCOVERY = '/.well-known/openid-configuration';

function createDocument(issuer: string): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    userinfo_endpoint: `${issuer}/userinfo`,
    jwks_uri: `${issuer}/jwks`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  };
}

/** A provider with a discovery document and the keys of its ID tokens. */
async function standDiscovered(): Promise<Standing & { readonly key: CryptoKey }> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true });
  const standing = await stand();
  standing.answers[DISCOVERY] = { body: createDocument(standing.url) };
  standing.answers['/jwks'] = {
    body: { keys: [{ ...(await exportJWK(publicKey)), alg: 'RS256', use: 'sig' }] },
  };
  return { ...standing, key: privateKey };
}

describe('a provider that is away', () => {
  it('is found again as soon as it is back: a failed discovery is not kept', async () => {
    const { url, answers, asked } = await stand({ [DISCOVERY]: { status: 404, body: {} } });
    const provider = providerAt(url);
    expect(asked).toEqual([]);
    await expect(provider.begin({ scopes: [] })).rejects.toMatchObject(UNAVAILABLE);
    answers[DISCOVERY] = { body: createDocument(url) };
    await provider.begin({ scopes: [] });
    await provider.begin({ scopes: [] });
    expect(asked).toHaveLength(2);
  });

  it('is asked once by many at a time', async () => {
    const { url, asked } = await standDiscovered();
    const provider = providerAt(url);
    await Promise.all(Array.from({ length: 20 }, () => provider.begin({ scopes: [] })));
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['breaks off', null],
    ['is behind a proxy that has nothing', { status: 502, body: '<html>bad gateway</html>' }],
    ['is behind a proxy that fails', { status: 500, body: '<html>internal error</html>' }],
    ['fails in JSON', { status: 500, body: { error: 'server_error' } }],
  ])('at the callback is no fault of who signs in: it %s', async (_, answer) => {
    const { url, answers, asked } = await standDiscovered();
    answers['/token'] = answer;
    const provider = providerAt(url);
    const begun = await provider.begin({ scopes: [] });
    await expect(provider.complete(`?code=x&state=${begun.state}`, begun)).rejects.toMatchObject(UNAVAILABLE);
    // A code is good once: it is not sent twice.
    expect(asked.filter(({ path }) => path === '/token')).toHaveLength(1);
  });

  it('has as long for an answer as its settings say, else five seconds', async () => {
    const { url } = await standDiscovered();
    const times: (number | undefined)[] = [];
    const watched: HttpClient = {
      ...http,
      request: (request) => (times.push(request.timeoutMs), http.request(request)),
    };
    await providerAt(url, {}, watched).begin({ scopes: [] });
    await providerAt(url, { timeoutMs: 30_000 }, watched).begin({ scopes: [] });
    expect(times).toEqual([5_000, 30_000]);
  });

  it('signs nobody in with an empty answer', async () => {
    const { url, answers } = await standDiscovered();
    answers['/token'] = { status: 204, body: '' };
    const provider = providerAt(url);
    const begun = await provider.begin({ scopes: [] });
    await expect(provider.complete(`?code=x&state=${begun.state}`, begun)).rejects.toMatchObject(
      UNAUTHENTICATED,
    );
  });

  it('is told of a refresh token that is given up, where it has a place for that', async () => {
    const { url, answers, asked } = await standDiscovered();
    await providerAt(url).revoke('r-0');
    expect(asked.some(({ form }) => form.get('token') === 'r-0')).toBe(false);
    answers[DISCOVERY] = { body: { ...createDocument(url), revocation_endpoint: `${url}/revoke` } };
    answers['/revoke'] = { body: {} };
    await providerAt(url).revoke('r-1');
    const { path, form } = asked.at(-1) ?? {};
    expect([path, form?.get('token'), form?.get('token_type_hint')]).toEqual([
      '/revoke',
      'r-1',
      'refresh_token',
    ]);
  });

  it('is believed by its ID token alone where it has no place that says more', async () => {
    const { url, answers, asked, key } = await standDiscovered();
    answers[DISCOVERY] = { body: { ...createDocument(url), userinfo_endpoint: undefined } };
    const provider = providerAt(url);
    const begun = await provider.begin({ scopes: [] });
    const token = new SignJWT({ sub: 'ada', name: 'Ada', nonce: begun.nonce })
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(url)
      .setAudience(new URL(begun.url).searchParams.get('client_id') ?? '')
      .setIssuedAt()
      .setExpirationTime('1h');
    const granted = { access_token: 'a', token_type: 'bearer', id_token: await token.sign(key) };
    answers['/token'] = { body: granted };
    const { identity } = await provider.complete(`?code=x&state=${begun.state}`, begun);
    expect(identity).toMatchObject({ subject: 'ada', name: 'Ada', email: null });
    expect(asked.map(({ path }) => path)).not.toContain('/userinfo');
  });

  it('is not who it says it is', async () => {
    const { url, answers } = await stand();
    answers[DISCOVERY] = { body: createDocument('https://evil.test') };
    await expect(providerAt(url).begin({ scopes: [] })).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('who came back', () => {
  /** With this in the ID token (null: there is none), and these facts where the provider says more. */
  async function comeBack(claims: object | null, facts: object, isApp: boolean) {
    const { url, answers, asked, key } = await standDiscovered();
    const provider = providerAt(url);
    const begun = await provider.begin({ scopes: [] });
    const { state, nonce, verifier } = begun;
    const sign = async (said: object) =>
      new SignJWT({ sub: 'ada', nonce, ...said })
        .setProtectedHeader({ alg: 'RS256' })
        .setIssuer(url)
        .setAudience('kiln')
        .setIssuedAt()
        .setExpirationTime('1h')
        .sign(key);
    const granted = { access_token: 'a', token_type: 'bearer' };
    answers['/token'] = {
      body: claims === null ? granted : { ...granted, id_token: await sign(claims) },
    };
    answers['/userinfo'] = { body: facts };
    const proved = isApp
      ? provider.exchange({ code: 'x', redirectUri: CALLBACK, nonce, verifier })
      : provider.complete(`?code=x&state=${state}`, begun);
    const answer: unknown = await proved.catch((error: unknown) => error);
    return { answer, isMoreAsked: asked.some(({ path }) => path === '/userinfo') };
  }

  const ada = { sub: 'ada', email: 'ada@example.org' };
  it.each([
    ['the ID token alone where it has an address', ada, {}, { email: 'ada@example.org', name: null }, false],
    ['both', { name: 'Ada' }, ada, { email: 'ada@example.org', name: 'Ada' }, true],
    [
      'another name and a picture',
      { name: '', preferred_username: 'ada1', picture: 'https://p.example.org/1' },
      { sub: 'ada', email: 7 },
      { email: null, name: 'ada1', picture: 'https://p.example.org/1' },
      true,
    ],
  ])('is who is said by %s', async (_, claims, facts, identity, isMoreAsked) => {
    for (const isApp of [false, true]) {
      expect(await comeBack(claims, facts, isApp)).toMatchObject({
        answer: { identity: { subject: 'ada', ...identity }, scope: '', refreshToken: null },
        isMoreAsked,
      });
    }
  });

  it.each([
    ['nobody without an ID token', null, ada],
    ['nobody with the ID token of another sign-in', { ...ada, nonce: 'another' }, ada],
    ['nobody of whom somebody else is told', {}, { ...ada, sub: 'ben' }],
  ])('is %s', async (_, claims, facts) => {
    for (const isApp of [false, true])
      expect((await comeBack(claims, facts, isApp)).answer).toMatchObject(UNAUTHENTICATED);
  });
});

describe('an ID token of a native app', () => {
  interface Claims {
    readonly aud?: string | readonly string[];
    readonly iss?: string;
    readonly [name: string]: unknown;
  }

  async function createToken(
    { key, url }: { readonly key: CryptoKey | Uint8Array; readonly url: string },
    claims: Claims = {},
    { age = 0, alg = 'RS256' }: { readonly age?: number; readonly alg?: string } = {},
  ): Promise<string> {
    const now = Math.floor(Date.now() / 1_000) - age;
    return new SignJWT({
      sub: 'ada',
      iss: url,
      aud: 'ios-app',
      iat: now,
      exp: now + 7_200,
      ...claims,
    } as JWTPayload)
      .setProtectedHeader({ alg })
      .sign(key);
  }

  it('says who its bearer is, for our own apps', async () => {
    const standing = await standDiscovered();
    const provider = providerAt(standing.url, { audiences: ['ios-app'] });
    const mail = { email: 'ada@example.org', nonce: 'n-1' };
    expect(await provider.readIdentity(await createToken(standing, mail), 'n-1')).toMatchObject({
      platform: 'idp',
      appId: standing.url,
      subject: 'ada',
      email: 'ada@example.org',
    });
    expect(await provider.readIdentity(await createToken(standing, { aud: 'kiln' }), null)).toMatchObject({
      subject: 'ada',
    });
    expect(
      await provider.readIdentity(
        await createToken(standing, { aud: ['ios-app', 'x'], azp: 'ios-app' }),
        null,
      ),
    ).toMatchObject({ subject: 'ada' });
    const single = await createToken(standing, { aud: ['ios-app'] }, { age: 3_620 });
    expect(await provider.readIdentity(single, null)).toMatchObject({ subject: 'ada' });
    // The keys are asked for once.
    expect(standing.asked.filter(({ path }) => path === '/jwks')).toHaveLength(1);
  });

  it('is refused when it is of another app, issuer, time, nonce or key', async () => {
    const standing = await standDiscovered();
    const provider = providerAt(standing.url, { audiences: ['ios-app'] });
    const stranger = await generateKeyPair('RS256');
    const jwks = await fetch(`${standing.url}/jwks`);
    const published = new TextEncoder().encode(await jwks.text());
    const tokens = [
      await createToken(standing, { aud: 'another-app' }),
      await createToken(standing, { aud: ['ios-app', 'another-app'], azp: 'another-app' }),
      await createToken(standing, { iss: 'https://evil.test' }),
      await createToken(standing, {}, { age: 3_700 }),
      await createToken(standing, {}, { age: 8_000 }),
      await createToken(standing, { sub: undefined }),
      await createToken({ ...standing, key: stranger.privateKey }),
      await createToken({ ...standing, key: published }, {}, { alg: 'HS256' }),
      'a.b.c',
      await createToken(standing, { padding: 'x'.repeat(16_000) }),
    ];
    for (const token of tokens) {
      await expect(provider.readIdentity(token, null)).rejects.toMatchObject(UNAUTHENTICATED);
    }
    const token = await createToken(standing, { nonce: 'n-1' });
    await expect(provider.readIdentity(token, 'n-2')).rejects.toMatchObject(UNAUTHENTICATED);
    const [wrongKey, wrongNonce] = await Promise.all([
      provider.readIdentity(tokens[6] ?? '', null).catch((thrown: unknown) => thrown as Error),
      provider.readIdentity(token, 'n-2').catch((thrown: unknown) => thrown as Error),
    ]);
    expect(wrongKey).toMatchObject({ cause: { code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' } });
    expect(Object.hasOwn(wrongNonce, 'cause')).toBe(false);
  });

  it.each([
    ['not come', null],
    ['are an error', { status: 503, body: {} }],
    ['are a page', { body: '<html></html>' }],
  ])('is not refused because the keys %s', async (_, answer) => {
    const standing = await standDiscovered();
    standing.answers['/jwks'] = answer;
    const provider = providerAt(standing.url, { audiences: ['ios-app'] });
    await expect(provider.readIdentity(await createToken(standing), null)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('a plain OAuth 2.0 server', () => {
  async function standPlain(userinfo: unknown): Promise<Standing & { readonly provider: IdentityProvider }> {
    const standing = await stand({
      '/oauth/token': { body: { access_token: 'a-1', token_type: 'bearer', refresh_token: 'r-1' } },
      '/me': { body: userinfo },
    });
    const { url } = standing;
    const provider = providerAt(url, {
      endpoints: {
        authorization: `${url}/oauth/authorize`,
        token: `${url}/oauth/token`,
        userinfo: `${url}/me`,
      },
    });
    return { ...standing, provider };
  }

  it('signs people in by its three endpoints, without discovery and without an ID token', async () => {
    const { url, asked, provider } = await standPlain({ sub: '42', name: 'Ada' });
    const begun = await provider.begin({ scopes: ['user:email'] });
    const { pathname, searchParams } = new URL(begun.url);
    expect(pathname).toBe('/oauth/authorize');
    expect(searchParams.get('scope')).toBe('user:email');
    expect([searchParams.has('nonce'), searchParams.has('prompt')]).toEqual([false, false]);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(await provider.complete(`?code=c-1&state=${begun.state}`, begun)).toEqual({
      identity: expect.objectContaining({ appId: url, subject: '42', name: 'Ada', email: null }),
      refreshToken: 'r-1',
      scope: '',
    });
    expect(asked.map(({ path }) => path)).toEqual(['/oauth/token', '/me']);
    expect(asked[0]?.form.get('code_verifier')).toBe(begun.verifier);
  });

  it('asks for no scope where none is wanted, and has no page to sign out and no ID tokens', async () => {
    const { provider } = await standPlain({ sub: '42' });
    expect(new URL((await provider.begin({ scopes: [] })).url).searchParams.has('scope')).toBe(false);
    expect(await provider.signOutUrl('http://127.0.0.1:4000/')).toBeNull();
    await expect(provider.readIdentity('a.b.c', null)).rejects.toMatchObject(UNAUTHENTICATED);
    await provider.revoke('r-1');
  });

  it('signs nobody in when it does not say who', async () => {
    const { provider } = await standPlain({ name: 'Ada' });
    const begun = await provider.begin({ scopes: [] });
    await expect(provider.complete(`?code=c-1&state=${begun.state}`, begun)).rejects.toMatchObject(
      UNAUTHENTICATED,
    );
  });
});
