import { DatabaseError, type Pool } from 'pg';

import { AppError } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { memoryFiles } from '../../subgraphs/media/tasks/testing/memory-files.ts';
import { createModelPayments } from './model-payments.ts';
import { createModelUpstream, forgetAnswersTo } from './model-upstream.ts';
import { type ModelProcess, startProcess, type Shared } from './process.ts';
import { createSchedule, type Scheduler } from './scheduled-process.ts';

/** The error code of PostgreSQL for a lock that was not free in time. */
const LOCK_NOT_AVAILABLE = '55P03';
const PROCESSES = 2;

/** Everything of one run: processes over one database, an upstream, a payment provider, a store, and what they have done. */
export function createWorld(pool: Pool, scheduler: Scheduler) {
  const errors: unknown[] = [];
  /** The rollbacks of processes that have crashed. */
  const endings: Promise<void>[] = [];
  /** Work under way. */
  const running = new Set<Promise<void>>();
  const shared: Shared = {
    pool,
    schedule: createSchedule(scheduler),
    upstream: createModelUpstream(),
    payments: createModelPayments(),
    files: memoryFiles(),
    logger: silentLogger(),
    active: new Map(),
    removed: new Set(),
    patience: { hours: 0.5 },
    media: { isUnavailable: false },
    begin(crashed, body) {
      const work = Promise.race([body().then(() => {}), crashed]).catch((error: unknown) => {
        if (!isExpected(error)) errors.push(error);
      });
      running.add(work);
      void work.then(() => running.delete(work));
    },
  };
  const processes = Array.from({ length: PROCESSES }, (_, index) => startProcess(shared, `p${index}`));
  return {
    ...shared,
    processes,
    taskIds: [] as string[],
    /** Refunds that an operator has asked for: payment and key. */
    parts: new Map<string, readonly [paymentId: string, key: string]>(),
    errors,
    isIdle: () => running.size === 0,
    /** Ends a process in the middle of whatever it does, and starts another in its place. */
    restart(index: number): void {
      const old = processes[index];
      if (old === undefined) return;
      if (running.size > 0) forgetAnswersTo(shared.upstream, old.scheduled);
      processes[index] = startProcess(shared, `${old.name}'`);
      endings.push(old.crash());
    },
    /** Ends all processes, and waits until none has anything open in the database. */
    async end(): Promise<void> {
      await Promise.all([...endings, ...processes.map((process) => process.crash())]);
    },
    /**
     * Makes everything in the database that much older. Claims of processes that live are renewed, so they stay, but for one
     * that is `paused`. No time passes while a transaction that waits for its turn holds what would have to change.
     */
    async letPass(seconds: number, paused?: ModelProcess): Promise<void> {
      const claims = processes.flatMap((process) => (process === paused ? [] : [...process.starting]));
      const hasPaid = shared.payments.charges.size > 0;
      try {
        await pool.query({
          name: 'model-age',
          text: 'select model_age($1, $2, $3)',
          values: [seconds, claims, hasPaid],
        });
      } catch (error) {
        if (!(error instanceof DatabaseError) || error.code !== LOCK_NOT_AVAILABLE) throw error;
      }
    },
  };
}

/** What createWorld makes. */
export type World = ReturnType<typeof createWorld>;

/** What callers are told, and no fault of the engine. */
function isExpected(error: unknown): boolean {
  return error instanceof AppError && error.code !== 'INTERNAL';
}
