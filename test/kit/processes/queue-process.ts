import { createWriteStream } from 'node:fs';

import { createDatabase } from '../../../platform/database/database.ts';
import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createQueue } from '../../../platform/queue/postgres-queue.ts';

/**
 * A worker as a process of its own, to be killed or paused by tests: `queue-process.ts <database address> <queue>`. It
 * takes jobs, prints `took <id>`, and answers each when the job's row of the table `released` appears.
 */
const [connectionString, name] = process.argv.slice(2);
if (connectionString && name) {
  const logger = silentLogger();
  const database = createDatabase({
    config: { connectionString },
    maxConnections: 3,
    applicationName: 'child',
    logger,
  });
  const bus = await createEventBus({ database, logger });
  const queue = await createQueue({ database, bus, logger });
  await queue.define(name);
  const out = createWriteStream('', { fd: 1 });
  await queue.work(name, { slots: 1 }, async (job) => {
    out.write(`took ${job.id}\n`);
    for (;;) {
      const { rowCount } = await database.pool.query('select from released where id = $1', [job.id]);
      if (rowCount) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  out.write('ready\n');
}
