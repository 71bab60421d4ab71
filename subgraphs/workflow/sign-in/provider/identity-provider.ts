import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { PlatformIdentity } from '../../domain/sign-in.ts';

/** A client of the identity provider (OpenID Connect). It makes no call at the start of the process. */
export interface IdentityProvider {
  /** Starts a sign-in: the address of the login page, and the secrets for the callback. */
  begin(request: { readonly scopes: readonly string[] }): Promise<StartedSignIn>;
  /** Verifies a callback by its query string. UNAUTHENTICATED, BAD_USER_INPUT, UNAVAILABLE. */
  complete(query: string, begun: SignInSecrets): Promise<VerifiedIdentity>;
  /** Verifies an ID token of a native app. UNAUTHENTICATED. */
  readIdentity(idToken: string, nonce: string | null): Promise<PlatformIdentity>;
  /** Exchanges a code of a native app. UNAUTHENTICATED. */
  exchange(request: AppCode): Promise<VerifiedIdentity>;
  /** Revokes a refresh token, if the provider supports it. */
  revoke(refreshToken: string): Promise<void>;
  /** The provider's sign-out page; null when it has none. */
  signOutUrl(returnTo: string): Promise<string | null>;
}

/** The secrets that a callback is verified with. */
export interface SignInSecrets {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** A started sign-in: the login page, and the secrets for the callback. */
export interface StartedSignIn extends SignInSecrets {
  readonly url: string;
  /** The requested scopes, separated by spaces. */
  readonly scope: string;
}

/** An authorization code of a native app. */
export interface AppCode {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly nonce: string | null;
}

/** An identity verified by the provider, with its grants. */
export interface VerifiedIdentity {
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
  /** The callback address registered at the provider. */
  readonly callbackUrl: string;
  /** Endpoints set by hand, for providers without a discovery document; then no ID token is expected. */
  readonly endpoints: {
    readonly authorization: string;
    readonly token: string;
    readonly userinfo: string;
  } | null;
  /** Address of the public keys of its access tokens, which agents sign in with; absent or null: they do not. */
  readonly jwks?: string | null;
  /** Client ids of native apps whose ID tokens and codes are taken. */
  readonly audiences: readonly string[];
  /** Extra parameters of the authorization request. */
  readonly parameters: Readonly<Record<string, string>>;
  /** The issuer's address for this process, when it differs from the public one (the embedded sandbox). */
  readonly internalUrl: string | null;
  /** How long it may take for an answer, in milliseconds (default 5,000). */
  readonly timeoutMs?: number;
}
