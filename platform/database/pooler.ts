import pTimeout from 'p-timeout';
import { DatabaseError, type PoolClient } from 'pg';

import { AppError, toError } from '../errors.ts';
import type { Logger } from '../process/logger.ts';
import type { Database } from './database.ts';

/** What of Kiln needs a connection that stays the same between transactions. */
export interface PoolerOptions {
  readonly database: Pick<Database, 'pool'>;
  /** Whether statements are prepared (DATABASE_PREPARE). */
  readonly prepares: boolean;
  /** Whether wake-ups come over LISTEN: no EVENTS_URL. */
  readonly listens: boolean;
  readonly logger: Logger;
}

/** Tries, as another client may take the connection in between. */
const TRIES = 3;
const MAX_WAIT_MS = 3_000;
const PROBE = { name: 'kiln.pooler', text: 'select pg_backend_pid() as pid' };
/** PostgreSQL's "prepared statement does not exist". */
const UNKNOWN_STATEMENT = '26000';

/**
 * Recognises a pooler that hands each transaction to another connection. Throws NOT_CONFIGURED with the remedy where it
 * refuses our parameters, or loses prepared statements while they are used; returns whether there is one.
 */
export async function checkPooler({ database, prepares, listens, logger }: PoolerOptions): Promise<boolean> {
  const found = await probe(database).catch((thrown: unknown) => {
    throw refusedParameter(thrown) ?? thrown;
  });
  if (found === 'direct') return false;
  if (prepares && found === 'loses statements') {
    throw new AppError(
      'NOT_CONFIGURED',
      'DATABASE_URL leads to a pooler in transaction mode that loses prepared statements (PgBouncer before 1.21, or max_prepared_statements = 0): set DATABASE_PREPARE=off',
    );
  }
  logger.warn(
    { listens },
    'the database is behind a pooler in transaction mode: migrate by npm run migrate with a direct address, and set EVENTS_URL, as wake-ups over LISTEN do not come through',
  );
  return true;
}

type Found = 'direct' | 'keeps statements' | 'loses statements';

async function probe({ pool }: Pick<Database, 'pool'>): Promise<Found> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const one = await pool.connect();
    const two = await pool.connect().catch((thrown: unknown) => {
      one.release();
      throw thrown;
    });
    try {
      const found = await probeWith(one, two);
      if (found !== 'direct') return found;
    } finally {
      // What the probe has left on them must not be met by anybody else.
      one.release(true);
      two.release(true);
    }
  }
  return 'direct';
}

/** Two clients that are on one connection of the server are behind a pooler. */
async function probeWith(one: PoolClient, two: PoolClient): Promise<Found> {
  const first = await readPid(one, PROBE);
  await two.query('begin');
  if ((await readPid(two, PROBE.text)) !== first) return 'direct';
  // The other one holds the connection that knows the statement: this one gets another.
  const again = one.query(PROBE).then(
    (): Found => 'keeps statements',
    (thrown: unknown): Found => {
      if (thrown instanceof DatabaseError && thrown.code === UNKNOWN_STATEMENT) return 'loses statements';
      throw thrown;
    },
  );
  // A pool of one connection has no other: its first answer says enough.
  return await pTimeout(again, { milliseconds: MAX_WAIT_MS, fallback: (): Found => 'keeps statements' });
}

async function readPid(client: PoolClient, text: typeof PROBE | string): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>(text);
  return rows[0]?.pid;
}

/** The refusal of a pooler that does not know our parameters; undefined for any other error. */
function refusedParameter(thrown: unknown): AppError | undefined {
  const { message } = toError(thrown);
  const [, name] = /unsupported startup parameter[^:]*: (\w+)/.exec(message) ?? [];
  if (name === undefined) return undefined;
  return new AppError(
    'NOT_CONFIGURED',
    `DATABASE_URL leads to a pooler that refuses the parameter ${name}: add ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout to its configuration, and give the role these limits (alter role ... set statement_timeout = '30s')`,
    { cause: thrown },
  );
}
