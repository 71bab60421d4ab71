import { describe, expect, it } from 'vitest';

import {
  browserSignInData,
  clearedCookie,
  prefersJson,
  readBearer,
  signInCookie,
} from './sign-in-replies.ts';

describe('what a sign-in reads and sets', () => {
  it.each([
    ['application/json', true],
    ['APPLICATION/JSON; q=0.9', true],
    ['text/html, application/json', false],
    ['application/xhtml+xml,application/json', false],
    ['*/*', false],
    [undefined, false],
  ])('replies to %s as JSON: %s', (accept, expected) => {
    expect(prefersJson({ headers: accept === undefined ? {} : { accept } })).toBe(expected);
  });

  it.each([
    ['Bearer kiln_1', 'kiln_1'],
    ['bearer   a.b.c  ', 'a.b.c'],
    ['Bearer a b', null],
    ['Basic YTpi', null],
    ['Bearer ', null],
    [undefined, null],
  ])('reads the token of %s', (authorization, expected) => {
    expect(readBearer(authorization === undefined ? {} : { authorization })).toBe(expected);
  });

  it('gives a browser its tokens but for the one that is in a cookie', () => {
    const user = { id: 'usr_1', email: null, name: 'Ada', picture: null };
    const signIn = { user, accessToken: 'a', refreshToken: 'r', expiresIn: 60, scope: 'openid' };
    expect(browserSignInData(signIn as never)).toEqual({
      user: expect.objectContaining({ name: 'Ada' }),
      access_token: 'a',
      token_type: 'Bearer',
      expires_in: 60,
      scope: 'openid',
    });
  });

  it('binds a sign-in by a cookie that scripts can not read, secure where its name asks for it', () => {
    const cookie = { cookieValue: 'v', maxAge: 600 };
    expect(signInCookie({ ...cookie, cookieName: 'kiln' })).toBe(
      'kiln=v; Path=/; Max-Age=600; HttpOnly; SameSite=Lax',
    );
    expect(signInCookie({ ...cookie, cookieName: '__Host-kiln' })).toBe(
      '__Host-kiln=v; Path=/; Max-Age=600; HttpOnly; SameSite=Lax; Secure',
    );
    expect(clearedCookie('kiln')).toBe('kiln=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax');
  });
});
