import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { createDatabase } from '../platform/database/database.ts';
import { startEmbeddedPostgres } from '../platform/database/embedded-postgres/embedded-postgres.ts';
import { migrate } from '../platform/database/migrations.ts';
import { silentLogger } from '../platform/process/logger.ts';
import { generateTables, tableTypes } from './tables.ts';

// `npm run tables`: writes the table types of a new, migrated, embedded database.
const dataDir = await mkdtemp(path.join(os.tmpdir(), 'kiln-tables-'));
const logger = silentLogger();
const server = await startEmbeddedPostgres({ dataDir, logger, maxConnections: 10, skipSync: true });
const database = createDatabase({
  config: server.config,
  maxConnections: 3,
  applicationName: 'tables',
  logger,
});
try {
  await migrate({ database, sets: tableTypes, logger });
  for (const types of tableTypes) {
    const content = await generateTables(database.typed(), types);
    await writeFile(path.join(import.meta.dirname, '..', types.file), content);
    process.stdout.write(`wrote ${types.file}\n`);
  }
} finally {
  await database.close();
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
}
