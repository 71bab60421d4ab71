import { generateKeyPair } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';

import { createEncryption } from '../secrets/encryption.ts';
import { type CallerFinderOptions, createCallerFinder } from './find-caller.ts';
import { createAccessTokens, isSameToken, readRefreshToken, signRefreshToken, tokenPart } from './tokens.ts';

/** Credentials by their form and time, without a database. */

const issuer = 'https://kiln.example.org';
let own: Awaited<ReturnType<typeof generateKeyPair>>;
beforeAll(async () => {
  own = await generateKeyPair('EdDSA');
});

const tokensAt = (milliseconds: number) =>
  createAccessTokens({
    keys: {
      current: async () => ({ kid: 'own', key: own.privateKey }),
      publicKey: async (kid) => (kid === 'own' ? own.publicKey : null),
      published: async () => [],
    },
    issuer,
    seconds: 900,
    now: () => new Date(milliseconds),
  });

describe('an access token', () => {
  const claims = { userId: 'usr_bob', sessionId: 'ses_1', scope: 'openid', platform: 'idp' } as const;

  it('is good for its time and five seconds more, for clocks differ', async () => {
    const token = await tokensAt(1_700_000_000_999).sign(claims);
    const { platform: _, ...said } = claims;
    const expiresAt = new Date(1_700_000_900_000);
    expect(await tokensAt(1_700_000_904_000).verify(token)).toEqual({ ...said, expiresAt });
    expect(await tokensAt(1_700_000_905_000).verify(token)).toBeNull();
  });

  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const body = part({ iss: issuer });
  const ours = part({ typ: 'at+jwt', alg: 'EdDSA' });
  const others = part({ typ: 'at+jwt', alg: 'RS256' });
  it.each([
    [true, `${ours}.${part({})}.s`],
    [true, `${others}.${body}.s`],
    [false, `${others}.${part({ iss: 'https://old.example.org' })}.s`],
    [false, `${part({ typ: 'JWT', alg: 'EdDSA' })}.${body}.s`],
    [false, `${ours}.${body}.s.more`],
    [false, `${ours}.${body}.`],
    [false, `${ours}..s`],
    [false, `.${body}.s`],
    [false, `${ours}.${body}`],
    [false, `${part(null)}.${body}.s`],
    [false, `nothing.${body}.s`],
  ])('is one of ours by its form: %s for %s', (isOurs, token) => {
    expect(tokensAt(0).isOurs(token)).toBe(isOurs);
  });

  it.each([null, 7, 'text'])('has no claims in %j', (value) => {
    expect(tokenPart(part(value))).toEqual({});
  });
});

describe('a refresh token', () => {
  it('is read as it was signed, and nothing else is', () => {
    const parts = { sessionId: 'ses_1', generation: 12 };
    const sign = (change: object = {}) =>
      signRefreshToken(Buffer.alloc(32, 7), { ...parts, salt: 'salt', ...change });
    expect(readRefreshToken(sign())).toEqual(parts);
    for (const other of [{ generation: 13 }, { salt: 'more' }, { sessionId: 'ses_2' }])
      expect(isSameToken(sign(), sign(other))).toBe(false);
    expect([isSameToken(sign(), sign()), isSameToken(sign(), `${sign()}.`)]).toEqual([true, false]);
    for (const wrong of ['', 'ses_1', sign().replace('.12.', '.012.'), `${sign()}x`])
      expect(readRefreshToken(wrong)).toBeNull();
  });
});

describe('a credential', () => {
  const asked: string[] = [];
  const find = createCallerFinder({
    tokens: tokensAt(0),
    keys: { find: async (secret: string) => (asked.push(secret), null) },
    foreign: [],
  } as unknown as CallerFinderOptions);

  it('is looked at as far as one may be long', async () => {
    const longest = 'k'.repeat(4_096);
    expect([await find(longest), await find(`${longest}k`)]).toEqual([null, null]);
    expect(asked).toEqual([longest]);
  });
});

describe('what is sealed', () => {
  it('is opened by its secret for its purpose, while it is whole and not too long', async () => {
    const seal = createEncryption('secret', 'cookies');
    const sealed = await seal.encrypt({ a: [1] });
    expect(await seal.decrypt(sealed)).toEqual({ a: [1] });
    expect(sealed).not.toBe(await seal.encrypt({ a: [1] }));
    for (const other of [createEncryption('secret', 'tokens'), createEncryption('other', 'cookies')])
      expect(await other.decrypt(sealed)).toBeNull();
    for (const wrong of ['', 'a.b.c.d.e', sealed.slice(0, -4)]) expect(await seal.decrypt(wrong)).toBeNull();
    expect(await seal.decrypt(await seal.encrypt('x'.repeat(12_000)))).toBe('x'.repeat(12_000));
    expect(await seal.decrypt(await seal.encrypt('x'.repeat(13_000)))).toBeNull();
  });
});
