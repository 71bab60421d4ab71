import { expect, it } from 'vitest';

import { callerRates, DEFAULT_RATE_LIMITS, rateLimits, uploadQuotas } from './limits.ts';

const GIB = 1024 ** 3;

it('has limits for everybody, of which a setting names others', () => {
  expect(rateLimits.parse('ON')).toEqual({
    status: 6_000,
    read: 1_200,
    start: 120,
    write: 600,
    'sign-in': 120,
    plan: 600,
  });
  expect(rateLimits.parse('off')).toBeNull();
  expect(rateLimits.parse(' start = 7 ,sign-in=8')).toEqual({
    ...DEFAULT_RATE_LIMITS,
    start: 7,
    'sign-in': 8,
  });
});

it.each(['', 'start', 'start=0', 'start=-1', 'other=1', 'start=1,', 'start=1 write=2', 'START=1'])(
  'refuses %j as limits',
  (text) => {
    expect(rateLimits.safeParse(text).error?.issues[0]?.message).toBe(
      'must be on, off, or a list such as status=6000,read=1200,start=120,write=600,sign-in=120,plan=600 (a minute)',
    );
  },
);

it('has limits for single callers, by their id or address', () => {
  expect(callerRates.parse('key_shop start=1000, write=5000; usr_1 OFF;10.0.0.0/8 read=1;::1 off;')).toEqual([
    { caller: 'key_shop', limits: { start: 1_000, write: 5_000 } },
    { caller: 'usr_1', limits: null },
    { caller: '10.0.0.0/8', limits: { read: 1 } },
    { caller: '::1', limits: null },
  ]);
  expect(callerRates.parse(' ')).toEqual([]);
});

it.each(['key_shop', 'shop off', 'key_ off', 'key_shop start=0', '10.0.0.0/33 off', 'usr_1 off; x off'])(
  'refuses %j as limits of callers',
  (text) => {
    expect(callerRates.safeParse(text).error?.issues[0]?.message).toBe(
      'must be callers with their limits, such as key_shop start=1000,write=5000; 10.0.0.0/8 off',
    );
  },
);

it('has quotas for uploads, of which a setting names others', () => {
  const standard = {
    anonymous: { bytes: 10 * GIB, files: 1_000 },
    user: { bytes: 100 * GIB, files: 10_000 },
    key: { bytes: 0, files: 0 },
  };
  expect(uploadQuotas.parse('key=5/6')).toEqual({ ...standard, key: { bytes: 5, files: 6 } });
  expect(uploadQuotas.parse('anonymous=0/0, user = 1 / 2')).toEqual({
    ...standard,
    anonymous: { bytes: 0, files: 0 },
    user: { bytes: 1, files: 2 },
  });
  for (const wrong of ['', 'key=5', 'other=1/1', 'key=1/1,'])
    expect(uploadQuotas.safeParse(wrong).error?.issues[0]?.message).toMatch(
      /^must be a list such as anonymous=/,
    );
});
