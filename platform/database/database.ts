import { once } from 'node:events';

import { Kysely, PostgresDialect } from 'kysely';
import pTimeout from 'p-timeout';
import { type Client, DatabaseError, Pool, type PoolClient, type PoolConfig, types } from 'pg';

import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import { inSpan } from '../tracing/span.ts';
import { boundWaits, createStatementNames } from './pool.ts';

/**
 * The connection pool to PostgreSQL, the embedded one or the operator's, and typed access to it. Queries belong to the
 * stores of the subgraphs, the queue and the event bus.
 */
export interface DatabaseOptions {
  /** Where the database is: an address, or the configuration that startEmbeddedPostgres gave. */
  readonly config: PoolConfig | { readonly connectionString: string };
  /** Most connections of this process's pool. The event bus holds one more of its own. */
  readonly maxConnections: number;
  /** Shown in pg_stat_activity. */
  readonly applicationName: string;
  readonly logger: Logger;
  /** Longest statement in milliseconds (default 30,000); PostgreSQL cancels it then. */
  readonly statementTimeoutMs?: number;
  /** Whether the most frequent statements are prepared (default: yes); a pooler may lose them. */
  readonly prepares?: boolean;
  /** Whether statements of traced work become spans (default: no). */
  readonly isTraced?: boolean;
}

/** One pool of connections, shared by all parts of the process. */
export interface Database {
  readonly pool: Pool;
  /** The pool's configuration: for connections beside it (LISTEN). */
  readonly config: PoolConfig;
  /** Kysely over the pool, for the tables that the caller names. All callers share one instance. */
  typed<Tables>(): Kysely<Tables>;
  /** Runs a trivial query. Throws UNAVAILABLE. */
  check(): Promise<void>;
  /** Waits up to 5 s for connections in use, then closes the pool. */
  close(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5000;
/** Longest wait for a connection, free or new, in milliseconds. */
const MAX_WAIT_MS = 5_000;
/** Time that the server has for cancelling a statement, in milliseconds. */
const HANGING_MS = 2_000;

/** Makes the pool; it connects at the first query. */
export function createDatabase(options: DatabaseOptions): Database {
  const { logger, statementTimeoutMs = 30_000 } = options;
  const maxWaitMs = Math.min(MAX_WAIT_MS, statementTimeoutMs);
  const config: PoolConfig = {
    ...options.config,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: maxWaitMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    statement_timeout: statementTimeoutMs,
    // A server that hangs cancels nothing by itself.
    query_timeout: statementTimeoutMs + HANGING_MS,
    // A transaction whose process is gone or paused must not keep its locks.
    idle_in_transaction_session_timeout: 10_000,
    types: { getTypeParser },
  };
  const pool = new Pool(config);
  boundWaits(pool, { max: options.maxConnections, maxWaitMs });
  if (options.isTraced === true) tracePool(pool);
  const connections = trackConnections(pool);
  const nameStatements = options.prepares === false ? undefined : createStatementNames();
  let closing: Promise<void> | undefined;
  // An idle connection that breaks (a restart of the server) is replaced at the next use; without a listener it would
  // end the process. Only its message is logged: pg attaches the whole client to the error.
  pool.on('error', ({ message }) => {
    if (!closing) logger.warn({ reason: message }, 'an idle database connection broke');
  });
  // A connection that breaks inside a transaction fails its next query; without a listener it would end the process.
  pool.on('connect', (client) => {
    dropWhenHanging(client);
    nameStatements?.(client);
    client.on('error', ({ message }) => {
      if (!closing) logger.debug({ reason: message }, 'a database connection in use broke');
    });
  });
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  return {
    pool,
    config,
    typed: <Tables>() => kysely as unknown as Kysely<Tables>,
    check: () => checkPool(pool),
    close: () => (closing ??= closePool(pool, connections, logger)),
  };
}

/** A connection whose statement was given up still has it: it must not serve another one. */
function dropWhenHanging(client: PoolClient): void {
  const query = client.query.bind(client) as (...words: readonly unknown[]) => unknown;
  const watched = (...words: readonly unknown[]): unknown => {
    const answer = query(...words);
    if (answer instanceof Promise) {
      answer.catch((thrown: unknown) => {
        // Marks it as ending, so that the pool does not take it back.
        if (toError(thrown).message === 'Query read timeout') void (client as unknown as Client).end();
      });
    }
    return answer;
  };
  client.query = watched as typeof client.query;
}

/** Whether this is PostgreSQL's unique violation, of the named constraint or of any. */
export function isUniqueViolation(thrown: unknown, constraint?: string): boolean {
  if (!(thrown instanceof DatabaseError) || thrown.code !== '23505') return false;
  return constraint === undefined || thrown.constraint === constraint;
}

/** Whether PostgreSQL refuses the values themselves (class 22, data exceptions): the same statement fails again. */
export function isDataException(thrown: unknown): boolean {
  return thrown instanceof DatabaseError && thrown.code?.startsWith('22') === true;
}

/** bigint (counts, sequence numbers) as a number. Beyond 2^53 it is refused rather than rounded. */
function parseInt8(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`the database's bigint ${text} has no exact number`);
  return value;
}

/** The pool's own parsers: the global ones of `pg` would change for other users in the process. */
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

/** The open connections of a pool; `pool.end()` resolves before they are closed. */
function trackConnections(pool: Pool): ReadonlySet<PoolClient> {
  const open = new Set<PoolClient>();
  pool.on('connect', (client) => {
    open.add(client);
    client.once('end', () => open.delete(client));
  });
  return open;
}

async function closePool(pool: Pool, connections: ReadonlySet<PoolClient>, logger: Logger): Promise<void> {
  // Resolves when no connection is in use any more.
  const ended = pool.end().then(() => Promise.all([...connections].map((client) => once(client, 'end'))));
  const isLate = await pTimeout(
    ended.then(() => false),
    { milliseconds: CLOSE_TIMEOUT_MS, fallback: () => true },
  );
  if (isLate)
    logger.warn({ connections: connections.size }, 'database connections were still in use at the end');
}

type Query = (...words: readonly unknown[]) => unknown;

/** Makes a span of each statement of traced work, named as the statement is. */
function tracePool(pool: Pool): void {
  traceQueries(pool);
  pool.on('connect', traceQueries);
}

function traceQueries(owner: Pool | PoolClient): void {
  const query = owner.query.bind(owner) as Query;
  const traced: Query = (...words) => {
    // The pool sends its own statements on with a callback: those have their span already.
    if (typeof words.at(-1) === 'function') return query(...words);
    return inSpan(statementName(words[0]), { kind: 'client', attributes: ATTRIBUTES }, () => query(...words));
  };
  owner.query = traced as typeof owner.query;
}

const ATTRIBUTES = { 'db.system.name': 'postgresql' };

/** Ours begin with their name; of others the first word is enough. */
function statementName(statement: unknown): string {
  const text = typeof statement === 'string' ? statement : (statement as { readonly text?: string }).text;
  const [, name, verb] = /^\s*(?:\/\*\s*(?:prepared:\s*)?([\w.-]+)\s*\*\/|(\w+))/.exec(text ?? '') ?? [];
  return `sql ${name ?? verb?.toLowerCase() ?? 'statement'}`;
}
