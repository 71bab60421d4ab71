import { setTimeout as pause } from 'node:timers/promises';

import type { Kysely, KyselyPlugin } from 'kysely';

import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { migratedDatabase } from './migrated.ts';
import type { TestDatabase } from './postgres.ts';

/**
 * Migrated databases for tests that need one each: the rows of a released one are deleted, and the next test of this process gets
 * it with its open connections. A new connection costs PostgreSQL more than most tests, as it reads the catalog anew.
 */
export interface ReusedDatabase {
  /** Throws once it is released: what a test leaves running does not reach the next one. */
  readonly database: Database;
  /** For other processes, whose connections are ended at the release. */
  readonly connectionString: string;
  /** Deletes all rows for the next test; drops the database where the test has changed more than rows. */
  readonly release: () => Promise<void>;
}

interface Reusable {
  readonly database: Database;
  readonly source: TestDatabase;
  /** Of all that no test may have changed. */
  readonly fingerprint: string;
}

/** Released, for the next test. */
const idle: Reusable[] = [];
/** As many tests as Vitest runs at the same time in a file. */
const MAX_IDLE = 5;
const MAX_CONNECTIONS = 10;
/** Tells our connections from those of other processes of a test. */
const APPLICATION_NAME = 'reused test database';
/** Longest wait for statements that still run at the release. */
const SETTLE_MS = 2_000;

/** A released one, else a new one. */
export async function acquireReusedDatabase(): Promise<ReusedDatabase> {
  const reusable = idle.pop() ?? (await create());
  const { database, revoke } = createRevocable(reusable.database);
  let released: Promise<void> | undefined;
  return {
    database,
    connectionString: reusable.source.connectionString,
    release() {
      revoke();
      return (released ??= takeBack(reusable));
    },
  };
}

async function create(): Promise<Reusable> {
  const source = await migratedDatabase();
  const database = createDatabase({
    config: source.config,
    maxConnections: MAX_CONNECTIONS,
    applicationName: APPLICATION_NAME,
    logger: silentLogger(),
  });
  return { database, source, fingerprint: await readFingerprint(database) };
}

async function takeBack(reusable: Reusable): Promise<void> {
  const isReset = await reset(reusable).catch(() => false);
  if (isReset && idle.length < MAX_IDLE) return void idle.push(reusable);
  await reusable.database.close();
  await reusable.source.drop();
}

/** Deletes all rows. False when more than rows was changed, or something is left open. */
async function reset({ database, fingerprint }: Reusable): Promise<boolean> {
  const { pool } = database;
  // Tests count connections by it; the product does not listen to it.
  pool.removeAllListeners('acquire');
  const until = performance.now() + SETTLE_MS;
  while (pool.idleCount < pool.totalCount || pool.waitingCount > 0) {
    if (performance.now() > until) return false;
    // oxlint-disable-next-line eslint/no-await-in-loop -- asked again
    await pause(5);
  }
  const client = await pool.connect();
  try {
    if (client.getTransactionStatus() !== 'I') return false;
    await client.query(END_OTHERS);
    if ((await client.query(LEFT_OPEN)).rows.length > 0) return false;
    const { rows } = await client.query<{ name: string }>(WRITTEN_TABLES);
    const deletes = rows.map(({ name }) => `delete from ${name};`).join('');
    await client.query(`begin; set local session_replication_role = replica; ${deletes} commit`);
    await client.query(RESET_SEQUENCES);
  } finally {
    client.release();
  }
  return (await readFingerprint(database)) === fingerprint;
}

/** The same database, which throws once it is revoked. */
function createRevocable(database: Database): { readonly database: Database; readonly revoke: () => void } {
  let isRevoked = false;
  const check = () => {
    if (isRevoked) throw new Error('this test has released its database');
  };
  const pool = new Proxy(database.pool, {
    get(target, name) {
      const own: unknown = Reflect.get(target, name, target);
      if (typeof own !== 'function') return own;
      if (name !== 'query' && name !== 'connect') return own.bind(target) as unknown;
      return async (...words: unknown[]) => {
        check();
        return (await own.apply(target, words)) as unknown;
      };
    },
  });
  const plugin: KyselyPlugin = {
    transformQuery({ node }) {
      check();
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const typed = database.typed<unknown>().withPlugin(plugin);
  const revocable: Database = {
    ...database,
    pool,
    typed: <Tables>() => typed as Kysely<Tables>,
    close: async () => undefined,
  };
  return { database: revocable, revoke: () => void (isRevoked = true) };
}

const OWN_SCHEMAS = `(select oid from pg_namespace where nspname in ('media', 'workflow', 'gateway', 'audit', 'queue'))`;

const END_OTHERS = `select pg_terminate_backend(pid, 5000) from pg_stat_activity
  where datname = current_database() and application_name <> '${APPLICATION_NAME}'`;

/** Transactions and locks of our other connections, which would be the next test's. */
const LEFT_OPEN = `select from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and state like 'idle in transaction%'
  union all select from pg_locks
    where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`;

/** Tables in which a row was ever written, but for those that say which migrations ran. */
const WRITTEN_TABLES = `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace in ${OWN_SCHEMAS}
  and relname not in ('migrations', 'migrations_lock') and pg_relation_size(oid) > 0`;

const RESET_SEQUENCES = `select setval(seqrelid::regclass, seqstart, false) from pg_sequence join pg_class on pg_class.oid = seqrelid
  where relnamespace in ${OWN_SCHEMAS}`;

/** Changes with each change of tables, columns, indexes, triggers, rules and settings of this database; those of others stand in the same catalog. */
const FINGERPRINT = `select md5(concat(
    (select string_agg(concat(oid, ' ', xmin), ',' order by oid) from pg_class where relnamespace in ${OWN_SCHEMAS}),
    (select concat(count(*), ' ', max(pg_attribute.xmin::text::bigint)) from pg_attribute
      join pg_class on pg_class.oid = attrelid where relnamespace in ${OWN_SCHEMAS}),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_constraint),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_trigger),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_proc),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_db_role_setting
      where setdatabase = (select oid from pg_database where datname = current_database()))
  )) as fingerprint`;

async function readFingerprint({ pool }: Database): Promise<string> {
  const { rows } = await pool.query<{ fingerprint: string }>(FINGERPRINT);
  return rows[0]?.fingerprint ?? '';
}
