import { expect, onTestFinished, test, vi } from 'vitest';

import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { createRateLimiter, rateHeaders } from './rate-limit.ts';

const anonymous = (address: string): Caller => anonymousCaller('trace', address);
const user = (id: string): Caller => ({
  kind: 'user',
  id,
  scopes: [],
  traceId: 'trace',
  address: '192.0.2.1',
});

test('counts each class apart and says when to come back', async () => {
  const limiter = createRateLimiter({ start: 2 });
  const caller = user('usr_1');
  expect(await limiter.take(caller, 'start')).toMatchObject({
    allowed: true,
    limit: 2,
    remaining: 1,
    retryAfter: 0,
  });
  expect(await limiter.take(caller, 'start')).toMatchObject({ allowed: true, remaining: 0 });
  const refused = await limiter.take(caller, 'start');
  expect(refused).toMatchObject({ allowed: false, limit: 2, remaining: 0 });
  expect(refused.retryAfter).toBeGreaterThan(0);
  expect(refused.retryAfter).toBeLessThanOrEqual(60);
  expect(refused.resetSeconds).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1_000));
  expect(rateHeaders(refused)).toMatchObject({ 'Retry-After': String(refused.retryAfter) });
  expect(await limiter.take(caller, 'status')).toMatchObject({ allowed: true, limit: 6_000 });
  expect(await limiter.take(user('usr_2'), 'start')).toMatchObject({ allowed: true });
});

test('says to come back in a second where less of one is left', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const limiter = createRateLimiter({ start: 1 });
  await limiter.take(user('usr_1'), 'start');
  for (const [passedMs, retryAfter] of [
    [58_500, 2],
    [59_900, 1],
  ] as const) {
    vi.setSystemTime(Date.now() + passedMs);
    expect(await limiter.take(user('usr_1'), 'start')).toMatchObject({ allowed: false, retryAfter });
    vi.setSystemTime(Date.now() - passedMs);
  }
});

test('counts sign-ins against the address, whoever asks', async () => {
  const limiter = createRateLimiter({ 'sign-in': 2 });
  await limiter.take(user('usr_1'), 'sign-in');
  await limiter.take(user('usr_2'), 'sign-in');
  expect(await limiter.take(anonymous('192.0.2.1'), 'sign-in')).toMatchObject({ allowed: false });
  expect(await limiter.take(anonymous('192.0.2.2'), 'sign-in')).toMatchObject({ allowed: true });
  expect(await limiter.take(user('usr_1'), 'write')).toMatchObject({ allowed: true });
});

test('counts several at once', async () => {
  const limiter = createRateLimiter({ start: 10 });
  expect(await limiter.take(user('usr_1'), 'start', 8)).toMatchObject({ allowed: true, remaining: 2 });
  expect(await limiter.take(user('usr_1'), 'start', 8)).toMatchObject({ allowed: false });
});

test('counts anonymous callers by address: a whole IPv6 network is one, mapped IPv4 is IPv4', async () => {
  const limiter = createRateLimiter({ read: 2 });
  expect((await limiter.take(anonymous('2001:db8:1:2::1'), 'read')).remaining).toBe(1);
  expect((await limiter.take(anonymous('2001:db8:1:2:ffff::9'), 'read')).remaining).toBe(0);
  expect((await limiter.take(anonymous('2001:db8:1:3::1'), 'read')).remaining).toBe(1);
  expect((await limiter.take(anonymous('192.0.2.7'), 'read')).remaining).toBe(1);
  expect((await limiter.take(anonymous('::ffff:192.0.2.7'), 'read')).remaining).toBe(0);
});

test('counts a start that was refused as a write, while one is left', async () => {
  const limiter = createRateLimiter({ start: 2, write: 1 });
  const caller = user('usr_1');
  await limiter.take(caller, 'start');
  expect(await limiter.refuseStart(caller)).toMatchObject({ allowed: true, limit: 1, remaining: 0 });
  expect(await limiter.take(caller, 'start')).toMatchObject({ remaining: 1 });
  expect(await limiter.refuseStart(caller)).toMatchObject({ allowed: false, limit: 1 });
  expect(await limiter.take(caller, 'start')).toMatchObject({ remaining: 0 });
});

test('gives single callers limits of their own: by id, by address, or none', async () => {
  const limiter = createRateLimiter(
    { start: 1 },
    {
      callers: [
        { caller: 'key_shop', limits: { start: 1_000 } },
        { caller: '10.0.0.0/8', limits: null },
        { caller: '2001:db8::1', limits: { read: 7 } },
      ],
    },
  );
  const readLimit = async (caller: Caller, rateClass: 'start' | 'read') =>
    (await limiter.take(caller, rateClass)).limit;
  const shop: Caller = { ...user('key_shop'), kind: 'key' };
  expect([await readLimit(shop, 'start'), await readLimit(shop, 'read')]).toEqual([1_000, 1_200]);
  expect(await readLimit({ ...user('key_other'), kind: 'key', address: '10.1.2.3' }, 'start')).toBe(1);
  expect(await readLimit(anonymous('10.1.2.3'), 'start')).toBe(Infinity);
  expect(await readLimit(anonymous('::ffff:10.1.2.3'), 'start')).toBe(Infinity);
  expect(rateHeaders(await limiter.take(anonymous('10.1.2.3'), 'start'))).toEqual({});
  expect(await readLimit(anonymous('2001:db8::1'), 'read')).toBe(7);
  expect(await readLimit(anonymous('2001:db8::2'), 'read')).toBe(1_200);
  for (const unknown of [anonymous('no address'), anonymousCaller('trace', null)])
    expect(await readLimit(unknown, 'read')).toBe(1_200);
});
