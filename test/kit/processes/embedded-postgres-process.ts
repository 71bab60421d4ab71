import { startEmbeddedPostgres } from '../../../platform/database/embedded-postgres/embedded-postgres.ts';
import { silentLogger } from '../../../platform/process/logger.ts';

/**
 * A Kiln that has nothing but its database, to be killed by tests: `embedded-postgres-process.ts <data directory>
 * [system cache]`. Prints one line of JSON when the database is there, and stops in order on SIGTERM.
 */
const [dataDir, systemCache] = process.argv.slice(2);
if (dataDir) {
  const logger = silentLogger();
  const server = await startEmbeddedPostgres({
    dataDir,
    logger,
    maxConnections: 20,
    ...(systemCache && { systemCache }),
  });
  process.stdout.write(`${JSON.stringify({ adopted: server.adopted, config: server.config })}\n`);
  const alive = setInterval(() => undefined, 1000);
  process.once('SIGTERM', () => {
    clearInterval(alive);
    void server.stop();
  });
}
