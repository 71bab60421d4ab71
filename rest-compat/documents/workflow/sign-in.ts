import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents about signing in. */

const userAnswer = graphql(`
  fragment UserAnswer on User {
    id
    email
    name
    picture
    subject
  }
`);

/** Who has signed in. */
export type UserAnswer = DataOf<typeof userAnswer>;

const signInAnswer = graphql(
  `
    fragment SignInAnswer on SignIn {
      user {
        ...UserAnswer
      }
      accessToken
      refreshToken
      expiresIn
      scope
    }
  `,
  [userAnswer],
);

/** A session that was opened or renewed. */
export type SignInAnswer = DataOf<typeof signInAnswer>;

/** Off to the identity provider. */
export const BeginSignIn = graphql(`
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
export const CompleteSignIn = graphql(
  `
    mutation CompleteSignIn($query: String!, $cookies: String!) {
      completeSignIn(query: $query, cookies: $cookies) {
        signIn {
          ...SignInAnswer
        }
        location
        cookieName
      }
    }
  `,
  [signInAnswer],
);

/** New tokens for a refresh token. */
export const RefreshSession = graphql(
  `
    mutation RefreshSession($refreshToken: String!, $userId: ID) {
      refreshSession(refreshToken: $refreshToken, userId: $userId) {
        ...SignInAnswer
      }
    }
  `,
  [signInAnswer],
);

/** Closes the session of a token. */
export const RevokeSession = graphql(`
  mutation RevokeSession($token: String!, $userId: ID) {
    revokeSession(token: $token, userId: $userId)
  }
`);

/** Signs in with what a platform, a native app or a redirect gave. */
export const SignInWithPlatform = graphql(
  `
    mutation SignInWithPlatform($input: PlatformSignInInput!) {
      signInWithPlatform(input: $input) {
        ...SignInAnswer
      }
    }
  `,
  [signInAnswer],
);

/** Who is asking. */
export const Viewer = graphql(
  `
    query Viewer {
      viewer {
        ...UserAnswer
      }
    }
  `,
  [userAnswer],
);

/** The public keys of our access tokens. */
export const SigningKeys = graphql(`
  query SigningKeys {
    signingKeys
  }
`);

/** The identity provider's own page for signing out. */
export const SignOutUrl = graphql(`
  query SignOutUrl {
    signOutUrl
  }
`);
