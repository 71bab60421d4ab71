import { setTimeout as pause } from 'node:timers/promises';

import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { Claim, JobTable, Settlement } from './job-table.ts';

/** Writes the outcomes of jobs, many in one statement, and retries while the database is away. */
export interface SettlementWriter {
  /** Resolves when it is written: true, or false when the job was no longer ours or `abandon` came first. */
  settle(claim: Claim, settlement: Settlement): Promise<boolean>;
  /** Stops retrying: jobs without an outcome lose their heartbeat and are retried elsewhere. */
  abandon(): void;
}

interface Waiting {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly resolve: (held: boolean) => void;
}

/** Most jobs in one statement. */
const BATCH = 200;

/** Bounded by the slots of the worker: each job keeps its slot until it is settled. */
export function createSettlementWriter(queue: string, table: JobTable, logger: Logger): SettlementWriter {
  const waiting: Waiting[] = [];
  const abandoned = new AbortController();
  let writing = false;

  async function write(batch: readonly Waiting[]): Promise<Set<string>> {
    for (let attempt = 0; !abandoned.signal.aborted; attempt += 1) {
      try {
        return await table.settle(
          queue,
          batch.map(({ claim, settlement }) => [claim, settlement]),
        );
      } catch (thrown) {
        const log = attempt === 0 ? 'warn' : 'debug';
        logger[log]({ error: toError(thrown), queue, jobs: batch.length }, 'cannot settle jobs yet');
        await pause(Math.min(100 * 2 ** attempt, 2000), undefined, { signal: abandoned.signal }).catch(
          () => undefined,
        );
      }
    }
    return new Set();
  }

  async function writeAll(): Promise<void> {
    writing = true;
    while (waiting.length > 0) {
      const batch = waiting.splice(0, BATCH);
      const held = await write(batch);
      for (const { claim, resolve } of batch) resolve(held.has(claim.id));
    }
    writing = false;
  }

  return {
    settle(claim, settlement) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ claim, settlement, resolve });
      // While one batch is written the next one collects.
      if (!writing) void writeAll();
      return promise;
    },
    abandon() {
      abandoned.abort();
    },
  };
}
