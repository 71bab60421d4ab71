import * as oidc from 'openid-client';

import { AppError } from '../../../platform/errors.ts';
import type { HttpClient } from '../../../platform/http-client.ts';
import { createProviderFetch } from './provider-fetch.ts';
import type { PlatformIdentity } from './sign-in.ts';

/** The identity provider (OpenID Connect), asked when somebody signs in and never at the start. */
export interface IdentityProvider {
  /** Where the browser is sent, and what must be remembered for its return. */
  begin(request: { readonly scopes: readonly string[] }): Promise<BegunSignIn>;
  /** Who came back. `query` is what the provider appended to the callback's address. UNAUTHENTICATED, BAD_USER_INPUT, UNAVAILABLE. */
  complete(query: string, begun: SignInSecrets): Promise<ProvedIdentity>;
  /** Who an ID token of a native app names. UNAUTHENTICATED. */
  identityOf(idToken: string, nonce: string | null): Promise<PlatformIdentity>;
  /** Exchanges a code that a native app got by itself. UNAUTHENTICATED. */
  exchange(request: AppCode): Promise<ProvedIdentity>;
  /** Ends a refresh token there, as far as the provider can. */
  revoke(refreshToken: string): Promise<void>;
  /** Where the browser goes to sign out there as well; null when the provider has no such page. */
  signOutUrl(returnTo: string): Promise<string | null>;
}

/** What proves at the callback that it answers a sign-in begun here. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface BegunSignIn extends SignInSecrets {
  readonly url: string;
  /** What was asked for, separated by blanks. */
  readonly scope: string;
}

interface AppCode {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly nonce: string | null;
}

interface ProvedIdentity {
  readonly identity: PlatformIdentity;
  readonly refreshToken: string | null;
  readonly scope: string;
}

export interface IdentityProviderOptions {
  readonly http: HttpClient;
  readonly settings: IdentityProviderSettings;
}

/** `config.identity`, or the sandbox's. */
export interface IdentityProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** Where the provider sends browsers back to. */
  readonly callbackUrl: string;
  /** Endpoints set by hand, for providers without a discovery document; then no ID token is expected. */
  readonly endpoints: {
    readonly authorization: string;
    readonly token: string;
    readonly userinfo: string;
  } | null;
  /** Client ids of native apps whose ID tokens and codes are taken. */
  readonly audiences: readonly string[];
  /** Extra parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Where this process reaches the issuer, when not at its own address (the embedded sandbox). */
  readonly reachedAt: string | null;
}

const DAY_MS = 86_400_000;
const TIMEOUT_SECONDS = 5;

/** Makes the client. Discovery is lazy, kept for a day, and a failed one is not kept. */
export function createIdentityProvider(options: IdentityProviderOptions): IdentityProvider {
  const { settings } = options;
  let known: Promise<oidc.Configuration> | null = null;
  let knownAt = 0;
  const configuration = (): Promise<oidc.Configuration> => {
    if (known === null || Date.now() - knownAt > DAY_MS) {
      knownAt = Date.now();
      const asked = discover(options);
      known = asked;
      asked.catch(() => {
        if (known === asked) known = null;
      });
    }
    return known;
  };
  return {
    begin: async ({ scopes }) => begin(await configuration(), settings, scopes),
    complete: async (query, begun) => complete(await configuration(), settings, { query, begun }),
    exchange: async (request) => exchange(await configuration(), settings, request),
    identityOf: async (idToken, nonce) =>
      identityOfToken(await configuration(), settings, { idToken, nonce }),
    async revoke(refreshToken) {
      const found = await configuration();
      if (found.serverMetadata().revocation_endpoint === undefined) return;
      await oidc.tokenRevocation(found, refreshToken, { token_type_hint: 'refresh_token' });
    },
    async signOutUrl(returnTo) {
      const found = await configuration();
      if (found.serverMetadata().end_session_endpoint === undefined) return null;
      return oidc.buildEndSessionUrl(found, { post_logout_redirect_uri: returnTo }).href;
    },
  };
}

