import { AppError } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import {
  BeginSignIn,
  CompleteSignIn,
  RefreshSession,
  RevokeSession,
  SigningKeys,
  SignInWithPlatform,
  SignOutUrl,
  Viewer,
} from '../documents/workflow/sign-in.ts';
import { done } from '../replies/envelopes.ts';
import { route, twoStepRoute } from '../route/define-route.ts';
import { json, path, query } from '../route/params.ts';
import type { RequestFacts, Section } from '../route/route.ts';
import { uri, anyOf, nullable, objectOf } from '../schemas/json-schema.ts';
import { browserSessions } from './auth-browser.ts';
import {
  readBearer,
  checkCallback,
  clearedCookie,
  prefersJson,
  signInCookie,
  signInData,
  signInSchema,
  userData,
  userSchema,
} from './shared/sign-in-replies.ts';

const optional = { optional: true } as const;
const body = { type: 'application/json', required: true } as const;

/** The addresses hold codes and tokens, which no later page may see as its referrer. */
const noReferrer = { 'Referrer-Policy': 'no-referrer' } as const;

/** A redirect, unless the request asks for JSON. */
function redirect(
  location: string | null,
  request: RequestFacts,
  headers: Readonly<Record<string, string>> = {},
) {
  if (location === null || prefersJson(request)) return { headers };
  return { status: 302, headers: { ...headers, Location: location } };
}

/** The body's names of the fields of `PlatformSignInInput`. */
const inputNames = {
  loginCode: 'login_code',
  idToken: 'id_token',
  codeVerifier: 'code_verifier',
  redirectUri: 'redirect_uri',
  appId: 'app_id',
  anonymousCode: 'anonymous_code',
} as const;

