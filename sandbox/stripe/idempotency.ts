import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { StripeFailure } from './failure.ts';

/** The first answer of an idempotency key, given again to whoever repeats the request; kept for a day. */
export interface Idempotency {
  /** Runs it once for each key. Another request under the same key, or one still running, is refused. */
  once(
    request: KeyedRequest,
    run: () => Promise<KeptAnswer>,
  ): Promise<KeptAnswer & { readonly isReplayed: boolean }>;
}

interface KeyedRequest {
  readonly key: string;
  readonly path: string;
  readonly body: string;
}

export interface KeptAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly requestId: string;
}

const MAX_KEPT = 10_000;
const DAY_MS = 86_400_000;

export function createIdempotency(): Idempotency {
  const kept = new LRUCache<string, { readonly hash: string; answer: KeptAnswer | null }>({
    max: MAX_KEPT,
    ttl: DAY_MS,
  });
  return {
    async once({ key, path, body }, run) {
      if (key.length > 255)
        throw refused(400, 'Keys for idempotent requests can only be 255 characters long');
      const hash = createHash('sha256').update(`${path}\n${body}`).digest('hex');
      const seen = kept.get(key);
      if (seen !== undefined) {
        if (seen.hash !== hash) {
          throw new StripeFailure(400, {
            type: 'idempotency_error',
            message:
              'Keys for idempotent requests can only be used with the same parameters they were first used with.',
          });
        }
        if (seen.answer === null) {
          throw refused(409, 'There is currently another in-progress request using this Idempotent Key.');
        }
        return { ...seen.answer, isReplayed: true };
      }
      const slot: { readonly hash: string; answer: KeptAnswer | null } = { hash, answer: null };
      kept.set(key, slot);
      try {
        slot.answer = await run();
        return { ...slot.answer, isReplayed: false };
      } catch (error) {
        // What was refused before anything happened may be sent again, corrected.
        kept.delete(key);
        throw error;
      }
    },
  };
}

function refused(status: number, message: string): StripeFailure {
  return new StripeFailure(status, {
    type: 'invalid_request_error',
    message,
    ...(status === 409 ? { code: 'idempotency_key_in_use' } : {}),
  });
}