async function discover({ http, settings }: IdentityProviderOptions): Promise<oidc.Configuration> {
  const { issuer, clientId, clientSecret, endpoints } = settings;
  const fetch = createProviderFetch(http, settings);
  const authentication = clientSecret === null ? oidc.None() : oidc.ClientSecretBasic(clientSecret);
  const isPlain = new URL(issuer).protocol === 'http:';
  if (endpoints !== null) {
    const server = {
      issuer,
      authorization_endpoint: endpoints.authorization,
      token_endpoint: endpoints.token,
      userinfo_endpoint: endpoints.userinfo,
    };
    const made = new oidc.Configuration(server, clientId, undefined, authentication);
    made.timeout = TIMEOUT_SECONDS;
    made[oidc.customFetch] = fetch;
    if (isPlain) oidc.allowInsecureRequests(made);
    return made;
  }
  try {
    return await oidc.discovery(new URL(issuer), clientId, undefined, authentication, {
      timeout: TIMEOUT_SECONDS,
      [oidc.customFetch]: fetch,
      ...(isPlain ? { execute: [oidc.allowInsecureRequests] } : {}),
    });
  } catch (cause) {
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the identity provider does not answer: try again', {
    retryAfter: 5,
    cause,
  });
}

async function begin(
  found: oidc.Configuration,
  { callbackUrl, endpoints, parameters }: IdentityProviderSettings,
  scopes: readonly string[],
): Promise<BegunSignIn> {
  const secrets = {
    state: oidc.randomState(),
    nonce: oidc.randomNonce(),
    verifier: oidc.randomPKCECodeVerifier(),
  };
  const offline = found.serverMetadata().scopes_supported?.includes('offline_access') ?? false;
  // A plain OAuth 2.0 server may refuse a scope that it does not know.
  const isOpenid = endpoints === null;
  const own = [...(isOpenid ? ['openid'] : []), ...scopes, ...(offline ? ['offline_access'] : [])];
  const asked = [...new Set(own)];
  const url = oidc.buildAuthorizationUrl(found, {
    redirect_uri: callbackUrl,
    ...(asked.length === 0 ? {} : { scope: asked.join(' ') }),
    state: secrets.state,
    ...(isOpenid ? { nonce: secrets.nonce } : {}),
    code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: 'S256',
    // Providers give a refresh token only after a consent that was asked for.
    ...(asked.includes('offline_access') ? { prompt: 'consent' } : {}),
    ...parameters,
  });
  return { url: url.href, scope: asked.join(' '), ...secrets };
}

async function complete(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  { query, begun }: { readonly query: string; readonly begun: SignInSecrets },
): Promise<ProvedIdentity> {
  // Of our own setting, never of the request's Host: the provider compares it with what it was told.
  const current = new URL(settings.callbackUrl);
  current.search = query;
  return granted(found, settings, {
    current,
    checks: {
      expectedState: begun.state,
      pkceCodeVerifier: begun.verifier,
      ...(settings.endpoints === null ? { expectedNonce: begun.nonce, idTokenExpected: true } : {}),
    },
  });
}

async function exchange(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  { code, verifier, redirectUri, nonce }: AppCode,
): Promise<ProvedIdentity> {
  if (!URL.canParse(redirectUri)) {
    throw new AppError(
      'BAD_USER_INPUT',
      'redirect_uri must be the address that the code was asked for with',
      {
        field: 'redirect_uri',
      },
    );
  }
  const current = new URL(redirectUri);
  const { issuer, authorization_response_iss_parameter_supported: namesItself } = found.serverMetadata();
  // The app was told who answers (RFC 9207); its verifier is what proves that the code is its own.
  current.search = new URLSearchParams({ code, ...(namesItself === true ? { iss: issuer } : {}) }).toString();
  current.hash = '';
  return granted(found, settings, {
    current,
    checks: {
      pkceCodeVerifier: verifier,
      ...(nonce === null ? {} : { expectedNonce: nonce }),
      ...(settings.endpoints === null ? { idTokenExpected: true } : {}),
    },
  });
}

