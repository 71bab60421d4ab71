import { expect, it } from 'vitest';

import { objectLiteral } from './compile-fields.ts';

it('makes objects with members of these names, in this order', () => {
  const made = objectLiteral(['b', 'constructor', 'a'])([1, 2, 3]);
  expect(JSON.stringify(made)).toBe('{"b":1,"constructor":2,"a":3}');
});

it('refuses the one name that would be no member', () => {
  expect(() => objectLiteral(['a', '__proto__'])).toThrow('__proto__ is no member of a literal');
});
