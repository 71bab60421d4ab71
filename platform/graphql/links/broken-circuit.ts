import { AppError } from '../../errors.ts';
import type { PostClient } from './remote-http.ts';

/** When a subgraph is left alone. */
export interface BreakerOptions {
  /** Failures in a row after which nothing is asked. */
  readonly failures: number;
  /** Milliseconds until one request is let through again. */
  readonly pauseMs: number;
}

/** The same client, which asks nothing for a while after so many requests in a row got no answer: they fail at once, as UNAVAILABLE. */
export function breakCircuit(client: PostClient, { failures, pauseMs }: BreakerOptions): PostClient {
  let inARow = 0;
  let brokenAt = -Infinity;
  return {
    async post(request) {
      if (inARow >= failures) {
        const leftMs = brokenAt + pauseMs - performance.now();
        if (leftMs > 0) {
          const retryAfter = Math.ceil(leftMs / 1_000);
          throw new AppError('UNAVAILABLE', 'it does not answer, and is left alone for a while', {
            retryAfter,
          });
        }
        // This one tries; those that come meanwhile do not.
        brokenAt = performance.now();
      }
      try {
        const answer = await client.post(request);
        inARow = 0;
        return answer;
      } catch (thrown) {
        // A caller who hangs up tells nothing about the subgraph.
        if (!request.signal.aborted) {
          inARow += 1;
          brokenAt = performance.now();
        }
        throw thrown;
      }
    },
    close: () => client.close(),
  };
}
