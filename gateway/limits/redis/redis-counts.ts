import { Redis } from 'ioredis';

import type { Logger } from '../../../platform/process/logger.ts';

/**
 * Shared rate counters in Redis or Valkey. Limiting must neither fail requests nor delay them: while the server is away,
 * or did not answer in time, counts are rejected at once, and the limiter counts where it would without it (rate-limit.ts).
 */
export type RedisCounts = ReturnType<typeof openRedisCounts>;

export interface RedisCountsOptions {
  /** COUNTS_URL. */
  readonly url: string;
  readonly logger: Logger;
  /** Most milliseconds that a request waits for its count (default 500). */
  readonly timeoutMs?: number;
}

const CONNECT_MS = 5_000;

/** Longest pause between attempts to connect. */
const LONGEST_RETRY_MS = 2_000;

/** Milliseconds before another attempt to connect, of which the first is 1: twice as many each time, up to a bound. */
export function pauseBefore(attempt: number): number {
  return Math.min(100 * 2 ** attempt, LONGEST_RETRY_MS);
}

/** Connects in the background: a gateway also starts without the server. */
export function openRedisCounts({ url, logger, timeoutMs = 500 }: RedisCountsOptions) {
  const client = new Redis(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: timeoutMs,
    connectTimeout: CONNECT_MS,
    retryStrategy: pauseBefore,
  });
  let isUnavailable = false;
  let isClosed = false;
  let failure: Error | undefined;
  client.on('error', (error: Error) => (failure = error));
  client.on('close', () => {
    if (isUnavailable || isClosed) return;
    isUnavailable = true;
    logger.warn({ error: failure }, 'rates are counted without COUNTS_URL until it answers');
  });
  client.on('ready', () => {
    if (isUnavailable) logger.info('rates are counted at COUNTS_URL again');
    isUnavailable = false;
  });
  return {
    /** Runs a script of rate-limiter-flexible, as the client named `redis` would. */
    async eval(
      script: string,
      { keys, arguments: words }: { readonly keys: readonly string[]; readonly arguments: readonly string[] },
    ): Promise<unknown> {
      try {
        return await client.eval(script, keys.length, ...keys, ...words);
      } catch (thrown) {
        // A connection without an answer: until there is a new one nobody waits.
        if (client.status === 'ready') client.disconnect(true);
        throw thrown;
      }
    },
    close(): void {
      isClosed = true;
      client.disconnect();
    },
  };
}
