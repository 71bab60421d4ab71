import { operation } from '../../route/route.ts';

/** The GraphQL documents about signing in. */

/** Who has signed in. */
export interface UserAnswer {
  readonly id: string;
  readonly email: string | null;
  readonly name: string | null;
  readonly picture: string | null;
  readonly subject: string | null;
}

/** A session that was opened or renewed. */
export interface SignInAnswer {
  readonly user: UserAnswer;
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds. */
  readonly expiresIn: number;
  /** Separated by blanks. */
  readonly scope: string;
}

const userAnswer = /* GraphQL */ `
  fragment UserAnswer on User {
    id
    email
    name
    picture
    subject
  }
`;

const signInAnswer = /* GraphQL */ `
  fragment SignInAnswer on SignIn {
    user {
      ...UserAnswer
    }
    accessToken
    refreshToken
    expiresIn
    scope
  }
  ${userAnswer}
`;

/** Off to the identity provider. */
export const BeginSignIn = operation<
  {
    readonly beginSignIn: {
      readonly url: string;
      readonly cookieName: string;
      readonly cookieValue: string;
      readonly maxAge: number;
    };
  },
  {
    readonly redirectUrl: string | null;
    readonly scopes: readonly string[];
    readonly codeChallenge: string | null;
  }
>(/* GraphQL */ `
  mutation BeginSignIn($redirectUrl: String, $scopes: [String!], $codeChallenge: String) {
    beginSignIn(redirectUrl: $redirectUrl, scopes: $scopes, codeChallenge: $codeChallenge) {
      url
      cookieName
      cookieValue
      maxAge
    }
  }
`);

/** Back from the identity provider. */
export const CompleteSignIn = operation<
  {
    readonly completeSignIn: {
      readonly signIn: SignInAnswer | null;
      readonly location: string | null;
      readonly cookieName: string;
    };
  },
  { readonly query: string; readonly cookies: string }
>(/* GraphQL */ `
  mutation CompleteSignIn($query: String!, $cookies: String!) {
    completeSignIn(query: $query, cookies: $cookies) {
      signIn {
        ...SignInAnswer
      }
      location
      cookieName
    }
  }
  ${signInAnswer}
`);

/** New tokens for a refresh token. */
export const RefreshSession = operation<
  { readonly refreshSession: SignInAnswer },
  { readonly refreshToken: string; readonly userId: string | null }
>(/* GraphQL */ `
  mutation RefreshSession($refreshToken: String!, $userId: ID) {
    refreshSession(refreshToken: $refreshToken, userId: $userId) {
      ...SignInAnswer
    }
  }
  ${signInAnswer}
`);

/** Closes the session of a token. */
export const RevokeSession = operation<
  { readonly revokeSession: boolean },
  { readonly token: string; readonly userId: string | null }
>(/* GraphQL */ `
  mutation RevokeSession($token: String!, $userId: ID) {
    revokeSession(token: $token, userId: $userId)
  }
`);

interface PlatformSignInInput {
  readonly platform: string;
  readonly appId?: string | undefined;
  readonly code?: string | undefined;
  readonly anonymousCode?: string | undefined;
  readonly idToken?: string | undefined;
  readonly nonce?: string | undefined;
  readonly loginCode?: string | undefined;
  readonly codeVerifier?: string | undefined;
  readonly redirectUri?: string | undefined;
}

/** Signs in with what a platform, a native app or a redirect gave. */
export const SignInWithPlatform = operation<
  { readonly signInWithPlatform: SignInAnswer },
  { readonly input: PlatformSignInInput }
>(/* GraphQL */ `
  mutation SignInWithPlatform($input: PlatformSignInInput!) {
    signInWithPlatform(input: $input) {
      ...SignInAnswer
    }
  }
  ${signInAnswer}
`);

/** Who is asking. */
export const Viewer = operation<{ readonly viewer: UserAnswer | null }, Record<string, never>>(/* GraphQL */ `
  query Viewer {
    viewer {
      ...UserAnswer
    }
  }
  ${userAnswer}
`);

/** The public keys of our access tokens. */
export const SigningKeys = operation<{ readonly signingKeys: object }, Record<string, never>>(/* GraphQL */ `
  query SigningKeys {
    signingKeys
  }
`);

interface SignOutAnswer {
  readonly signOutUrl: string | null;
}

/** The identity provider's own page for signing out. */
export const SignOutUrl = operation<SignOutAnswer, Record<string, never>>(/* GraphQL */ `
  query SignOutUrl {
    signOutUrl
  }
`);
