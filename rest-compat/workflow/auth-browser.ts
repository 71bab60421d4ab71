import { RefreshSession, RevokeSession, SignInWithPlatform } from '../documents/workflow/sign-in.ts';
import { done } from '../replies/workflow-envelope.ts';
import { route } from '../route/define-route.ts';
import { json } from '../route/params.ts';
import type { Route } from '../route/route.ts';
import {
  checkSameOrigin,
  clearedRefreshCookie,
  refreshCookie,
  refreshTokenOf,
} from './shared/refresh-cookie.ts';
import { browserSignInData, browserSignInSchema } from './shared/sign-in-replies.ts';

const body = { type: 'application/json', required: true } as const;
const noReferrer = { 'Referrer-Policy': 'no-referrer' } as const;

/**
 * Sessions of web applications on Kiln's own origin, as the console: scripts hold the access token alone, the refresh token
 * is in a cookie that they can't read and other sites can't send.
 */
export const browserSessions: readonly Route[] = [
  route(SignInWithPlatform)({
    method: 'POST',
    path: '/auth/browser/token',
    summary: 'Signs in with a login code; the refresh token goes into an HttpOnly cookie.',
    extension: true,
    isSelfAuthenticating: true,
    params: { login_code: json.text(), code_verifier: json.text({ optional: true }) },
    body,
    fieldNames: { loginCode: 'login_code', codeVerifier: 'code_verifier' },
    headers: noReferrer,
    variables({ login_code, code_verifier }, _, { headers }) {
      checkSameOrigin(headers);
      return { input: { platform: 'idp', loginCode: login_code, codeVerifier: code_verifier } };
    },
    dataSchema: browserSignInSchema,
    reply: ({ signInWithPlatform }) => done('signed in', browserSignInData(signInWithPlatform)),
    head: ({ signInWithPlatform: { refreshToken } }, { settings }) => ({
      headers: { 'Set-Cookie': refreshCookie(refreshToken, settings) },
    }),
  }),
  route(RefreshSession)({
    method: 'POST',
    path: '/auth/browser/refresh',
    summary: 'Exchanges the refresh token of the cookie for a new access token.',
    extension: true,
    isSelfAuthenticating: true,
    headers: noReferrer,
    variables: (_, __, { headers }) => ({ refreshToken: refreshTokenOf(headers) }),
    dataSchema: browserSignInSchema,
    reply: ({ refreshSession }) => done('new tokens', browserSignInData(refreshSession)),
    head: ({ refreshSession: { refreshToken } }, { settings }) => ({
      headers: { 'Set-Cookie': refreshCookie(refreshToken, settings) },
    }),
  }),
  route(RevokeSession)({
    method: 'POST',
    path: '/auth/browser/revoke',
    summary: 'Closes the session of the cookie, and deletes the cookie.',
    extension: true,
    isSelfAuthenticating: true,
    headers: noReferrer,
    variables: (_, __, { headers }) => ({ token: refreshTokenOf(headers) }),
    reply: () => done('the session is closed'),
    head: (_, { settings }) => ({ headers: { 'Set-Cookie': clearedRefreshCookie(settings) } }),
  }),
];
