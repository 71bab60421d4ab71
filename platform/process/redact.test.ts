import { expect, it } from 'vitest';

import { redact, redactText } from './redact.ts';

it.each([
  ['a large number', 12n, '12'],
  ['a function', () => 1, undefined],
  ['a symbol', Symbol('s'), undefined],
  ['nothing', null, null],
  [
    'an address',
    new URL('https://me:word@example.org/?token=abc'),
    'https://me:[redacted]@example.org/?token=[redacted]',
  ],
  ['bytes', new Uint8Array(3), '(3 bytes)'],
  ['a list', ['Bearer abcdefghij', 1], ['Bearer [redacted]', 1]],
  [
    'codes',
    { code: 'NOT_FOUND', other: { code: 'gX8-a1' } },
    { code: 'NOT_FOUND', other: { code: '[redacted]' } },
  ],
  [
    'a sign-in',
    [
      '/console/#login_code=abc',
      { loginCode: 'abc', code_verifier: 'abc', codeChallenge: 'abc', statusCode: 'x' },
    ],
    [
      '/console/#login_code=[redacted]',
      { loginCode: '[redacted]', code_verifier: '[redacted]', codeChallenge: 'abc', statusCode: 'x' },
    ],
  ],
  ['a code that is no text', { code: { of: 1 } }, { code: { of: 1 } }],
  [
    'amounts',
    { maxTokens: 100, token: 'abc', api_key: 'abc' },
    { maxTokens: 100, token: '[redacted]', api_key: '[redacted]' },
  ],
])('what a log has of %s', (_, value, logged) => {
  expect(redact(value)).toEqual(logged);
});

it('a log keeps dates, and every error of several', () => {
  const date = new Date(0);
  expect(redact({ date })).toEqual({ date });
  const several = new AggregateError([new Error('one'), new Error('Basic abcdefghij')], 'both', {
    cause: 'why',
  });
  expect(redact(several)).toMatchObject({
    name: 'AggregateError',
    message: 'both',
    cause: 'why',
    errors: [{ message: 'one' }, { message: 'Basic [redacted]' }],
  });
  expect(redact(new Error('alone'))).not.toHaveProperty('errors');
  expect(redact(new Error('alone'))).not.toHaveProperty('cause');
});

it('a log is bounded in depth, in members and in length', () => {
  const nested = (depth: number): unknown => (depth === 0 ? 'leaf' : [nested(depth - 1)]);
  expect(JSON.stringify(redact(nested(6)))).toBe('[[[[[["leaf"]]]]]]');
  expect(JSON.stringify(redact(nested(7)))).toBe('[[[[[["(deeper)"]]]]]]');
  expect(redact(Array.from({ length: 51 }, () => 0))).toHaveLength(50);
  expect(
    Object.keys(redact(Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`m${n}`, n]))) as object),
  ).toHaveLength(50);
  expect(redactText('a'.repeat(4_000))).toBe('a'.repeat(4_000));
  expect(redactText('a'.repeat(4_001))).toBe(`${'a'.repeat(4_000)}... (4001 characters)`);
});
