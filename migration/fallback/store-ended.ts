import { setTimeout as pause } from 'node:timers/promises';

import { toError } from '../../platform/errors.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { ResultCopier } from './copy-results.ts';
import type { FallbackTarget } from './operations.ts';
import type { StoredAnswers } from './stored-answers.ts';

/** Stores old answers that do not change any more, with their results in Kiln's storage. */
export interface EndedAnswers {
  /** A stored answer; null when there is none, or the database is away. */
  find(target: FallbackTarget): Promise<JsonObject | null>;
  /** Copies the results and stores the answer. Copying that takes long goes on; the answer then comes as it was. */
  store(target: FallbackTarget, body: JsonObject): Promise<JsonObject>;
}

export interface EndedAnswersOptions {
  readonly stored: StoredAnswers;
  /** Null where no old service is named any more: an answer without copies stays as it is. */
  readonly copier: ResultCopier | null;
  readonly logger: Logger;
  /** Longest time that a read waits for copies, in milliseconds (default 10,000). */
  readonly maxWaitMs?: number;
}

const MAX_WAIT_MS = 10_000;
/** Most answers whose results are copied at the same time; more are stored at another read. */
const MAX_COPYING = 8;
/** After a result could not be copied, none is tried for this long. */
const RETRY_AFTER_MS = 30_000;

/** Creates them. */
export function createEndedAnswers(options: EndedAnswersOptions): EndedAnswers {
  const { stored, copier, logger, maxWaitMs = MAX_WAIT_MS } = options;
  const copying = new Map<string, Promise<JsonObject>>();
  let retryAt = 0;

  async function copyAndSave({ operation, id }: FallbackTarget, body: JsonObject): Promise<JsonObject> {
    try {
      const isWaiting = copier === null || Date.now() < retryAt;
      const copied = isWaiting ? { body, isComplete: false } : await copier.copy(body);
      if (!isWaiting && !copied.isComplete) retryAt = Date.now() + RETRY_AFTER_MS;
      await stored.save({ operation, id, body: copied.body, hasCopies: copied.isComplete });
      return copied.body;
    } catch (thrown) {
      logger.warn({ error: toError(thrown), operation }, 'an answer of the old service could not be stored');
      return body;
    }
  }
  async function store(target: FallbackTarget, body: JsonObject): Promise<JsonObject> {
    const key = `${target.operation} ${target.id}`;
    let work = copying.get(key);
    if (work === undefined && copying.size < MAX_COPYING) {
      work = copyAndSave(target, body).finally(() => copying.delete(key));
      copying.set(key, work);
    }
    if (work === undefined) return body;
    const waited = new AbortController();
    const late = pause(maxWaitMs, body, { signal: waited.signal }).catch(() => body);
    return Promise.race([work, late]).finally(() => waited.abort());
  }
  return {
    async find(target) {
      try {
        const answer = await stored.find(target.operation, target.id);
        if (answer === null) return null;
        const { body, hasCopies } = answer;
        return hasCopies || copier === null || Date.now() < retryAt ? body : await store(target, body);
      } catch (thrown) {
        logger.warn({ error: toError(thrown) }, 'stored answers of the old service can not be read now');
        return null;
      }
    },
    store,
  };
}
