import type { PoolConfig } from 'pg';

import { createDatabase } from '../../../platform/database/database.ts';
import { createLogger } from '../../../platform/process/logger.ts';
import { mediaDatabase } from '../../../subgraphs/media/database/database.ts';
import { prune } from '../../../subgraphs/media/tasks/work/pruner.ts';
import type { BenchTools, Figure } from '../bench.ts';
import type { LoadRequest } from '../load/load.ts';

/** What is removed, and what is read meanwhile. */
interface RemovalOrder {
  readonly connection: string;
  readonly reads: LoadRequest;
  /** Entries of each log. */
  readonly events: number;
}

/** How fast old logs are removed, as the pruner does it, and what reads notice of it. */
export async function removal(
  tools: BenchTools,
  { connection, reads, events }: RemovalOrder,
): Promise<Figure> {
  const logger = createLogger({ level: 'warn' });
  const database = createDatabase({
    config: JSON.parse(connection) as PoolConfig,
    maxConnections: 2,
    applicationName: 'bench removal',
    logger,
  });
  const count = async (condition: string): Promise<number> => {
    const { rows } = await database.pool.query<{ count: number }>(
      `select count(*)::integer as count from media.tasks where ${condition}`,
    );
    return rows[0]?.count ?? 0;
  };
  const before = await tools.load.measure(reads);
  const removedBefore = await count('events_pruned');
  const begun = performance.now();
  let ended = 0;
  // Every finished task of the long history ended a day ago, so that one run has all of them to do.
  const options = {
    database: mediaDatabase(database),
    logger,
    files: { prune: () => Promise.resolve(0), remove: () => Promise.reject(new Error('no file is removed')) },
    queue: {
      isDefined: () => Promise.resolve(false),
      enqueue: () => Promise.resolve(),
      wake: () => undefined,
    },
    registry: { ofAttempt: () => null },
    eventRetentionDays: 1,
  };
  const removing = prune(options).then(() => void (ended = performance.now()));
  const meanwhile = await tools.load.measure(reads);
  await removing;
  const removed = ((await count('events_pruned')) - removedBefore) * events;
  const seconds = (ended - begun) / 1000;
  const vacuumBegun = performance.now();
  await database.pool.query('vacuum media.task_events');
  const vacuum = (performance.now() - vacuumBegun) / 1000;
  await database.close();
  return {
    what: 'status reads while old logs are removed',
    ours: `${meanwhile.perSecond.toFixed(0)}/s, p99 ${meanwhile.p99} ms`,
    baseline: `before: ${before.perSecond.toFixed(0)}/s, p99 ${before.p99} ms`,
    ratio: null,
    note: `${removed} entries removed in ${seconds.toFixed(1)} s (${(removed / seconds).toFixed(0)}/s); the vacuum after it took ${vacuum.toFixed(1)} s`,
  };
}
