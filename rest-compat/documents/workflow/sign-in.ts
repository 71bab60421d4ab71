import { type DataOf, graphql } from '../graphql.ts';

/** The GraphQL documents about signing in. */

const userFields = graphql(`
  fragment UserFields on User {
    id
    email
    name
    picture
    subject
  }
`);

/** Who has signed in. */
export type UserFields = DataOf<typeof userFields>;

const signInFields = graphql(
  `
    fragment SignInFields on SignIn {
      user {
        ...UserFields
      }
      accessToken
      refreshToken
      expiresIn
      scope
    }
  `,
  [userFields],
);

/** A session that was opened or renewed. */
export type SignInFields = DataOf<typeof signInFields>;

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
          ...SignInFields
        }
        location
        cookieName
      }
    }
  `,
  [signInFields],
);

/** New tokens for a refresh token. */
export const RefreshSession = graphql(
  `
    mutation RefreshSession($refreshToken: String!, $userId: ID) {
      refreshSession(refreshToken: $refreshToken, userId: $userId) {
        ...SignInFields
      }
    }
  `,
  [signInFields],
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
        ...SignInFields
      }
    }
  `,
  [signInFields],
);

/** Who is asking. */
export const Viewer = graphql(
  `
    query Viewer {
      viewer {
        ...UserFields
      }
    }
  `,
  [userFields],
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
