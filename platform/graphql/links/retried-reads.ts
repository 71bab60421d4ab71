import { setTimeout as pause } from 'node:timers/promises';

import { AppError } from '../../errors.ts';
import type { PostClient } from './remote-http.ts';

/** Milliseconds before the first repetition, on average; each further one waits twice as long. */
const FIRST_PAUSE_MS = 100;

/** The same client, which sends a query that got no answer again; nothing that may change something. */
export function retryReads(client: PostClient, retries: number): PostClient {
  return {
    async post(request) {
      const isSafe = request.isRead && typeof request.body === 'string';
      for (let again = 0; ; again += 1) {
        try {
          return await client.post(request);
        } catch (thrown) {
          const isUnavailable = thrown instanceof AppError && thrown.code === 'UNAVAILABLE';
          if (!isSafe || !isUnavailable || again >= retries || request.signal.aborted) throw thrown;
          await pause(FIRST_PAUSE_MS * 2 ** again * (0.5 + Math.random()), undefined, {
            signal: request.signal,
          }).catch(() => {
            throw thrown;
          });
        }
      }
    },
    close: () => client.close(),
  };
}
