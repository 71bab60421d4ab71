import * as fc from 'fast-check';

import { createDatabase } from '../../platform/database/database.ts';
import { migrate } from '../../platform/database/migrations.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { mediaMigrations } from '../../subgraphs/media/database/migrations/index.ts';
import { testDatabase } from '../kit/database/postgres.ts';
import { actions } from './actions.ts';
import { MODEL_JOBS } from './model-queue.ts';
import { runModel } from './run.ts';

/** How much is tried. */
export interface ModelOptions {
  readonly runs: number;
  /** Repeats a campaign; printed with what it finds. */
  readonly seed?: number;
  /** Longest time in milliseconds; what was not tried by then is left out. */
  readonly timeoutMs?: number;
}

/**
 * Random interleavings of what happens to the engine, on a real PostgreSQL. Rejects with the smallest run that breaks an
 * invariant, and the seed that repeats it; answers how many were tried.
 */
export async function checkModel({ runs, seed, timeoutMs }: ModelOptions): Promise<number> {
  const home = await testDatabase();
  const logger = silentLogger();
  const database = createDatabase({
    config: home.config,
    maxConnections: 20,
    applicationName: 'model',
    logger,
  });
  await migrate({ database, sets: [{ schema: 'media', migrations: mediaMigrations }], logger });
  const { pool } = database;
  // A transaction of the model may wait for its turn as long as it takes.
  pool.on('connect', (client) => void client.query('set idle_in_transaction_session_timeout = 0'));
  await pool.query(MODEL_JOBS);
  let tried = 0;
  const property = fc.asyncProperty(actions(), fc.scheduler(), async (list, scheduler) => {
    tried += 1;
    const broken = await runModel(pool, scheduler, list);
    if (broken.length > 0) throw new Error(broken.join('\n'));
  });
  try {
    await fc.assert(property, {
      numRuns: runs,
      ...(seed !== undefined && { seed }),
      ...(timeoutMs !== undefined && { interruptAfterTimeLimit: timeoutMs }),
    });
  } finally {
    await database.close();
    await home.drop();
  }
  return tried;
}
