import path from 'node:path';

import type { PoolConfig } from 'pg';

import { startEmbeddedPostgres } from '../database/embedded-postgres/embedded-postgres.ts';
import { isSupervised } from '../process/cluster/messages.ts';
import { acquireInstanceLock } from '../process/instance-lock.ts';
import type { ProcessParts } from './run-process.ts';

/** The data of a process: its directory, and the database that is there or is being started there. */
export interface OpenedData {
  /** How to connect, as soon as the database accepts connections. Rejects when the embedded one does not start. */
  readonly connection: Promise<PoolConfig | { readonly connectionString: string }>;
}

/**
 * Locks the data directory (one whole Kiln at a time) and begins to start the embedded PostgreSQL, unless DATABASE_URL names
 * another. It takes as long as loading the program, so a main.ts does it first. Throws CONFLICT.
 */
export function openData(parts: ProcessParts): OpenedData {
  const { config, lifecycle } = parts;
  // One of several processes: its supervisor has the lock.
  if (config.role === 'all' && !isSupervised) {
    const release = acquireInstanceLock({ dataDir: config.data.dir, name: 'kiln' });
    lifecycle.add('data directory', async () => release());
  }
  const connection = connectToDatabase(parts);
  // Whoever connects learns of a failure; until then it is not an unhandled one.
  connection.catch(() => undefined);
  return { connection };
}

/** How to connect to the database of DATABASE_URL, or to the embedded one, which is started unless another process has. */
export async function connectToDatabase({
  config,
  logger,
  lifecycle,
}: ProcessParts): OpenedData['connection'] {
  if (config.data.databaseUrl !== null) return { connectionString: config.data.databaseUrl };
  const starting = startEmbeddedPostgres({
    dataDir: config.data.dir,
    logger,
    onLost: (error) => {
      logger.error({ error }, 'the embedded PostgreSQL has ended');
      void lifecycle.stop('the database is gone').then(() => process.exit(1));
    },
  });
  // A stop during the start waits for it. What did not start has nothing to stop.
  lifecycle.add('embedded PostgreSQL', async () => (await starting.catch(() => null))?.stop());
  const postgres = await starting;
  logger.info(
    { directory: path.join(config.data.dir, 'postgres'), adopted: postgres.adopted },
    'embedded PostgreSQL is up',
  );
  return postgres.config;
}
