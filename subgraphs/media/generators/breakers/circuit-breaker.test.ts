import { expect, it } from 'vitest';

import { refusedCredentials, UpstreamError } from '../../domain/failure.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';

const outage = new UpstreamError('UNAVAILABLE', 'no answer');

it('opens after five outages in a row, and asks a few times a minute', () => {
  let now = 1_000_000;
  const breaker = createCircuitBreaker({ now: () => now });
  for (let count = 0; count < 4; count += 1) expect(breaker.failed(outage)).toBe(false);
  expect(breaker.failed(outage)).toBe(true);
  const asked: number[] = [];
  for (const end = now + 120_000; now < end; now += 100) {
    if (!breaker.admit()) continue;
    asked.push(now);
    breaker.failed(outage);
  }
  expect(asked).toEqual([1_010_000, 1_030_000, 1_060_000, 1_090_000]);
  now += 30_000;
  expect(breaker.admit()).toBe(true);
  expect(breaker.admit()).toBe(false);
  expect(breaker.answered()).toBe(true);
  expect([breaker.admit(), breaker.admit(), breaker.pauseMs()]).toEqual([true, true, 0]);
});

it('opens after three refusals of our credentials', () => {
  const breaker = createCircuitBreaker();
  const refusal = refusedCredentials('no such key');
  expect([1, 2, 3].map(() => breaker.failed(refusal))).toEqual([false, false, true]);
  expect(breaker.state()).toMatchObject({ isOpen: true, lastError: 'no such key' });
});

it('stays closed for refusals of requests, and when answers come between', () => {
  const breaker = createCircuitBreaker();
  for (let count = 0; count < 20; count += 1) {
    breaker.failed(new UpstreamError('MODERATION_REFUSED', 'no'));
    breaker.failed(new UpstreamError('RATE_LIMITED', 'slower'));
    breaker.failed(outage);
    if (count % 3 === 0) breaker.answered();
  }
  expect(breaker.state().isOpen).toBe(false);
});

it('holds starts for as long as the upstream asks, and for longer and longer when it does not say', () => {
  let now = 1_000_000;
  const breaker = createCircuitBreaker({ now: () => now });
  breaker.hold(7);
  expect([breaker.waitMs(), breaker.pauseMs(), breaker.admit()]).toEqual([7_000, 0, true]);
  now += 7_000;
  const waits = [1, 2, 3, 4, 5, 6, 7].map(() => {
    breaker.hold(undefined);
    breaker.hold(undefined);
    const wait = breaker.waitMs();
    now += wait;
    return wait;
  });
  expect(waits).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
});

it('lets another call through when the one before never came back', () => {
  let now = 1_000_000;
  const breaker = createCircuitBreaker({ now: () => now });
  for (let count = 0; count < 5; count += 1) breaker.failed(outage);
  now += 10_000;
  expect([breaker.admit(), breaker.admit()]).toEqual([true, false]);
  now += 15_000;
  expect(breaker.admit()).toBe(true);
});

it('waits no longer for what a process says whose clock is an hour ahead', () => {
  const breaker = createCircuitBreaker({ now: () => 1_000_000 });
  breaker.openUntil(1_000_000 + 3_610_000);
  expect(breaker.pauseMs()).toBe(30_000);
  const held = createCircuitBreaker({ now: () => 1_000_000 });
  held.holdUntil(1_000_000 + 3_601_000);
  expect(held.waitMs()).toBe(900_000);
  held.hold(2_000);
  expect(held.waitMs()).toBe(2_000_000);
});