/** Sign-in. */
export const signIn: Section = {
  service: 'workflow',
  title: 'Sign-in',
  envelope: 'sign-in',
  routes: [
    route(BeginSignIn)({
      method: 'GET',
      path: '/auth/idp/authorize',
      summary: 'Sends the browser to the identity provider to sign in.',
      params: {
        redirect_url: query.text(optional),
        scopes: query.text({ fallback: 'openid,email,profile' }),
        code_challenge: query.text({ optional: true, extension: true }),
      },
      headers: noReferrer,
      redirects: true,
      variables: ({ redirect_url, scopes, code_challenge }) => ({
        redirectUrl: redirect_url,
        scopes: scopes.split(/[\s,]+/).filter((scope) => scope !== ''),
        codeChallenge: code_challenge,
      }),
      dataSchema: objectOf({ location: uri }),
      reply: ({ beginSignIn: { url } }) => done('sign in at the identity provider', { location: url }),
      head: ({ beginSignIn }) => ({
        status: 302,
        headers: { Location: beginSignIn.url, 'Set-Cookie': signInCookie(beginSignIn) },
      }),
    }),
    route(CompleteSignIn)({
      method: 'GET',
      path: '/auth/idp/callback',
      summary: 'Return address of the identity provider: signs the user in.',
      isSelfAuthenticating: true,
      readsRawQuery: true,
      params: { code: query.text(optional), state: query.text(optional), error: query.text(optional) },
      headers: noReferrer,
      variables(input, _, { rawQuery, headers }) {
        checkCallback(input);
        return { query: rawQuery, cookies: headers.cookie ?? '' };
      },
      mayRedirect: true,
      dataSchema: anyOf(signInSchema, objectOf({ location: uri })),
      reply: ({ completeSignIn: { signIn: signedIn, location } }) =>
        signedIn === null
          ? done('signed in: go to location, its login_code is for POST /auth/idp/token', { location })
          : done('signed in', signInData(signedIn)),
      head: ({ completeSignIn: { location, cookieName } }, { request }) =>
        redirect(location, request, { 'Set-Cookie': clearedCookie(cookieName) }),
    }),
    route(RefreshSession)({
      method: 'POST',
      path: '/auth/idp/refresh',
      summary: 'Exchanges a refresh token for new tokens.',
      isSelfAuthenticating: true,
      params: { refresh_token: json.text(), user_id: json.text(optional) },
      body,
      variables: ({ refresh_token, user_id }) => ({ refreshToken: refresh_token, userId: user_id || null }),
      dataSchema: signInSchema,
      reply: ({ refreshSession }) => done('new tokens', signInData(refreshSession)),
    }),
    route(Viewer)({
      method: 'GET',
      path: '/auth/idp/userinfo',
      summary: 'Returns the user of an access token.',
      rule: 'proof',
      // The gateway authenticates the token in the query as it does the one in the header.
      params: { access_token: query.text(optional) },
      headers: noReferrer,
      variables: () => ({}),
      dataSchema: userSchema,
      reply({ viewer }) {
        if (viewer === null) {
          throw new AppError('UNAUTHENTICATED', 'send the access token of somebody who has signed in');
        }
        return done('success', userData(viewer));
      },
    }),
    route(RevokeSession)({
      method: 'POST',
      path: '/auth/idp/revoke',
      summary: 'Closes the session of a token.',
      isSelfAuthenticating: true,
      params: { token: json.text(), user_id: json.text(optional) },
      body,
      fieldNames: { userId: 'user_id' },
      variables: ({ token, user_id }) => ({ token, userId: user_id || null }),
      reply: () => done('the session is closed'),
    }),
    route(SignInWithPlatform)({
      method: 'POST',
      path: '/auth/idp/token',
      summary: 'Signs in with a login code, an ID token or a code, without a browser.',
      extension: true,
      params: {
        login_code: json.text(optional),
        id_token: json.text(optional),
        nonce: json.text(optional),
        code: json.text(optional),
        code_verifier: json.text(optional),
        redirect_uri: json.text(optional),
      },
      body,
      fieldNames: inputNames,
      variables: ({ login_code, id_token, nonce, code, code_verifier, redirect_uri }) => ({
        input: {
          platform: 'idp',
          loginCode: login_code,
          idToken: id_token,
          nonce,
          code,
          codeVerifier: code_verifier,
          redirectUri: redirect_uri,
        },
      }),
      dataSchema: signInSchema,
      reply: ({ signInWithPlatform }) => done('signed in', signInData(signInWithPlatform)),
    }),
    route(SignInWithPlatform)({
      method: 'POST',
      path: '/auth/{platform}/token',
      summary: 'Signs in with the code of a mini-program platform.',
      extension: true,
      params: {
        platform: path.text(),
        app_id: json.text(optional),
        code: json.text(optional),
        anonymous_code: json.text(optional),
      },
      body,
      fieldNames: inputNames,
      variables: ({ platform, app_id, code, anonymous_code }) => ({
        input: { platform, appId: app_id, code, anonymousCode: anonymous_code },
      }),
      dataSchema: signInSchema,
      reply: ({ signInWithPlatform }) => done('signed in', signInData(signInWithPlatform)),
    }),
    twoStepRoute(
      RevokeSession,
      SignOutUrl,
    )({
      method: 'GET',
      path: '/auth/idp/logout',
      summary: 'Signs out, and returns the sign-out address of the identity provider.',
      extension: true,
      rule: 'proof',
      headers: noReferrer,
      mayRedirect: true,
      // Only a header closes a session: a link or an image on somebody's page can't send one.
      first(_, { headers }) {
        const token = readBearer(headers);
        return token === null ? null : { token };
      },
      variables: () => ({}),
      dataSchema: objectOf({ location: nullable(uri) }),
      reply: ({ signOutUrl }) => done('sign out at the identity provider as well', { location: signOutUrl }),
      head: ({ signOutUrl }, { request }) => redirect(signOutUrl, request),
    }),
    ...browserSessions,
    route(SigningKeys)({
      method: 'GET',
      path: '/.well-known/jwks.json',
      summary: 'Lists the public keys of the access tokens.',
      extension: true,
      isBare: true,
      responseSchema: 'JsonWebKeySet',
      variables: () => ({}),
      reply: ({ signingKeys }) => signingKeys as JsonObject,
      // The next key is published a day before it signs.
      head: () => ({ headers: { 'Cache-Control': 'public, max-age=300' } }),
    }),
  ],
};
