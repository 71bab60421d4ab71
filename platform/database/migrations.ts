import { Kysely, PostgresDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { PoolClient } from 'pg';

import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { Database } from './database.ts';

/**
 * Migrates the database to this version. Each owner (a subgraph) has a PostgreSQL schema and a list of migrations; the
 * search path points to the schema, so migrations name their tables without it.
 */
export interface MigrationSet {
  /** The PostgreSQL schema, created when missing. It also holds the list of applied migrations. */
  readonly schema: string;
  /** Applied in the order of their names. A released migration is never changed: add another one. */
  readonly migrations: Readonly<Record<string, Migration>>;
}

export interface MigrateOptions {
  readonly database: Database;
  readonly sets: readonly MigrationSet[];
  readonly logger: Logger;
}

/** "KILN" in ASCII; processes that start at once migrate one at a time. */
const LOCK = 0x4b_49_4c_4e;

/**
 * Applies what is new and returns its names (`media/001-tasks`). The migrations of one set are one transaction. Throws
 * UNAVAILABLE with the migration's name and cause.
 */
export async function migrate({ database, sets, logger }: MigrateOptions): Promise<string[]> {
  const client = await database.pool.connect();
  try {
    // Building an index may take long, and so may waiting for another process that does.
    await client.query(
      `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = '10min'`,
    );
    await client.query('select pg_advisory_lock($1)', [LOCK]);
    const applied: string[] = [];
    for (const set of sets) applied.push(...(await migrateSet(client, set)));
    if (applied.length > 0) logger.info({ applied }, 'migrated the database');
    return applied;
  } finally {
    // Closing the connection resets its settings and releases the lock.
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

/** Kysely on the connection that holds the lock, so that a pool of one connection is enough. */
function overConnection(client: PoolClient): Kysely<unknown> {
  const lent = {
    query: client.query.bind(client),
    // The connection is released when all sets are done.
    release: () => undefined,
  } as unknown as PoolClient;
  return new Kysely({
    dialect: new PostgresDialect({
      pool: { connect: async () => lent, end: async () => undefined, options: {} },
    }),
  });
}
