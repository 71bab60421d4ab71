import * as oidc from 'openid-client';

import { AppError } from '../../../../platform/errors.ts';
import type { PlatformIdentity } from '../../domain/sign-in.ts';
import { toAppError } from './errors.ts';
import { verifyIdToken } from './id-tokens.ts';
import type {
  AppCode,
  StartedSignIn,
  IdentityProviderSettings,
  VerifiedIdentity,
  SignInSecrets,
} from './identity-provider.ts';

/** The address of the login page, and the secrets that verify the callback. */
export async function begin(
  found: oidc.Configuration,
  { callbackUrl, endpoints, parameters }: IdentityProviderSettings,
  scopes: readonly string[],
): Promise<StartedSignIn> {
  const secrets = {
    state: oidc.randomState(),
    nonce: oidc.randomNonce(),
    verifier: oidc.randomPKCECodeVerifier(),
  };
  const offline = found.serverMetadata().scopes_supported?.includes('offline_access') ?? false;
  // A plain OAuth 2.0 server may refuse a scope that it does not know.
  const isOpenid = endpoints === null;
  const own = [...(isOpenid ? ['openid'] : []), ...scopes, ...(offline ? ['offline_access'] : [])];
  const requested = [...new Set(own)];
  const url = oidc.buildAuthorizationUrl(found, {
    redirect_uri: callbackUrl,
    ...(requested.length === 0 ? {} : { scope: requested.join(' ') }),
    state: secrets.state,
    ...(isOpenid ? { nonce: secrets.nonce } : {}),
    code_challenge: await oidc.calculatePKCECodeChallenge(secrets.verifier),
    code_challenge_method: 'S256',
    // Providers issue a refresh token only with an explicit consent.
    ...(requested.includes('offline_access') ? { prompt: 'consent' } : {}),
    ...parameters,
  });
  return { url: url.href, scope: requested.join(' '), ...secrets };
}

/** The identity of a callback. */
export async function complete(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  { query, begun }: { readonly query: string; readonly begun: SignInSecrets },
): Promise<VerifiedIdentity> {
  // From the settings, not from the request's Host: the provider compares it with the registered address.
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

/** The identity of a native app's code. */
export async function exchange(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  { code, verifier, redirectUri, nonce }: AppCode,
): Promise<VerifiedIdentity> {
  if (!URL.canParse(redirectUri)) {
    throw new AppError(
      'BAD_USER_INPUT',
      'redirectUri must be the address that the code was requested for with',
      {
        field: 'redirectUri',
      },
    );
  }
  const current = new URL(redirectUri);
  const { issuer, authorization_response_iss_parameter_supported: namesItself } = found.serverMetadata();
  // The app has checked the issuer (RFC 9207); the verifier proves that the code is its own.
  current.search = new URLSearchParams({ code, ...(namesItself === true ? { iss: issuer } : {}) }).toString();
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
): Promise<VerifiedIdentity> {
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
    throw toAppError(error);
  }
}

/** Adds the claims of the userinfo endpoint; its subject must be that of the ID token. */
async function userInfo(
  found: oidc.Configuration,
  accessToken: string,
  claims: oidc.IDToken | undefined,
): Promise<Readonly<Record<string, unknown>>> {
  if (found.serverMetadata().userinfo_endpoint === undefined) return claims ?? {};
  const facts = await oidc.fetchUserInfo(found, accessToken, claims?.sub ?? oidc.skipSubjectCheck);
  return { ...claims, ...facts };
}

/** The identity of an ID token. */
export async function identityOfToken(
  found: oidc.Configuration,
  settings: IdentityProviderSettings,
  token: { readonly idToken: string; readonly nonce: string | null },
): Promise<PlatformIdentity> {
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
  const readText = (name: string) =>
    typeof facts[name] === 'string' && facts[name] !== '' ? facts[name] : null;
  const subject = readText('sub');
  if (subject === null)
    throw new AppError('UNAUTHENTICATED', 'the identity provider does not say who signed in');
  return {
    platform: 'idp',
    appId: issuer,
    subject,
    unionId: null,
    email: readText('email'),
    name: readText('name') ?? readText('preferred_username'),
    picture: readText('picture'),
    secret: null,
  };
}
