import { createHash } from 'node:crypto';

import { StripeFailure } from '../objects/failure.ts';
import { nowSeconds, type State, type StripeObject } from '../objects/state.ts';

/** Caches the first answer of an idempotency key for a day; survives a crash. */
export interface Idempotency {
  /**
   * Runs an operation once per key; its effect and its answer are written together. Another request with the same key, or
   * a concurrent one, is refused.
   */
  once(
    request: KeyedRequest,
    run: () => CachedResponse,
  ): Promise<CachedResponse & { readonly isReplayed: boolean }>;
}

interface KeyedRequest {
  readonly key: string;
  readonly path: string;
  readonly body: string;
}

/** The cached answer of a key. */
export interface CachedResponse {
  readonly status: number;
  readonly body: unknown;
  readonly requestId: string;
}

interface Kept extends StripeObject {
  readonly hash: string;
  readonly created: number;
  readonly answer: CachedResponse;
}

const DAY = 86_400;

/** Creates the cache; it is stored with the rest of the state. */
export function createIdempotency(state: State): Idempotency {
  const writing = new Set<string>();
  return {
    async once({ key, path, body }, run) {
      if (key.length > 255)
        throw refused(400, 'Keys for idempotent requests can only be 255 characters long');
      const hash = createHash('sha256').update(`${path}\n${body}`).digest('hex');
      const stored = state.find('idempotency_key', key) as Kept | undefined;
      if (stored !== undefined && nowSeconds() - stored.created < DAY) {
        if (stored.hash !== hash) throw another();
        if (writing.has(key)) {
          throw refused(409, 'There is currently another in-progress request using this Idempotent Key.');
        }
        return { ...stored.answer, isReplayed: true };
      }
      // A request refused by validation may be corrected and sent again.
      const answer = run();
      // A copy: later changes of the object must not change the answer.
      const copy = { ...answer, body: structuredClone(answer.body) };
      state.add('idempotency_key', {
        id: key,
        object: 'idempotency_key',
        hash,
        created: nowSeconds(),
        answer: copy,
      });
      writing.add(key);
      try {
        await state.save();
      } finally {
        writing.delete(key);
      }
      return { ...copy, isReplayed: false };
    },
  };
}

function another(): StripeFailure {
  return new StripeFailure(400, {
    type: 'idempotency_error',
    message:
      'Keys for idempotent requests can only be used with the same parameters they were first used with.',
  });
}

function refused(status: number, message: string): StripeFailure {
  return new StripeFailure(status, {
    type: 'invalid_request_error',
    message,
    ...(status === 409 ? { code: 'idempotency_key_in_use' } : {}),
  });
}
