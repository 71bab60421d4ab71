import pTimeout from 'p-timeout';
import type { QueryConfig, QueryResult } from 'pg';

import type { Database } from '../../platform/database/database.ts';
import { migrate } from '../../platform/database/migrations.ts';
import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { gatewayMigrations } from '../migrations/index.ts';

/**
 * Shared rate counters of several gateways, in PostgreSQL. Limiting must neither fail requests nor delay them: a query
 * without a prompt answer is rejected, and the limiter counts in memory meanwhile (rate-limit.ts).
 */
export interface SharedCounts {
  /** Queries the table; rejects when there is no answer in time, and at once for a moment after that. */
  query(question: QueryConfig): Promise<QueryResult>;
}

export interface SharedCountsOptions {
  readonly database: Database;
  readonly logger: Logger;
  /** Most milliseconds that a request waits for its count (default 500). */
  readonly timeoutMs?: number;
}

/** Most milliseconds that a start waits for the table. */
const START_MS = 5_000;
const RETRY_AFTER_MS = 1_000;

/** Makes the counters and their table. A gateway also starts without its database: then the table is created later. */
export async function openSharedCounts({
  database,
  logger,
  timeoutMs = 500,
}: SharedCountsOptions): Promise<SharedCounts> {
  let preparing: Promise<void> | undefined;
  let isPrepared = false;
  let isUnavailable = false;
  let retryAt = 0;

  function prepare(): Promise<void> {
    const sets = [{ schema: 'gateway', migrations: gatewayMigrations }];
    preparing ??= migrate({ database, sets, logger })
      .then(() => void (isPrepared = true))
      .finally(() => (preparing = undefined));
    return preparing;
  }
  async function ask(question: QueryConfig): Promise<QueryResult> {
    if (!isPrepared) await prepare();
    return database.pool.query(question);
  }
  function markUnavailable(error: Error): void {
    if (!isUnavailable)
      logger.warn({ error }, 'rates are counted by this process alone until the database is back');
    isUnavailable = true;
    isPrepared = false;
    retryAt = Date.now() + RETRY_AFTER_MS;
  }

  await pTimeout(prepare(), { milliseconds: START_MS }).catch((thrown: unknown) =>
    markUnavailable(toError(thrown)),
  );
  return {
    async query(question) {
      if (Date.now() < retryAt) throw new Error('the shared counters did not answer a moment ago');
      try {
        const answer = await pTimeout(ask(question), { milliseconds: timeoutMs });
        if (isUnavailable) logger.info('rates are counted together again');
        isUnavailable = false;
        return answer;
      } catch (thrown) {
        markUnavailable(toError(thrown));
        throw thrown;
      }
    },
  };
}
