import type { IncomingHttpHeaders } from 'node:http';

import { AppError } from '../../../platform/errors.ts';
import type { RestSettings } from '../../route/route.ts';

/** The cookie with the refresh token of a browser's session, and who may send it. Pure. */

const NAME = 'kiln-refresh';
/** As long as a session that nobody refreshes. */
const MAX_AGE_SECONDS = 30 * 86_400;

type Place = Pick<RestSettings, 'publicUrl'>;

/** A Set-Cookie with the token: for scripts of no page, for requests of no other site, for the paths that read it. */
export function refreshCookie(token: string, place: Place): string {
  return formatCookie(token, MAX_AGE_SECONDS, place);
}

/** A Set-Cookie that deletes it. */
export function clearedRefreshCookie(place: Place): string {
  return formatCookie('', 0, place);
}

function formatCookie(value: string, maxAge: number, { publicUrl }: Place): string {
  const { protocol, pathname } = new URL(publicUrl);
  const path = `${pathname.replace(/\/+$/, '')}/auth/browser`;
  const secure = protocol === 'https:' ? '; Secure' : '';
  return `${NAME}=${value}; Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
}

/** The token of the cookie. FORBIDDEN when a page of another origin asks; UNAUTHENTICATED without a cookie. */
export function refreshTokenOf(headers: IncomingHttpHeaders): string {
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
export function checkSameOrigin({ origin, host, ...headers }: IncomingHttpHeaders): void {
  const site = headers['sec-fetch-site'];
  const isOwn =
    site === undefined
      ? origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
      : site === 'same-origin';
  if (!isOwn) throw new AppError('FORBIDDEN', 'only pages of this origin may use the session of a browser');
}
