import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { PlatformIdentity } from '../../domain/sign-in.ts';

/** The identity provider (OpenID Connect), asked when somebody signs in and never at the start. */
export interface IdentityProvider {
  /** Where the browser is sent, and what must be remembered for its return. */
  begin(request: { readonly scopes: readonly string[] }): Promise<StartedSignIn>;
  /** Who came back. `query` is what the provider appended to the callback's address. UNAUTHENTICATED, BAD_USER_INPUT, UNAVAILABLE. */
  complete(query: string, begun: SignInSecrets): Promise<VerifiedIdentity>;
  /** Who an ID token of a native app names. UNAUTHENTICATED. */
  identityOf(idToken: string, nonce: string | null): Promise<PlatformIdentity>;
  /** Exchanges a code that a native app got by itself. UNAUTHENTICATED. */
  exchange(request: AppCode): Promise<VerifiedIdentity>;
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

/** The page to send the browser to, and the secrets that its return is checked with. */
export interface StartedSignIn extends SignInSecrets {
  readonly url: string;
  /** What was asked for, separated by blanks. */
  readonly scope: string;
}

/** A code that an app has got from the provider itself. */
export interface AppCode {
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly nonce: string | null;
}

/** Who it is, as the provider has signed it. */
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
  readonly internalUrl: string | null;
}
