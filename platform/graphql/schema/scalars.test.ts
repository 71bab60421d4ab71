import { parseValue } from 'graphql';
import { describe, expect, it } from 'vitest';

import { dateTimeScalar, jsonScalar } from './scalars.ts';

function nested(levels: number): unknown {
  let value: unknown = 'core';
  for (let level = 0; level < levels; level += 1) value = [value];
  return value;
}

describe('the DateTime scalar', () => {
  it.each([
    '2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00.123+02:00',
    '2026-01-31T12:00Z',
    '2028-02-29T23:30:00-05:00',
  ])('reads %s', (text) => expect(dateTimeScalar.parseValue(text)).toEqual(new Date(text)));
  it.each([
    '',
    '2026-01-31',
    '2026-01-31T12:00:00',
    '2026-13-01T00:00:00Z',
    '2026-02-31T12:00:00Z',
    1_700_000_000_000,
    null,
    {},
  ])('refuses %j', (value) => expect(() => dateTimeScalar.parseValue(value)).toThrow('ISO 8601'));
  it('writes milliseconds and zone', () => {
    expect(dateTimeScalar.serialize(new Date(0))).toBe('1970-01-01T00:00:00.000Z');
  });
});

describe('the JSON scalar', () => {
  it('keeps what it reads, also from a literal with variables', () => {
    const value = { a: [1, null, 'x', true], b: { c: 1.5 } };
    expect(jsonScalar.parseValue(value)).toEqual(value);
    expect(jsonScalar.parseLiteral(parseValue('{ a: [1, $b], c: null }'), { b: 'two' })).toEqual({
      a: [1, 'two'],
      c: null,
    });
  });

  it('refuses what is too deep or too long, without walking all of it', () => {
    expect(jsonScalar.parseValue(nested(32))).toEqual(nested(32));
    expect(() => jsonScalar.parseValue(nested(33))).toThrow('levels deep');
    expect(() => jsonScalar.parseValue(nested(2_000))).toThrow('levels deep');
    expect(() => jsonScalar.parseValue('x'.repeat(300_000))).toThrow('characters long');
  });
});
