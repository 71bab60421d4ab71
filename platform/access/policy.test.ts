import { describe, expect, it } from 'vitest';

import { anonymousCaller, internalCaller, type Caller } from './caller.ts';
import {
  type AuthMode,
  decide,
  decideSelf,
  enforce,
  enforcePaid,
  enforceScope,
  enforceSelf,
  findNeededScope,
  type Rule,
} from './policy.ts';

const anonymous = anonymousCaller('t', null);
const user: Caller = { kind: 'user', id: 'usr_1', scopes: [], traceId: 't', address: null };
const admin: Caller = { ...user, id: 'usr_2', scopes: ['admin'] };
const internal = internalCaller('t');

type Row = [rule: Rule, caller: Caller, mode: AuthMode, verdict: ReturnType<typeof decide>];
const table: Row[] = [
  ['public', anonymous, 'required', 'allow'],
  ['anyone', anonymous, 'open', 'allow'],
  ['anyone', anonymous, 'compat', 'allow'],
  ['anyone', anonymous, 'required', 'sign-in'],
  ['owner', anonymous, 'required', 'sign-in'],
  ['owner', user, 'required', 'allow'],
  ['spend', anonymous, 'open', 'allow'],
  ['spend', anonymous, 'required', 'sign-in'],
  ['spend', user, 'required', 'allow'],
  ['proof', anonymous, 'required', 'allow'],
  ['unpaid', anonymous, 'open', 'allow'],
  ['unpaid', anonymous, 'compat', 'sign-in'],
  ['unpaid', user, 'required', 'allow'],
  ['operator', anonymous, 'open', 'sign-in'],
  ['operator', user, 'open', 'forbid'],
  ['operator', admin, 'required', 'allow'],
  ['operator', internal, 'required', 'allow'],
  ['admin', internal, 'required', 'allow'],
  ['admin', user, 'open', 'allow'],
  ['admin', anonymous, 'open', 'allow'],
  ['admin', anonymous, 'compat', 'sign-in'],
  ['admin', user, 'compat', 'forbid'],
  ['admin', admin, 'required', 'allow'],
  ['service', anonymous, 'open', 'forbid'],
  ['service', admin, 'open', 'forbid'],
  ['service', internal, 'required', 'allow'],
];

describe('the policy', () => {
  it.each(table)('rule %s decides for %o in mode %s: %s', (rule, caller, mode, verdict) => {
    expect(decide(rule, caller, mode)).toBe(verdict);
  });

  it('throws typed errors that a client can switch on', () => {
    expect(() => enforce('spend', anonymous, 'required')).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    );
    expect(() => enforce('service', user, 'open')).toThrow(expect.objectContaining({ code: 'FORBIDDEN' }));
  });
});

describe('the scope that a service key needs', () => {
  it.each([
    ['admin', 'query', 'admin'],
    ['operator', 'mutation', 'admin'],
    ['spend', 'mutation', 'start'],
    ['unpaid', 'mutation', 'start'],
    ['owner', 'mutation', 'manage'],
    ['anyone', 'query', 'read'],
    ['owner', 'subscription', 'read'],
    ['public', 'mutation', null],
    ['proof', 'mutation', null],
    ['service', 'mutation', null],
  ] as const)('for rule %s of a %s is %s', (rule, kind, scope) => {
    expect(findNeededScope({ rule, kind })).toBe(scope);
    expect(findNeededScope({ rule, kind, scope: 'start' })).toBe('start');
  });

  it('is asked of keys alone, and admin has all', () => {
    const key: Caller = { ...user, kind: 'key', id: 'key_1', scopes: ['read'] };
    for (const [caller, scope] of [
      [user, 'manage'],
      [key, 'read'],
      [key, null],
      [{ ...key, scopes: ['admin'] }, 'manage'],
    ] as const)
      expect(() => enforceScope(caller, scope)).not.toThrow();
    expect(() => enforceScope(key, 'manage')).toThrow(
      expect.objectContaining({ code: 'FORBIDDEN', message: expect.stringContaining('scope manage') }),
    );
  });
});

describe('users', () => {
  const key: Caller = { ...user, kind: 'key', id: 'key_1' };

  it.each([
    [anonymous, 'usr_1', 'open', 'allow'],
    [anonymous, 'usr_1', 'compat', 'sign-in'],
    [anonymous, 'ext_1', 'required', 'allow'],
    [user, 'usr_1', 'required', 'allow'],
    [user, 'usr_9', 'open', 'forbid'],
    [admin, 'usr_9', 'required', 'allow'],
    [key, 'usr_9', 'required', 'allow'],
    [internal, 'usr_9', 'required', 'allow'],
  ] as const)('are named by %o as %s in mode %s: %s', (caller, id, mode, verdict) => {
    expect(decideSelf(caller, id, mode)).toBe(verdict);
  });

  it('are told why they may not act for another', () => {
    expect(() => enforceSelf(user, 'usr_9', 'open')).toThrow('users may act for themselves only');
    expect(() => enforceSelf(anonymous, 'usr_1', 'compat')).toThrow(
      expect.objectContaining({ code: 'UNAUTHENTICATED' }),
    );
    expect(() => enforceSelf(user, 'usr_1', 'compat')).not.toThrow();
  });

  it.each([
    [anonymous, 'open', true],
    [anonymous, 'keys', false],
    [user, 'keys', false],
    [key, 'keys', true],
    [admin, 'keys', true],
    [key, 'nobody', false],
    [admin, 'nobody', false],
    [internal, 'nobody', true],
  ] as const)('and others run what costs something without paying: %o, %s: %s', (caller, unpaid, runs) => {
    const refusal = (creditCost: number, price: number | null = null) => {
      try {
        enforcePaid(caller, { code: 'face', creditCost, price }, unpaid);
        return null;
      } catch (error) {
        return error;
      }
    };
    const refused = expect.objectContaining({ code: 'FORBIDDEN', field: 'code' });
    const paid = runs ? null : refused;
    expect([refusal(0), refusal(1), refusal(0, 500), refusal(1, 0)]).toEqual([null, paid, paid, null]);
  });
});
