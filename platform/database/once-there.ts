import { setTimeout as pause } from 'node:timers/promises';

import { databaseAway } from '../database-away.ts';
import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';

export interface OnceThereOptions {
  readonly logger: Logger;
  /** Most milliseconds that a database may be away (default five minutes). */
  readonly patienceMs?: number;
}

const PATIENCE_MS = 300_000;
const BETWEEN_TRIES_MS = 1_000;
const BETWEEN_WARNINGS_MS = 20_000;

/**
 * Does this as soon as the database is there: a process that starts while it restarts, or has no connection left, waits
 * instead of ending. Throws what went wrong else, such as a refused password, at once.
 */
export async function onceThere<Answer>(
  work: () => Promise<Answer>,
  { logger, patienceMs = PATIENCE_MS }: OnceThereOptions,
): Promise<Answer> {
  let warnAt = 0;
  for (const until = Date.now() + patienceMs; ;) {
    try {
      return await work();
    } catch (thrown) {
      if (!isUnavailable(thrown) || Date.now() > until) throw thrown;
      if (Date.now() >= warnAt) {
        warnAt = Date.now() + BETWEEN_WARNINGS_MS;
        logger.warn({ reason: toError(thrown).message }, 'the database is away: the start waits for it');
      }
      await pause(BETWEEN_TRIES_MS);
    }
  }
}

/** Whether the database is away, or so busy that its pool refuses who would wait in vain. */
function isUnavailable(thrown: unknown): boolean {
  return databaseAway(thrown) !== undefined || (thrown instanceof AppError && thrown.code === 'UNAVAILABLE');
}
