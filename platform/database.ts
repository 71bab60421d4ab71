import { Kysely, PostgresDialect } from 'kysely';
import { DatabaseError, Pool, type PoolConfig, types } from 'pg';
import type { Logger } from 'pino';

import { AppError, toError } from './errors.ts';

/**
 * One pool of connections to PostgreSQL, the embedded one or the operator's, and typed access to it. What is asked of
 * the database belongs to the stores of the subgraphs, the queue and the event bus.
 */
export interface DatabaseOptions {
  /** Where the database is: an address, or the configuration that startEmbeddedPostgres gave. */
  readonly config: PoolConfig | { readonly connectionString: string };
  /** Most connections of this process's pool. The event bus holds one more of its own. */
  readonly maxConnections: number;
  /** Shown in pg_stat_activity, so that an operator sees who is who. */
  readonly applicationName: string;
  readonly logger: Logger;
  /** Longest statement in milliseconds (default 30,000); PostgreSQL cancels what takes longer. */
  readonly statementTimeoutMs?: number;
}

export interface Database {
  readonly pool: Pool;
  /** What the pool was made with: for connections beside it (LISTEN). */
  readonly config: PoolConfig;
  /** Kysely over the pool, for the tables the caller names. Cheap: all callers share one. */
  typed<Tables>(): Kysely<Tables>;
  /** Asks the database for a sign of life. Throws UNAVAILABLE. */
  check(): Promise<void>;
  /** Waits up to 5 s for connections in use, then closes the rest. */
  close(): Promise<void>;
}

/** Makes the pool; connects at the first use. */
export function createDatabase(options: DatabaseOptions): Database {
  const { logger, statementTimeoutMs = 30_000 } = options;
  const config: PoolConfig = {
    ...options.config,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: statementTimeoutMs,
    // A transaction whose holder went away must not keep its locks.
    idle_in_transaction_session_timeout: 30_000,
    types: { getTypeParser },
  };
  const pool = new Pool(config);
  // An idle connection that breaks (a restart of the server) is replaced at the next use; unhandled it would end us.
  pool.on('error', (error) => logger.warn({ err: error }, 'an idle database connection broke'));
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  let closing: Promise<void> | undefined;
  return {
    pool,
    config,
    typed: <Tables>() => kysely as unknown as Kysely<Tables>,
    check: () => checkPool(pool),
    close: () => (closing ??= closePool(pool, logger)),
  };
}

/** Whether this is PostgreSQL's "duplicate key", of the named constraint or of any. */
export function isUniqueViolation(thrown: unknown, constraint?: string): boolean {
  if (!(thrown instanceof DatabaseError) || thrown.code !== '23505') return false;
  return constraint === undefined || thrown.constraint === constraint;
}

/** bigint (counts, sequence numbers) as a number, which is exact up to 2^53; beyond that refusing is better than rounding. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the database's bigint ${text} is no exact number`);
  return value;
}

/** The pool's own parsers, because the global ones of `pg` would change it for other users in the process. */
const getTypeParser: typeof types.getTypeParser = (oid, format) =>
  oid === types.builtins.INT8 && format !== 'binary' ? parseInt8 : types.getTypeParser(oid, format);

async function checkPool(pool: Pool): Promise<void> {
  try {
    await pool.query('select 1');
  } catch (thrown) {
    throw new AppError('UNAVAILABLE', `the database does not answer: ${toError(thrown).message}`, {
      cause: thrown,
    });
  }
}

async function closePool(pool: Pool, logger: Logger): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => resolve('late'), 5000);
  const result = await Promise.race([pool.end(), late]);
  clearTimeout(timer);
  if (result === 'late') logger.warn('database connections were still in use at the end');
}
