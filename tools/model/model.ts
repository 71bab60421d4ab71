import * as fc from 'fast-check';
import { Pool } from 'pg';

import { createDatabase } from '../../platform/database/database.ts';
import { migrate } from '../../platform/database/migrations.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { mediaMigrations } from '../../subgraphs/media/database/migrations/index.ts';
import { workflowMigrations } from '../../subgraphs/workflow/database/migrations/index.ts';
import { testDatabase } from '../../test/kit/database/postgres.ts';
import { actions } from './actions.ts';
import { MODEL_FUNCTIONS } from './model-functions.ts';
import { MODEL_JOBS } from './model-queue.ts';
import { runModel } from './run.ts';

/** How much is tried. */
export interface ModelOptions {
  readonly runs: number;
  /** Repeats a campaign; printed with what it finds. */
  readonly seed?: number;
  /** Longest time in milliseconds; what was not tried by then is left out. */
  readonly timeoutMs?: number;
  /** Campaigns beside each other, each with a database and a seed of its own, so that the processors have work (default 4). */
  readonly lanes?: number;
  /** Whether the first find is told as it is, without looking for the smallest run that shows it. */
  readonly isFirstEnough?: boolean;
}

/** A campaign under way; `isOver` once one of the lanes has found something. */
interface Campaign extends ModelOptions {
  readonly seed: number;
  tried: number;
  /** Runs of all lanes until the find. */
  foundAfter: number | null;
  isOver: boolean;
}

/**
 * Random interleavings of what happens to the engine, on a real PostgreSQL. Rejects with the smallest run that breaks an
 * invariant, and the seed that repeats it in one lane; answers how many were tried.
 */
export async function checkModel({ lanes = 4, ...options }: ModelOptions): Promise<number> {
  const campaign: Campaign = {
    seed: Date.now() % 2 ** 31,
    ...options,
    tried: 0,
    foundAfter: null,
    isOver: false,
  };
  const shares = Array.from({ length: lanes }, (_, lane) => Math.floor((options.runs + lane) / lanes));
  await Promise.all(
    shares.map((runs, lane) => checkLane(campaign, { runs, seed: (campaign.seed + lane) % 2 ** 31 })),
  );
  return campaign.tried;
}

async function checkLane(
  campaign: Campaign,
  { runs, seed }: { readonly runs: number; readonly seed: number },
): Promise<void> {
  const { timeoutMs } = campaign;
  await withDatabase(async (pool) => {
    let isFound = false;
    const property = fc.asyncProperty(actions(), fc.scheduler(), async (list, scheduler) => {
      if (campaign.isOver && !isFound) return;
      campaign.tried += 1;
      const broken = await runModel(pool, scheduler, list);
      if (broken.length === 0) return;
      campaign.isOver = isFound = true;
      campaign.foundAfter ??= campaign.tried;
      throw new Error([...broken, `found after ${campaign.foundAfter} runs`].join('\n'));
    });
    const limit = timeoutMs === undefined ? {} : { interruptAfterTimeLimit: timeoutMs };
    await fc.assert(property, {
      numRuns: runs,
      seed,
      endOnFailure: campaign.isFirstEnough ?? false,
      ...limit,
    });
  });
}

async function withDatabase(use: (pool: Pool) => Promise<void>): Promise<void> {
  const logger = silentLogger();
  const home = await testDatabase({
    template: {
      name: 'model',
      prepare: async (config) => {
        const database = createDatabase({ config, maxConnections: 2, applicationName: 'model', logger });
        const media = mediaMigrations;
        const workflow = workflowMigrations;
        await migrate({ database, sets: [media, workflow], logger });
        await database.pool.query(`${MODEL_JOBS}; ${MODEL_FUNCTIONS}`);
        await database.close();
      },
    },
  });
  const options = { config: home.config, maxConnections: 20, applicationName: 'model', logger };
  // On a busy machine, and in a transaction that waits for its turn, things take as long as they take.
  const pool = new Pool({
    ...createDatabase(options).config,
    connectionTimeoutMillis: 0,
    // Plans of its own for the values of each statement would cost more than they save.
    options: '-c plan_cache_mode=force_generic_plan',
    statement_timeout: 0,
    idle_in_transaction_session_timeout: 0,
  });
  // Connections that have not quite ended when the database goes are ended by it.
  pool.on('error', () => {});
  try {
    await use(pool);
  } finally {
    await pool.end();
    await home.drop();
  }
}
