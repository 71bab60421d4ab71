import { availableParallelism } from 'node:os';

import { describe, expect, it } from 'vitest';

import {
  addressOrRange,
  adminSubject,
  browserOrigin,
  bucketName,
  currency,
  day,
  fraction,
  hostAndPort,
  httpAddress,
  integer,
  list,
  longSecret,
  oneOf,
  postgresAddress,
  processCount,
  serviceKey,
  signingSecret,
  trueOrFalse,
} from './formats.ts';

const SHA256 = '0123456789abcdef'.repeat(4);
const secret = (bytes: number) => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

describe('the format of a setting', () => {
  it.each([
    ['a day', day, { '2026-12-31': '2026-12-31' }, ['2026-13-01', 'soon', '']],
    ['true or false', trueOrFalse, { true: true, false: false }, ['yes', 'TRUE', '']],
    ['a currency', currency, { usd: 'usd', EUR: 'eur' }, ['us', 'usdt', 'u5d', '', 'uds']],
    ['a whole number', integer(2, 10), { 2: 2, 10: 10, '007': 7 }, ['1', '11', '-3', '2.5', '1e1', ' 3', '']],
    [
      'a number of processes',
      processCount,
      { 1: 1, 99: 99, auto: availableParallelism() },
      ['0', '100', '01', 'automatic', '-1', ''],
    ],
    ['a fraction', fraction, { 0: 0, '0.25': 0.25, 1: 1, '1.00': 1 }, ['1.5', '2', '.5', '0.', '-0.5', '']],
    [
      'an address',
      httpAddress,
      { 'http://a/x//': 'http://a/x', 'https://a:1': 'https://a:1' },
      ['ftp://a', 'http://u@a', 'http://:p@a', 'http://a?x', 'http://a#x', 'a', ''],
    ],
    [
      'an address of PostgreSQL',
      postgresAddress,
      { 'postgres://u@/n?host=/run': 'postgres://u@/n?host=/run', 'postgresql://h': 'postgresql://h' },
      ['mysql://h', 'postgres:h', 'postgres://h:port', 'x postgres://h'],
    ],
    [
      'a bucket',
      bucketName,
      { abc: 'abc', 'a.b-1': 'a.b-1', [`a${'b'.repeat(62)}`]: `a${'b'.repeat(62)}` },
      ['ab', 'Abc', '-ab', 'ab-', 'a_b', `a${'b'.repeat(63)}`],
    ],
    ['a long secret', longSecret, { [SHA256.slice(32)]: SHA256.slice(32) }, [SHA256.slice(33), '']],
    [
      'a signing secret',
      signingSecret,
      { [secret(24)]: secret(24), [secret(64)]: secret(64) },
      [secret(23), secret(65), secret(24).slice(6), secret(25).slice(0, -2)],
    ],
  ] as const)('of %s', (_, format, good, wrong) => {
    for (const [value, meaning] of Object.entries(good)) {
      expect([value, format.safeParse(value).data]).toEqual([value, meaning]);
    }
    for (const value of wrong) expect([value, format.safeParse(value).success]).toEqual([value, false]);
  });

  it('names the words and bounds that it takes', () => {
    const remedies = [
      oneOf(['a']).safeParse('x'),
      oneOf(['a', 'b']).safeParse('x'),
      oneOf(['a', 'b', 'c']).safeParse('x'),
      integer(2, 10).safeParse('x'),
      list((entry) => (entry === 'a' ? 1 : null), 'letters').safeParse('a,b'),
    ].map(({ error }) => error?.issues.map(({ message }) => message));
    expect(remedies).toEqual([
      ['must be a'],
      ['must be a or b'],
      ['must be a, b or c'],
      ['must be a whole number from 2 to 10'],
      ['must be a list of letters, separated by commas'],
    ]);
    expect(list((entry) => entry, 'letters').parse(' a ,, b,')).toEqual(['a', 'b']);
  });
});

describe('an entry of a list', () => {
  it.each([
    [
      addressOrRange,
      { '10.0.0.1': '10.0.0.1', '::1': '::1', 'fd00::/8': 'fd00::/8' },
      ['10.0.0.0/33', 'host'],
    ],
    [
      hostAndPort,
      { 'LOCALHOST:80': 'localhost:80', '[::1]:0443': '[::1]:443' },
      ['host', 'host:', 'host:123456', 'host:99999', 'u@host:80', 'host/x:80', ':80'],
    ],
    [
      browserOrigin,
      { 'https://a.example': 'https://a.example', 'HTTP://A:81/': 'http://a:81' },
      ['https://a/x', 'a', 'null', 'file:///x', 'https://a:443'],
    ],
    [
      serviceKey,
      { [`shop=${SHA256.toUpperCase()}`]: { name: 'shop', sha256: SHA256 } },
      [
        `=${SHA256}`,
        `shop=${SHA256}0`,
        `shop=${SHA256.slice(1)}`,
        `sh op=${SHA256}`,
        `${'x'.repeat(65)}=${SHA256}`,
      ],
    ],
    [
      adminSubject,
      { ' https://id | 42 ': { issuer: 'https://id', subject: '42' } },
      ['https://id', 'https://id|', '|42', 'https://id|42|x'],
    ],
  ] as const)('is read by %o', (read, good, wrong) => {
    for (const [value, meaning] of Object.entries(good))
      expect([value, read(value)]).toEqual([value, meaning]);
    for (const value of wrong) expect([value, read(value)]).toEqual([value, null]);
  });
});
