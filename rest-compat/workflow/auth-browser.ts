import type { IncomingHttpHeaders } from 'node:http';

import { AppError } from '../../platform/errors.ts';
import { RefreshSession, RevokeSession, SignInWithPlatform } from '../documents/workflow/sign-in.ts';
import { done } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { json } from '../route/params.ts';
import type { Route, RestSettings } from '../route/route.ts';
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
    variables: (_, __, { headers }) => ({ refreshToken: readRefreshCookie(headers) }),
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
    variables: (_, __, { headers }) => ({ token: readRefreshCookie(headers) }),
    reply: () => done('the session is closed'),
    head: (_, { settings }) => ({ headers: { 'Set-Cookie': clearedRefreshCookie(settings) } }),
  }),
];

/** The cookie with the refresh token of a browser's session, and who may send it. Pure. */

const NAME = 'kiln-refresh';
/** As long as a session that nobody refreshes. */
const MAX_AGE_SECONDS = 30 * 86_400;

type Place = Pick<RestSettings, 'publicUrl'>;

/** A Set-Cookie with the token: for scripts of no page, for requests of no other site, for the paths that read it. */
function refreshCookie(token: string, place: Place): string {
  return formatCookie(token, MAX_AGE_SECONDS, place);
}

/** A Set-Cookie that deletes it. */
function clearedRefreshCookie(place: Place): string {
  return formatCookie('', 0, place);
}

function formatCookie(value: string, maxAge: number, { publicUrl }: Place): string {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/+$/, '')}/auth/browser`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  return `${NAME}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/** The token of the cookie. FORBIDDEN when a page of another origin asks; UNAUTHENTICATED without a cookie. */
function readRefreshCookie(headers: IncomingHttpHeaders): string {
  checkSameOrigin(headers);
  const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim().split('='));
  const token = pairs.find(([name]) => name === NAME)?.[1] ?? '';
  if (token === '') throw new AppError('UNAUTHENTICATED', 'there is no session in this browser: sign in');
  return token;
}

/**
 * Refuses requests of pages of other origins. SameSite lets other ports and subdomains of this host through, so the
 * browser's own word on the origin is read as well; programs send neither. FORBIDDEN.
 */
function checkSameOrigin({ origin, host, ...headers }: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined
      ? origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
      : site === 'same-origin';
  if (!isOwn) throw new AppError('FORBIDDEN', 'only pages of this origin may use the session of a browser');
}
