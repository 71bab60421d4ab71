import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { silentLogger } from '../process/logger.ts';
import { createDeadline } from './deadline.ts';
import type { Answer } from './exchange.ts';
import { HttpFailure, type HttpRequest } from './http-client.ts';
import { type Send, withRetries } from './retries.ts';

const NOW = new Date('2026-01-31T12:00:00Z');
beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  // Pauses are exactly as long as planned.
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

type Outcome = number | readonly [number, string] | Error;

/** Calls whose sends end like this, one after the other; the last again and again. */
function scripted(outcomes: readonly Outcome[], firstRetryMs = 1) {
  const left = [...outcomes];
  const seen = { sent: 0, dumped: 0 };
  const send: Send = async () => {
    seen.sent += 1;
    const outcome = (left.length > 1 ? left.shift() : left[0]) ?? 200;
    if (outcome instanceof Error) throw outcome;
    const [statusCode, retryAfter] = typeof outcome === 'number' ? [outcome] : outcome;
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    const body = { dump: async () => void (seen.dumped += 1) };
    return {
      response: { statusCode, headers, body } as unknown as Answer['response'],
      exchange: { origin: 'http://host.test', sent: true },
    };
  };
  const sending = withRetries(send, { logger: silentLogger(), firstRetryMs });
  /** The status of the answer, or how it failed. With `leftMs` that much is left of the call, which is given up while it waits. */
  const call = async (more: Partial<HttpRequest> = {}, leftMs?: number) => {
    const abort = new AbortController();
    const deadline = createDeadline({ timeoutMs: 60_000, signal: abort.signal });
    const request: HttpRequest = {
      method: 'GET',
      url: 'http://host.test/path',
      timeoutMs: 60_000,
      maxBytes: 1,
      retry: 'safe',
      ...more,
    };
    const left = leftMs === undefined ? deadline : { ...deadline, remainingMs: () => leftMs };
    const answered = sending(request, left).then(
      ({ response }) => response.statusCode,
      (thrown: unknown) => (thrown instanceof HttpFailure ? thrown.code : thrown),
    );
    if (leftMs !== undefined) setImmediate(() => abort.abort());
    return answered.finally(() => deadline.clear());
  };
  return { call, seen };
}

const failure = (code: HttpFailure['code']) => new HttpFailure(code, 'no', { sent: false });

it('sends again three times at most, and leaves no body unread', async () => {
  const { call, seen } = scripted([503, 502, 504, 429, 200]);
  expect(await call()).toBe(429);
  expect(seen).toEqual({ sent: 4, dumped: 3 });
});

it('waits twice as long each time', async () => {
  const { call, seen } = scripted([failure('CUT')], 16);
  const began = performance.now();
  expect([await call(), seen.sent]).toEqual(['CUT', 4]);
  // 16, 32 and 64 ms, as timers count them.
  expect(performance.now() - began).toBeGreaterThan(108);
});

it.each([429, 502, 503, 504, failure('CONNECT'), failure('CUT')])('sends again after %s', async (outcome) => {
  const { call, seen } = scripted([outcome, 200]);
  expect([await call(), seen.sent]).toEqual([200, 2]);
});

it.each([
  200,
  400,
  500,
  failure('TIMED_OUT'),
  failure('TOO_LARGE'),
  failure('ABORTED'),
  failure('REFUSED_ADDRESS'),
])('does not send again after %s', async (outcome) => {
  const { call, seen } = scripted([outcome, 201]);
  expect([await call(), seen.sent]).toEqual([outcome instanceof HttpFailure ? outcome.code : outcome, 1]);
});

it('never sends again what may not be repeated, nor after what is no failure of a call', async () => {
  const never = scripted([503, 200]);
  expect([await never.call({ retry: 'never' }), never.seen.sent]).toEqual([503, 1]);
  const mistake = new TypeError('a mistake');
  const wrong = scripted([mistake, 200]);
  expect([await wrong.call(), wrong.seen.sent]).toEqual([mistake, 1]);
});

it.each<[string, number]>([
  ['2', 2_000],
  [' 0.5 ', 500],
  [new Date(NOW.getTime() + 3_000).toUTCString(), 3_000],
  ['soon', 100],
  ['', 100],
])('waits as Retry-After says, %j, where so much is left of the call', async (retryAfter, pauseMs) => {
  const { call, seen } = scripted([[503, retryAfter]], 100);
  expect([await call({}, pauseMs), seen.sent]).toEqual([503, 1]);
  expect([await call({}, pauseMs + 1), seen.sent]).toEqual(['ABORTED', 2]);
});

it.each(['0', new Date(NOW.getTime() - 3_000).toUTCString()])(
  'sends again at once after %s',
  async (retryAfter) => {
    const { call, seen } = scripted([[503, retryAfter], 200], 60_000);
    expect([await call(), seen.sent]).toEqual([200, 2]);
  },
);

it('throws the failure where the pause is longer than what is left of the call', async () => {
  const { call, seen } = scripted([failure('CONNECT')], 100);
  expect([await call({}, 100), seen.sent]).toEqual(['CONNECT', 1]);
  expect([await call({}, 101), seen.sent]).toEqual(['ABORTED', 2]);
});

it('sends nothing again to an origin that has failed five times in a row, until it answers', async () => {
  const { call, seen } = scripted([503, 503, 503, 503, failure('CUT'), 429, 503, 200]);
  expect([await call(), seen.sent]).toEqual([503, 4]);
  expect([await call(), seen.sent]).toEqual(['CUT', 5]);
  // An answer all the same: from then on calls are repeated again.
  expect([await call(), seen.sent]).toEqual([200, 8]);
});

it('counts the failures of each origin for itself, of the last thousand', async () => {
  const { call, seen } = scripted([503], 0);
  const ask = async (host: string, retry: HttpRequest['retry'] = 'safe') => {
    const before = seen.sent;
    await call({ url: `http://${host}.test/`, retry });
    return seen.sent - before;
  };
  expect([await ask('one'), await ask('one'), await ask('other'), await ask('one')]).toEqual([4, 1, 4, 1]);
  for (let number = 0; number < 998; number += 1) await ask(`host${number}`, 'never');
  expect([await ask('other'), await ask('one')]).toEqual([1, 1]);
  for (let number = 0; number < 999; number += 1) await ask(`more${number}`, 'never');
  expect([await ask('one'), await ask('other')]).toEqual([1, 4]);
});