async function granted(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  { current, checks }: { readonly current: URL; readonly checks: oidc.AuthorizationCodeGrantChecks },
): Promise<ProvedIdentity> {
  try {
    const tokens = await oidc.authorizationCodeGrant(found, current, checks);
    const claims = tokens.claims();
    const facts =
      claims !== undefined && typeof claims['email'] === 'string'
        ? claims
        : await userInfo(found, tokens.access_token, claims);
    return {
      identity: identityFrom(facts, settings),
      refreshToken: tokens.refresh_token ?? null,
      scope: tokens.scope ?? '',
    };
  } catch (error) {
    throw refusalOf(error);
  }
}

/** Where the ID token says little. An ID token that was there must be of the same person. */
async function userInfo(
  found: oidc.Configuration,
  accessToken: string,
  claims: oidc.IDToken | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (found.serverMetadata().userinfo_endpoint === undefined) return claims ?? {};
  const facts = await oidc.fetchUserInfo(found, accessToken, claims?.sub ?? oidc.skipSubjectCheck);
  return { ...claims, ...facts };
}

async function identityOfToken(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  token: { readonly idToken: string; readonly nonce: string | null },
): Promise<PlatformIdentity> {
  const { verifyIdToken } = await import('./id-tokens.ts');
  const metadata = found.serverMetadata();
  const { [oidc.customFetch]: fetch } = found;
  if (fetch === undefined) throw new AppError('INTERNAL', 'the identity provider is reached by no client');
  const claims = await verifyIdToken(token, {
    issuer: metadata.issuer,
    jwksUri: metadata.jwks_uri ?? null,
    audiences: [settings.clientId, ...settings.audiences],
    fetch,
  });
  return identityFrom(claims, settings);
}

function identityFrom(
  facts: Readonly<Record<string, unknown>>,
  { issuer }: IdentityProviderSettings,
): PlatformIdentity {
  const textOf = (name: string) =>
    typeof facts[name] === 'string' && facts[name] !== '' ? facts[name] : null;
  const subject = textOf('sub');
  if (subject === null)
    throw new AppError('UNAUTHENTICATED', 'the identity provider does not say who signed in');
  return {
    platform: 'idp',
    appId: issuer,
    subject,
    unionId: null,
    email: textOf('email'),
    name: textOf('name') ?? textOf('preferred_username'),
    picture: textOf('picture'),
    secret: null,
  };
}

/** The provider's refusals in our words; its own descriptions may hold anything and are not passed on. */
function refusalOf(error: unknown): unknown {
  if (error instanceof AppError) return error;
  if (error instanceof oidc.AuthorizationResponseError) {
    const isRefused = error.error === 'access_denied';
    return new AppError(
      isRefused ? 'UNAUTHENTICATED' : 'BAD_USER_INPUT',
      isRefused ? 'the sign-in was refused' : 'the identity provider did not sign anybody in: begin again',
      { cause: error },
    );
  }
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.WWWAuthenticateChallengeError) {
    return error.status >= 500
      ? unavailable(error)
      : new AppError('UNAUTHENTICATED', 'the identity provider did not take the code: begin again', {
          cause: error,
        });
  }
  if (error instanceof oidc.ClientError || error instanceof Error) {
    const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
    // A proxy's page in the provider's place, as well as no answer at all.
    const isOutage = cause instanceof Response && cause.status >= 500;
    const isTransport = code === 'OAUTH_TIMEOUT' || code === undefined || isOutage;
    return isTransport
      ? unavailable(error)
      : new AppError('UNAUTHENTICATED', 'the answer of the identity provider is not valid: begin again', {
          cause: error,
        });
  }
  return error;
}
