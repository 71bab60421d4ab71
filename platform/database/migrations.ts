import { Kysely, PostgresDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { PoolClient } from 'pg';

import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { Database } from './database.ts';

/**
 * Brings the database to what this version of Kiln expects. Each owner (a subgraph) has a PostgreSQL schema of its own
 * and a list of migrations for it; PostgreSQL's search path points there, so a migration names its tables plainly.
 */
export interface MigrationSet {
  /** The PostgreSQL schema; made when missing. It also holds the list of migrations that have run. */
  readonly schema: string;
  /** Run in the order of their names. A migration that was released is never changed: add another. */
  readonly migrations: Readonly<Record<string, Migration>>;
}

export interface MigrateOptions {
  readonly database: Database;
  readonly sets: readonly MigrationSet[];
  readonly logger: Logger;
}

/** "KILN" in ASCII; any number of processes may start at once, one at a time gets in here. */
const LOCK = 0x4b_49_4c_4e;

/**
 * Runs what has not run yet and answers its names (`media/001-tasks`). The migrations of one set are one transaction: if
 * one fails, none of that set is left. Throws UNAVAILABLE with the migration's name and cause.
 */
export async function migrate({ database, sets, logger }: MigrateOptions): Promise<string[]> {
  const client = await database.pool.connect();
  try {
    // Building an index may take long, and so may waiting for another process that builds one.
    await client.query(
      `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '10min'`,
    );
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const applied: string[] = [];
    for (const set of sets) applied.push(...(await migrateSet(client, set)));
    if (applied.length > 0) logger.info({ applied }, 'migrated the database');
    return applied;
  } finally {
    // Closing the connection undoes its settings and gives the lock back, whatever has happened.
    client.release(true);
  }
}

async function migrateSet(client: PoolClient, { schema, migrations }: MigrationSet): Promise<string[]> {
  if (!/^[a-z_]+$/.test(schema)) throw new AppError('INTERNAL', `${schema} cannot be the name of a schema`);
  await client.query(`create schema if not exists ${schema}; set search_path to ${schema}, public`);
  const migrator = new Migrator({
    db: overConnection(client),
    provider: { getMigrations: async () => ({ ...migrations }) },
    migrationTableSchema: schema,
    migrationTableName: 'migrations',
    migrationLockTableName: 'migrations_lock',
    nameComparator: (one, other) => (one < other ? -1 : Number(one > other)),
  });
  const { error, results = [] } = await migrator.migrateToLatest();
  if (error !== undefined) {
    const failed = results.find(({ status }) => status === 'Error');
    const what = failed ? `migration ${schema}/${failed.migrationName}` : `migrating ${schema}`;
    throw new AppError('UNAVAILABLE', `${what} failed: ${toError(error).message}`, { cause: error });
  }
  return results.map(({ migrationName }) => `${schema}/${migrationName}`);
}

/** Kysely on the one connection that holds the lock, so that even a pool of one connection is enough. */
function overConnection(client: PoolClient): Kysely<unknown> {
  const lent = {
    query: client.query.bind(client),
    // The connection stays ours until all sets are done.
    release: () => undefined,
  } as unknown as PoolClient;
  return new Kysely({
    dialect: new PostgresDialect({
      pool: { connect: async () => lent, end: async () => undefined, options: {} },
    }),
  });
}
