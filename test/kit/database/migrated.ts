import { allMigrations } from '../../../gateway/migrations/all.ts';
import { createDatabase } from '../../../platform/database/database.ts';
import { migrate } from '../../../platform/database/migrations.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { type TestDatabase, testDatabase, type TestDatabaseOptions } from './postgres.ts';

/**
 * A database of the caller's own with every table of Kiln, copied from one that is migrated once per run.
 * What migrations do to an empty database is tried by their own tests and by those that start a Kiln with nothing there.
 */
export function migratedDatabase(): Promise<TestDatabase> {
  return testDatabase({ template: { name: 'migrated', prepare } });
}

const prepare: NonNullable<TestDatabaseOptions['template']>['prepare'] = async (config) => {
  const logger = silentLogger();
  const database = createDatabase({ config, maxConnections: 4, applicationName: 'template', logger });
  await migrate({ database, sets: allMigrations, logger });
  await database.close();
};
