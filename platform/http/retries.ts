import { setTimeout as pause } from 'node:timers/promises';

import type { Dispatcher } from 'undici';

import type { Logger } from '../process/logger.ts';
import type { Deadline } from './deadline.ts';
import { type Answer, discard, type Exchange, toHttpFailure } from './exchange.ts';
import { HttpFailure, type HttpRequest } from './http-client.ts';

const MAX_RETRIES = 3;
const RETRIED_STATUSES = new Set([429, 502, 503, 504]);
const AWAY_STATUSES = new Set([502, 503, 504]);

/** Sends a request once. */
export type Send = (request: HttpRequest, deadline: Deadline) => Promise<Answer>;

interface RetryOptions {
  readonly logger: Logger;
  /** About the pause before the first retry in milliseconds; doubles each time. */
  readonly firstRetryMs: number;
}

/** Makes the sending that repeats safe calls which failed, or that were told to come again. */
export function withRetries(send: Send, { logger, firstRetryMs }: RetryOptions): Send {
  const origins = createFailingOrigins();
  return async (request, deadline) => {
    const retries = request.retry === 'safe' ? MAX_RETRIES : 0;
    const origin = URL.parse(request.url)?.origin ?? '';
    const isLast = (attempt: number): boolean => attempt >= retries || !origins.mayRetry(origin);
    for (let attempt = 0; ; attempt++) {
      const backOffMs = firstRetryMs * 2 ** attempt * (0.75 + Math.random() / 2);
      try {
        const answer = await send(request, deadline);
        const { statusCode } = answer.response;
        origins.note(origin, AWAY_STATUSES.has(statusCode) ? 'failed' : 'answered');
        if (isLast(attempt) || !RETRIED_STATUSES.has(statusCode)) return answer;
        const waitMs = retryAfterMs(answer.response) ?? backOffMs;
        if (waitMs >= deadline.remainingMs()) return answer;
        logger.debug({ origin: answer.exchange.origin, status: statusCode }, 'retrying a call');
        await discard(answer, deadline);
        await waitFor(waitMs, deadline, answer.exchange);
      } catch (error) {
        const mayRetry = error instanceof HttpFailure && (error.code === 'CONNECT' || error.code === 'CUT');
        if (mayRetry) origins.note(origin, 'failed');
        if (isLast(attempt) || !mayRetry || backOffMs >= deadline.remainingMs()) throw error;
        logger.debug({ error }, 'retrying a call');
        await waitFor(backOffMs, deadline, { origin: 'the host', sent: error.sent });
      }
    }
  };
}

async function waitFor(milliseconds: number, deadline: Deadline, exchange: Exchange): Promise<void> {
  try {
    await pause(milliseconds, undefined, { signal: deadline.signal });
  } catch (error) {
    throw toHttpFailure(error, exchange, deadline);
  }
}

/** Retry-After in milliseconds: seconds or a date; undefined when absent or unreadable. */
function retryAfterMs(response: Dispatcher.ResponseData<unknown>): number | undefined {
  const text = String(response.headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Failures in a row after which nothing is repeated. */
const MAX_FAILURES = 5;
/** Most origins that are remembered; the oldest is forgotten first. */
const MAX_ORIGINS = 1_000;

/**
 * Remembers which origins have failed several times in a row; only origins whose last call failed. Safe calls to them are
 * not repeated: what is away for a minute would otherwise be asked four times by every call.
 */
function createFailingOrigins() {
  const failures = new Map<string, number>();
  return {
    /** Whether the origin answers often enough for a call to it to be repeated. */
    mayRetry: (origin: string) => (failures.get(origin) ?? 0) < MAX_FAILURES,
    note(origin: string, outcome: 'answered' | 'failed'): void {
      const count = failures.get(origin) ?? 0;
      failures.delete(origin);
      if (outcome === 'answered') return;
      failures.set(origin, count + 1);
      const [oldest] = failures.keys();
      if (failures.size > MAX_ORIGINS && oldest !== undefined) failures.delete(oldest);
    },
  };
}
