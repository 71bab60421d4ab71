import { expect, test } from 'vitest';

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
