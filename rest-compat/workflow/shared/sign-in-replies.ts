import type { IncomingHttpHeaders } from 'node:http';

import { AppError } from '../../../platform/errors.ts';
import type { SignInFields, UserFields } from '../../documents/workflow/sign-in.ts';
import type { RequestFacts } from '../../route/route.ts';
import { enumOf, integer, nullable, objectOf, pick, string } from '../../schemas/json-schema.ts';

/** Replies of sign-in: users, tokens, cookies. Pure. */

/** The schema of a user; `sub` is their id at the identity provider. */
export const userSchema = objectOf({
  id: string,
  email: nullable(string),
  name: nullable(string),
  picture: nullable(string),
  sub: nullable(string),
});

/** A user, as userSchema says. */
export function userData(user: UserFields): object {
  return pick(userSchema, { ...user, sub: user.subject });
}

/** Tokens and their user, as signInSchema says. */
export function signInData({ user, accessToken, refreshToken, expiresIn, scope }: SignInFields): object {
  return {
    user: userData(user),
    access_token: accessToken,
    refresh_token: refreshToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    scope,
  };
}

/** The schema of tokens and their user. */
export const signInSchema = objectOf({
  user: userSchema,
  access_token: string,
  refresh_token: string,
  token_type: enumOf('Bearer'),
  expires_in: integer,
  scope: string,
});

/** Tokens for a browser, whose refresh token is in a cookie, as browserSignInSchema says. */
export function browserSignInData({ user, accessToken, expiresIn, scope }: SignInFields): object {
  return {
    user: userData(user),
    access_token: accessToken,
    token_type: 'Bearer',
    expires_in: expiresIn,
    scope,
  };
}

/** The schema of tokens for a browser. */
export const browserSignInSchema = objectOf({
  user: userSchema,
  access_token: string,
  token_type: enumOf('Bearer'),
  expires_in: integer,
  scope: string,
});

/** Whether the request accepts JSON and no page, so that a redirect is replied as JSON. */
export function prefersJson({ headers: { accept = '' } }: Pick<RequestFacts, 'headers'>): boolean {
  return /\bapplication\/json\b/i.test(accept) && !/\btext\/html\b|\bapplication\/xhtml\+xml\b/i.test(accept);
}

/** The bearer token of the Authorization header; null when there is none. */
export function readBearer({ authorization = '' }: IncomingHttpHeaders): string | null {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? null;
}

/**
 * The cookie that binds a sign-in to the browser that began it. Lax, as the callback is a navigation from the identity
 * provider; its path is `/`, as `__Host-` requires.
 */
export function signInCookie({
  cookieName,
  cookieValue,
  maxAge,
}: {
  readonly cookieName: string;
  readonly cookieValue: string;
  /** Seconds. */
  readonly maxAge: number;
}): string {
  const secure = cookieName.startsWith('__Host-') ? '; Secure' : '';
  return `${cookieName}=${cookieValue}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
}

/** A Set-Cookie that deletes the sign-in cookie. */
export function clearedCookie(cookieName: string): string {
  return signInCookie({ cookieName, cookieValue: '', maxAge: 0 });
}

/** Checks the parameters of the identity provider's callback. Throws UNAUTHENTICATED for an error without a state, else BAD_USER_INPUT. */
export function checkCallback(input: {
  readonly code: string | undefined;
  readonly state: string | undefined;
  readonly error: string | undefined;
}): void {
  if (input.error !== undefined) {
    if (input.state !== undefined) return;
    throw new AppError('UNAUTHENTICATED', 'the identity provider did not sign anybody in: begin again');
  }
  const missing = (['code', 'state'] as const).filter((name) => input[name] === undefined);
  if (missing.length === 0) return;
  throw new AppError('BAD_USER_INPUT', `${missing.join(' and ')} missing: begin at /auth/idp/authorize`, {
    problems: missing.map((field) => ({ field, message: 'is needed, unless there is an error' })),
  });
}
