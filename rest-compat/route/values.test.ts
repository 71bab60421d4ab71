import { describe, expect, it } from 'vitest';

import {
  isValidJson,
  readBoolean,
  readChoice,
  readInteger,
  readLinks,
  readNullableText,
  readNumber,
  readText,
  withinBounds,
  type Reading,
} from './values.ts';

function readType(reading: Reading<unknown>): string {
  return 'problem' in reading ? reading.problem.type : `value ${JSON.stringify(reading.value)}`;
}

describe('readInteger', () => {
  it.each([
    ['1', 'value 1'],
    [' 1 ', 'value 1'],
    ['1.0', 'value 1'],
    ['-0', 'value 0'],
    ['+7', 'value 7'],
    [3, 'value 3'],
    ['99999999999999999999999', `value ${Number.MAX_SAFE_INTEGER}`],
    ['', 'int_parsing'],
    ['1.5', 'int_parsing'],
    ['0x10', 'int_parsing'],
    ['1e3', 'int_parsing'],
    ['one', 'int_parsing'],
    [1.5, 'int_type'],
    [true, 'int_type'],
    [null, 'int_type'],
    [[1], 'int_type'],
  ])('reads %j as %s', (raw, expected) => {
    expect(readType(readInteger(raw))).toBe(expected);
  });
});

describe('readLinks', () => {
  it.each([
    ['https://a.test/1,2.png', ['https://a.test/1,2.png']],
    ['https://a.test/1, HTTP://a.test/2,', ['https://a.test/1', 'HTTP://a.test/2']],
    ['\r\n https://a.test/1 \n\nhttps://a.test/2 , ', ['https://a.test/1', 'https://a.test/2']],
    ['', []],
  ])('reads %j as %j', (raw, links) => {
    expect(readLinks(raw)).toEqual({ value: links });
  });
});

describe('the other readers', () => {
  it.each(['true', 'TRUE', '1', 'Yes', 'on', true])('reads %j as true', (raw) => {
    expect(readType(readBoolean(raw))).toBe('value true');
  });

  it.each(['false', '0', 'NO', 'off', false])('reads %j as false', (raw) => {
    expect(readType(readBoolean(raw))).toBe('value false');
  });

  it.each(['', 'maybe', '2', null, {}])('does not take %j for a boolean', (raw) => {
    expect(readType(readBoolean(raw))).toBe('bool_parsing');
  });

  it.each(['', 'NaN', 'Infinity', '1e999', '1,5', null, []])('does not take %j for a number', (raw) => {
    expect(readType(readNumber(raw))).toBe('float_parsing');
  });

  it('reads numbers as text and as numbers', () => {
    expect([readNumber('1.5'), readNumber('-.5'), readNumber('2e3'), readNumber(4)].map(readType)).toEqual([
      'value 1.5',
      'value -0.5',
      'value 2000',
      'value 4',
    ]);
  });

  it('reads long texts that are no numbers in no time', () => {
    // In time that grew with the square of the length each of these would take a quarter of an hour.
    const digits = '0'.repeat(1_000_000);
    for (const raw of [`${digits}x`, `${digits}.${digits}x`, `.${digits}e`, `${digits}e9999`]) {
      expect(readType(readNumber(raw))).toBe('float_parsing');
      expect(readType(readInteger(raw))).toBe('int_parsing');
    }
  });

  it('tells a wrong type from a text that nobody can store', () => {
    expect(readType(readText(7))).toBe('string_type');
    expect(readType(readText('a\0b'))).toBe('value_error');
    expect(readType(readText('\ud800'))).toBe('value_error');
    expect(readType(readText(''))).toBe('value ""');
    expect(readType(readNullableText(null))).toBe('value null');
    expect(readType(readNullableText(1))).toBe('string_type');
  });

  it('names every allowed word when another one comes', () => {
    expect(readChoice('cake', ['tea', 'chop', 'lady'])).toEqual({
      problem: { type: 'literal_error', msg: "Input should be 'tea', 'chop' or 'lady'" },
    });
    expect(readType(readChoice('Tea', ['tea']))).toBe('literal_error');
  });

  it('holds values within their bounds', () => {
    expect(readType(withinBounds(0, { minimum: 1 }))).toBe('greater_than_equal');
    expect(readType(withinBounds(1001, { maximum: 1000 }))).toBe('less_than_equal');
    expect(readType(withinBounds(1000, { minimum: 1, maximum: 1000 }))).toBe('value 1000');
  });

  it('looks into JSON for what cannot be stored, names and depth included', () => {
    expect(isValidJson({ a: [{ b: 'fine' }, 1, null] })).toBe(true);
    expect(isValidJson({ a: [{ b: 'a\0' }] })).toBe(false);
    expect(isValidJson({ 'a\0': 1 })).toBe(false);
    let deep: unknown = 1;
    for (let level = 0; level < 100; level += 1) deep = [deep];
    expect(isValidJson(deep)).toBe(false);
  });
});
