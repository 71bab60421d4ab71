import { setTimeout as pause } from 'node:timers/promises';

import type { Kysely, KyselyPlugin } from 'kysely';

import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { migratedDatabase } from './migrated.ts';
import type { TestDatabase } from './postgres.ts';

/**
 * Migrated databases for tests that need one each: with its open connections it is emptied and lent to the next test of this
 * process. A new connection costs PostgreSQL more than most tests, as it reads the catalog anew.
 */
export interface LentDatabase {
  /** Answers nothing once it is given back: what a test leaves behind does not reach the next one. */
  readonly database: Database;
  /** For other processes, whose connections are ended when it is given back. */
  readonly connectionString: string;
  /** Empties it for the next test; removes it where the test has changed more than rows. */
  readonly giveBack: () => Promise<void>;
}

interface Kept {
  readonly database: Database;
  readonly source: TestDatabase;
  /** What no test may have changed. */
  readonly print: string;
}

/** Given back, for whoever comes next. */
const free: Kept[] = [];
const MOST_FREE = 2;
const MOST_CONNECTIONS = 10;
/** Names our connections, so that those of other processes of a test are told from them. */
const LENT = 'lent to a test';
/** Longest wait for what still runs when it is given back. */
const LEAVE_MS = 2_000;

/** Lends one that was given back, else a new one. */
export async function lendDatabase(): Promise<LentDatabase> {
  const kept = free.pop() ?? (await create());
  const { database, over } = guard(kept.database);
  let given: Promise<void> | undefined;
  return {
    database,
    connectionString: kept.source.connectionString,
    giveBack() {
      over();
      return (given ??= takeBack(kept));
    },
  };
}

async function create(): Promise<Kept> {
  const source = await migratedDatabase();
  const database = createDatabase({
    config: source.config,
    maxConnections: MOST_CONNECTIONS,
    applicationName: LENT,
    logger: silentLogger(),
  });
  return { database, source, print: await readPrint(database) };
}

async function takeBack(kept: Kept): Promise<void> {
  const { database, source } = kept;
  const isAsBefore = free.length < MOST_FREE && (await empty(kept).catch(() => false));
  if (isAsBefore) return void free.push(kept);
  await database.close();
  await source.drop();
}

/** Whether it is as it was lent, but for rows that are gone. */
async function empty({ database, print }: Kept): Promise<boolean> {
  const { pool } = database;
  pool.removeAllListeners('acquire');
  const until = performance.now() + LEAVE_MS;
  while (pool.idleCount < pool.totalCount || pool.waitingCount > 0) {
    if (performance.now() > until) return false;
    // oxlint-disable-next-line eslint/no-await-in-loop -- asked again
    await pause(5);
  }
  const client = await pool.connect();
  try {
    if (client.getTransactionStatus() !== 'I') return false;
    const { rows: open } = await client.query<{ state: string }>(OTHERS);
    if (open.some(({ state }) => state.startsWith('idle in transaction'))) return false;
    if ((await client.query(HELD)).rows.length > 0) return false;
    const { rows } = await client.query<{ name: string }>(WRITTEN);
    const deletes = rows.map(({ name }) => `delete from ${name};`).join('');
    await client.query(`begin; set local session_replication_role = replica; ${deletes} commit`);
    await client.query(FIRST_NUMBERS);
  } finally {
    client.release();
  }
  return (await readPrint(database)) === print;
}

/** The same database until `over` is called. */
function guard(database: Database): { readonly database: Database; readonly over: () => void } {
  let isOver = false;
  const check = () => {
    if (isOver) throw new Error('the test is over: its database is lent to another one');
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
  const lent: Database = {
    ...database,
    pool,
    typed: <Tables>() => typed as Kysely<Tables>,
    close: async () => undefined,
  };
  return { database: lent, over: () => void (isOver = true) };
}

const OWN_SCHEMAS = `(select oid from pg_namespace where nspname in ('media', 'workflow', 'gateway', 'audit', 'queue'))`;

/** Ends what others have open, and says in which state our own connections are. */
const OTHERS = `select coalesce(state, '') as state,
    application_name <> '${LENT}' and pg_terminate_backend(pid, 5000) as ended
  from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`;

/** Locks of a connection, which would be the next test's. */
const HELD = `select from pg_locks where locktype = 'advisory'
  and database = (select oid from pg_database where datname = current_database())`;

/** Tables in which a row was ever written, but for what says which migrations ran. */
const WRITTEN = `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace in ${OWN_SCHEMAS}
  and relname not in ('migrations', 'migrations_lock') and pg_relation_size(oid) > 0`;

const FIRST_NUMBERS = `select setval(seqrelid::regclass, seqstart, false) from pg_sequence join pg_class on pg_class.oid = seqrelid
  where relnamespace in ${OWN_SCHEMAS}`;

/** Changes with each change of tables, columns, indexes, triggers, rules and settings. */
const PRINT = `select md5(concat(
    (select string_agg(concat(oid, ' ', xmin), ',' order by oid) from pg_class where relnamespace in ${OWN_SCHEMAS}),
    (select concat(count(*), ' ', max(pg_attribute.xmin::text::bigint)) from pg_attribute
      join pg_class on pg_class.oid = attrelid where relnamespace in ${OWN_SCHEMAS}),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_constraint),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_trigger),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_proc),
    (select concat(count(*), ' ', max(xmin::text::bigint)) from pg_db_role_setting)
  )) as print`;

async function readPrint({ pool }: Database): Promise<string> {
  const { rows } = await pool.query<{ print: string }>(PRINT);
  return rows[0]?.print ?? '';
}
