import { expect, it } from 'vitest';

import { anonymousCaller, type Caller, internalCaller } from '../../../../platform/access/caller.ts';
import { mayReadUser } from './users.ts';

const anonymous = anonymousCaller('t', '1.1.1.1');
const caller = (change: Partial<Caller>): Caller => ({ ...anonymous, kind: 'user', ...change });

it.each([
  ['themselves', caller({ id: 'usr_1' }), true],
  ['another', caller({ id: 'usr_2' }), false],
  ['an administrator', caller({ id: 'usr_2', scopes: ['admin'] }), true],
  ['Kiln itself', internalCaller('t'), true],
  ['nobody', anonymous, false],
  ['nobody, of themselves', { ...anonymous, id: 'usr_1' }, false],
])('a user is read by %s: %s', (_, who, expected) => {
  expect(mayReadUser(who, 'usr_1')).toBe(expected);
});
