import { setTimeout as pause } from 'node:timers/promises';

import { isDataException } from '../database/database.ts';
import { toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { Claim, ClaimedJobs, Settlement } from './claimed-jobs.ts';

interface Waiting {
  readonly claim: Claim;
  readonly settlement: Settlement;
  readonly resolve: (held: boolean) => void;
}

/** Most jobs in one statement. */
const BATCH = 200;

/**
 * Writes the outcomes of jobs, many in one statement, and retries while the database is away. Bounded by the slots of the
 * worker: each job keeps its slot until it is settled.
 */
export function createSettlementWriter(queue: string, claimed: ClaimedJobs, logger: Logger) {
  const waiting: Waiting[] = [];
  const abandoned = new AbortController();
  let writing = false;

  async function write(batch: readonly Waiting[]): Promise<Set<string>> {
    for (let attempt = 0; !abandoned.signal.aborted; attempt += 1) {
      try {
        return await claimed.settle(batch.map(({ claim, settlement }) => [claim, settlement]));
      } catch (thrown) {
        if (isDataException(thrown)) return writeApart(batch, thrown);
        const log = attempt === 0 ? 'warn' : 'debug';
        logger[log]({ error: toError(thrown), queue, jobs: batch.length }, 'cannot settle jobs yet');
        await pause(Math.min(100 * 2 ** attempt, 2000), undefined, { signal: abandoned.signal }).catch(
          () => undefined,
        );
      }
    }
    return new Set();
  }

  /** Each by itself, so that one outcome that can't be stored holds up no other; that job has failed. */
  async function writeApart(batch: readonly Waiting[], thrown: unknown): Promise<Set<string>> {
    const held = new Set<string>();
    const [only] = batch;
    if (batch.length === 1 && only !== undefined) {
      logger.error(
        { error: toError(thrown), queue, job: only.claim.id },
        'the outcome of a job can not be stored',
      );
      if (only.settlement.kind === 'failed') return held;
      const failed = {
        ...only,
        settlement: { kind: 'failed', reason: 'its outcome can not be stored' },
      } as const;
      return write([failed]);
    }
    for (const one of batch) for (const id of await write([one])) held.add(id);
    return held;
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
    /** Resolves when it is written: true, or false when the job was no longer ours or `abandon` came first. */
    settle(claim: Claim, settlement: Settlement): Promise<boolean> {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ claim, settlement, resolve });
      // While one batch is written the next one collects.
      if (!writing) void writeAll();
      return promise;
    },
    /** Stops retrying: the leases of jobs without an outcome end, and they are retried elsewhere. */
    abandon: () => abandoned.abort(),
  };
}

export type SettlementWriter = ReturnType<typeof createSettlementWriter>;
