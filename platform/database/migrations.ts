import { setTimeout as pause } from 'node:timers/promises';

import { Kysely, PostgresDialect } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { PoolClient } from 'pg';

import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import { buildIndexes, type Checks, isUnproven, validateChecks } from './concurrent-indexes.ts';
import type { Database } from './database.ts';

/**
 * Migrates the database to this version. Each owner (a subgraph) has a PostgreSQL schema and a list of migrations; the
 * search path points to the schema, so migrations name their tables without it.
 */
export interface MigrationSet {
  /** The PostgreSQL schema, created when missing. It also holds the list of applied migrations. */
  readonly schema: string;
  /**
   * Applied in the order of their names. A released migration is never changed: add another one, which only adds
   * (tools/upgrade/migrations.test.ts). One that takes away what the previous release no longer uses is named
   * `0030-what-needs-0025`: a process that does not know migration 0025 does not start on such a database.
   */
  readonly migrations: Readonly<Record<string, Migration>>;
  /**
   * Indexes of tables that may be large, by name: built after the migrations without keeping anybody from writing. For
   * instance `'tasks_by_kind': 'media.tasks (kind, id desc)'`, or `'unique media.tasks (kind)'`.
   */
  readonly indexes?: Readonly<Record<string, string>>;
  /** Checks that a migration has added `not valid`, with their tables: the rows of before are held to them afterwards. */
  readonly checks?: Checks;
}

export interface MigrateOptions {
  readonly database: Database;
  readonly sets: readonly MigrationSet[];
  readonly logger: Logger;
  /** Whether a pooler in transaction mode stands before the database (default: no): then nothing is migrated. */
  readonly isPooled?: boolean;
}

/** "KILN" in ASCII; processes that start at once migrate one at a time. */
const LOCK = 0x4b_49_4c_4e;
/** Most that one process waits for another one that migrates, or for somebody who holds a table. */
const PATIENCE_MS = 600_000;
/** While a statement waits for a table, everybody else waits behind it. So it gives up soon, and tries again. */
const TABLE_WAIT_MS = 2_000;
const BETWEEN_TRIES_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Applies what is new and returns its names (`media/001-tasks`). The migrations of one set are one transaction. Throws
 * UNAVAILABLE with the migration's name and cause, NOT_CONFIGURED behind a pooler.
 */
export async function migrate({
  database,
  sets,
  logger,
  isPooled = false,
}: MigrateOptions): Promise<string[]> {
  if (await isUpToDate(database, sets)) return [];
  if (isPooled) {
    // Its lock and its settings would stay on a connection of the pooler's.
    const remedy =
      'run npm run migrate with a DATABASE_URL that leads to PostgreSQL itself, then start again';
    throw new AppError(
      'NOT_CONFIGURED',
      `a pooler in transaction mode can not migrate the database: ${remedy}`,
    );
  }
  const client = await database.pool.connect();
  try {
    // Building an index may take long.
    await client.query(
      `set statement_timeout = 0; set idle_in_transaction_session_timeout = 0; set lock_timeout = ${TABLE_WAIT_MS}`,
    );
    await takeTurn(client);
    const applied: string[] = [];
    for (const set of sets) {
      if (await isNewer(client, set)) {
        logger.info(
          { schema: set.schema },
          'the database is of a newer version, which this one can run beside',
        );
        continue;
      }
      applied.push(...(await migrateInTime(client, set)));
      await buildIndexes(client, set);
      await validateChecks(client, set.checks);
    }
    if (applied.length > 0) logger.info({ applied }, 'migrated the database');
    return applied;
  } finally {
    // Closing the connection resets its settings and releases the lock.
    client.release(true);
  }
}

/** Whether each set is applied whole and nothing else is: then a start neither takes a turn nor writes. */
async function isUpToDate({ pool }: Database, sets: readonly MigrationSet[]): Promise<boolean> {
  const tables = sets.map(({ schema }) => `${schema}.migrations`);
  const indexes = sets.flatMap(({ schema, indexes: names = {} }) =>
    Object.keys(names).map((name) => `${schema}.${name}`),
  );
  const { rows: found } = await pool.query<{ tables: number; indexes: number }>(
    `select (select count(*) from unnest($1::text[]) as name where to_regclass(name) is not null) as tables,
      (select count(*) from unnest($2::text[]) as name
        join pg_index on indexrelid = to_regclass(name) and indisvalid) as indexes`,
    [tables, indexes],
  );
  if (found[0]?.tables !== tables.length || found[0].indexes !== indexes.length) return false;
  for (const [name, table] of sets.flatMap(({ checks = {} }) => Object.entries(checks))) {
    if (await isUnproven(pool, name, table)) return false;
  }
  const { rows } = await pool.query<{ name: string }>(
    tables.map((table) => `select '${table}/' || name as name from ${table}`).join(' union all '),
  );
  const applied = new Set(rows.map(({ name }) => name));
  const own = sets.flatMap(({ migrations }, index) =>
    Object.keys(migrations).map((name) => `${tables[index]}/${name}`),
  );
  return applied.size === own.length && own.every((name) => applied.has(name));
}

/** Asks again and again: who waits inside of a statement would hold up an index that is built beside. */
async function takeTurn(client: PoolClient): Promise<void> {
  for (const until = Date.now() + PATIENCE_MS; ;) {
    const { rows } = await client.query<{ taken: boolean }>('select pg_try_advisory_lock($1) as taken', [
      LOCK,
    ]);
    if (rows[0]?.taken === true) return;
    if (Date.now() > until) {
      throw new AppError('UNAVAILABLE', 'another process has been migrating the database for ten minutes');
    }
    await pause(100);
  }
}

/**
 * Whether a newer version has migrated the database, as it does while it replaces this one. Throws when it has taken away
 * what this version uses.
 */
async function isNewer(client: PoolClient, { schema, migrations }: MigrationSet): Promise<boolean> {
  const table = `${schema}.migrations`;
  const { rows: found } = await client.query<{ is: boolean }>('select to_regclass($1) is not null as is', [
    table,
  ]);
  if (found[0]?.is !== true) return false;
  const { rows } = await client.query<{ name: string }>(`select name from ${table}`);
  const applied = new Set(rows.map(({ name }) => name));
  const own = Object.keys(migrations).toSorted();
  const newer = [...applied].filter((name) => name > (own.at(-1) ?? ''));
  // What is missing in between is for the migrator to refuse.
  if (newer.length === 0 || !own.every((name) => applied.has(name))) return false;
  const refused = newer.find((name) => {
    const needed = /-needs-(\d+)$/.exec(name)?.[1];
    return needed !== undefined && !own.some((known) => known.startsWith(`${needed}-`));
  });
  if (refused === undefined) return true;
  const why = `the database is two versions newer or more: ${schema}/${refused} took away what this one uses`;
  throw new AppError('UNAVAILABLE', `${why}. Start a newer version.`);
}

async function migrateInTime(client: PoolClient, set: MigrationSet): Promise<string[]> {
  for (const until = Date.now() + PATIENCE_MS; ;) {
    try {
      return await migrateSet(client, set);
    } catch (thrown) {
      const code = (toError(thrown).cause as { readonly code?: unknown } | undefined)?.code;
      if (code !== LOCK_NOT_AVAILABLE || Date.now() > until) throw thrown;
      await pause(BETWEEN_TRIES_MS);
    }
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
