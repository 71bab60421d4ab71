import { describe, expect, it } from 'vitest';

import { anonymousCaller, internalCaller, type Caller } from './caller.ts';
import { decide, enforce, type AuthMode, type Rule } from './policy.ts';

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
