import { createHash } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import { ownersIn } from './audit.ts';
import { isMalformedBearer, readBearer } from './bearer.ts';
import {
  anonymousCaller,
  type Caller,
  createAddressKey,
  createClientKey,
  enforceGenerator,
  internalCaller,
  listedOwner,
  mayChange,
  mayRead,
} from './caller.ts';
import { computeFingerprint, toIdempotencyRecord } from './idempotency.ts';
import { isManageToken, newManageToken } from './manage-token.ts';

const anonymous = anonymousCaller('t', '192.0.2.1');
const user: Caller = { kind: 'user', id: 'usr_1', scopes: [], traceId: 't', address: '192.0.2.1' };
const admin: Caller = { ...user, id: 'usr_2', scopes: ['admin'] };
const key: Caller = { ...user, kind: 'key', id: 'key_1', scopes: ['read'] };
const internal = internalCaller('t');

describe('what a caller may do to a row', () => {
  it.each([
    [anonymous, 'anon', { read: true, change: true, unproven: false }],
    [anonymous, 'usr_1', { read: false, change: false, unproven: false }],
    [user, 'usr_1', { read: true, change: true, unproven: true }],
    [user, 'usr_2', { read: false, change: false, unproven: false }],
    [user, 'anon', { read: true, change: true, unproven: false }],
    [key, 'usr_1', { read: true, change: false, unproven: false }],
    [key, 'key_1', { read: true, change: true, unproven: true }],
    [admin, 'usr_1', { read: true, change: true, unproven: true }],
    [admin, 'anon', { read: true, change: true, unproven: true }],
    [internal, 'usr_1', { read: true, change: true, unproven: true }],
    [internal, 'anon', { read: true, change: true, unproven: true }],
  ])('%o of owner %s: %o', (caller, owner, expected) => {
    const unproven = mayChange(caller, owner, () => false);
    expect({ read: mayRead(caller, owner), change: mayChange(caller, owner), unproven }).toEqual(expected);
  });

  it('is to list its own rows, or those of everybody', () => {
    expect([anonymous, user, key, admin, internal].map(listedOwner)).toEqual([
      'anon',
      'usr_1',
      'key_1',
      null,
      null,
    ]);
  });

  it('is to use the generators that its key names', () => {
    expect(() => enforceGenerator(key, 'image')).not.toThrow();
    expect(() => enforceGenerator({ ...key, generators: null }, 'image')).not.toThrow();
    expect(() => enforceGenerator({ ...key, generators: ['audio', 'image'] }, 'image')).not.toThrow();
    expect(() => enforceGenerator({ ...key, generators: ['audio', 'video'] }, 'image')).toThrow(
      expect.objectContaining({
        code: 'FORBIDDEN',
        field: 'generator',
        message: 'this key may use only: audio, video',
      }),
    );
  });
});

it('requests count against users and keys by their id, against others by their address, of IPv6 by its /64', () => {
  expect([anonymous, user, key, internal].map(createClientKey)).toEqual([
    'anon:192.0.2.1',
    'usr_1',
    'key_1',
    'internal',
  ]);
  expect(
    ['2001:db8:1:2:3:4:5:6', '::ffff:192.0.2.1', 'elsewhere', '', null, undefined].map(createAddressKey),
  ).toEqual([
    'anon:2001:db8:1:2::/64',
    'anon:192.0.2.1',
    'anon:elsewhere',
    'anon:',
    'anon:unknown',
    'anon:unknown',
  ]);
});

it('a bearer is one word after "Bearer", in any case', () => {
  expect(
    ['Bearer abc', 'bearer   abc ', 'Basic abc', 'Bearer', 'Bearer a b', 'Bearerabc'].map(readBearer),
  ).toEqual(['abc', 'abc', undefined, undefined, undefined, undefined]);
  expect(
    [undefined, 'Basic abc', 'Bearerabc', 'Bearer abc', 'Bearer', 'BEARER a b'].map(isMalformedBearer),
  ).toEqual([false, false, false, false, true, true]);
});

it('the owned things of an answer are itself, its members, and the elements of its lists', () => {
  const owned = (id: number) => ({ id, owner: 'usr_1' });
  expect(ownersIn(owned(1))).toEqual([owned(1)]);
  expect(ownersIn({ one: owned(1), nodes: [owned(2), 'text', null, { id: 3 }], none: null })).toEqual([
    owned(1),
    owned(2),
  ]);
  expect(ownersIn([owned(1), { owner: null }])).toEqual([owned(1)]);
  expect([null, 'usr_1', undefined, { owner: 7 }].map(ownersIn)).toEqual([[], [], [], []]);
});

describe('an idempotency record', () => {
  it('is of a key of 1 to 255 characters, or none', () => {
    expect(toIdempotencyRecord(user, null, {})).toBeNull();
    expect(toIdempotencyRecord(user, 'x'.repeat(255), {})).toMatchObject({ owner: 'usr_1' });
    for (const wrong of ['', 'x'.repeat(256)])
      expect(() => toIdempotencyRecord(user, wrong, {})).toThrow(
        expect.objectContaining({ code: 'BAD_USER_INPUT', field: 'idempotencyKey' }),
      );
  });

  it('of callers without a credential is apart for each address and declared user', () => {
    const elsewhere = { ...anonymous, address: '192.0.2.2' };
    const keys = [
      toIdempotencyRecord(anonymous, 'k', {}),
      toIdempotencyRecord(elsewhere, 'k', {}),
      toIdempotencyRecord(anonymous, 'k', {}, 'declared'),
      toIdempotencyRecord(user, 'k', {}),
    ].map((record) => record?.key);
    expect(new Set(keys).size).toBe(4);
    expect(toIdempotencyRecord(anonymous, 'k', {})?.key).toBe(keys[0]);
    expect(toIdempotencyRecord({ ...user, address: null }, 'k', {}, 'declared')?.key).toBe(keys[3]);
  });

  it('knows a request again whatever the order of its members, and tells lists of another order apart', () => {
    const one = computeFingerprint({ a: 1, b: { c: [1, 2], d: null, e: undefined } });
    expect(computeFingerprint({ b: { d: null, c: [1, 2] }, a: 1 })).toBe(one);
    expect(computeFingerprint({ a: 1, b: { c: [2, 1], d: null } })).not.toBe(one);
    expect(computeFingerprint(undefined)).toBe(computeFingerprint(null));
    // Those of an older version are found again.
    const sha256 = createHash('sha256').update('{"a":{"c":1,"d":2},"b":[2,1]}').digest('hex');
    expect(computeFingerprint({ b: [2, 1], a: { d: 2, c: 1 } })).toBe(sha256);
  });
});

it('a thing is changed by the token that was made with it, and by no other', () => {
  const { token, hash } = newManageToken();
  expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  expect(isManageToken(token, hash)).toBe(true);
  expect([
    isManageToken(newManageToken().token, hash),
    isManageToken(token, hash.slice(1)),
    isManageToken(null, hash),
    isManageToken(token, null),
  ]).toEqual([false, false, false, false]);
});
