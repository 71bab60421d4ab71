import type { Pool, PoolClient } from 'pg';

import { AppError } from '../errors.ts';

type Connected = (error: Error | undefined, client: PoolClient | undefined, done: () => void) => void;

/** How much the newest wait counts for the time that each one ahead costs. */
const WEIGHT = 0.2;
/** Waiting callers per connection that are never too many. */
const ALWAYS = 5;

/**
 * Refuses at once, with UNAVAILABLE, whoever would wait in vain for a connection: the line is so long that their time would be
 * over first, as far as the last waits tell. Else a crowd waits its whole time, is refused all the same, and comes again.
 */
export function boundWaits(
  pool: Pool,
  { max, maxWaitMs }: { readonly max: number; readonly maxWaitMs: number },
): void {
  const connect = pool.connect.bind(pool) as (callback?: Connected) => Promise<PoolClient> | undefined;
  /** Milliseconds that each one ahead in the line costs. */
  let msEach = 0;
  /** Connections that are open, free or in use. */
  let open = 0;
  pool.on('connect', () => void (open += 1));
  pool.on('remove', () => void (open -= 1));

  function refusal(): AppError | undefined {
    const ahead = pool.waitingCount;
    const waitMs = ahead * msEach;
    if (ahead < max * ALWAYS || waitMs <= maxWaitMs) return undefined;
    const message = 'too many requests wait for the database; try again in a moment';
    return new AppError('UNAVAILABLE', message, { retryAfter: Math.ceil(waitMs / 1_000) });
  }
  function measured(callback: Connected): Connected {
    const ahead = pool.waitingCount;
    // A short line tells how long single statements take, not how fast a line moves; one at a pool that is opening, how
    // long that takes.
    if (ahead < max || open === 0) return callback;
    const since = performance.now();
    return (error, client, done) => {
      const each = (performance.now() - since) / (ahead + 1);
      msEach += WEIGHT * (each - msEach);
      callback(error, client, done);
    };
  }
  function bounded(callback: Connected): void {
    const refused = refusal();
    if (refused === undefined) void connect(measured(callback));
    else process.nextTick(() => callback(refused, undefined, () => undefined));
  }

  pool.connect = ((callback?: Connected) => {
    if (callback !== undefined) return bounded(callback);
    return new Promise<PoolClient>((resolve, reject) => {
      bounded((error, client) => {
        if (client === undefined) reject(error ?? new Error('the pool gave no connection'));
        else resolve(client);
      });
    });
  }) as typeof pool.connect;
}

/**
 * Statements that begin with `/* prepared: NAME *\/` are parsed and planned once per connection, not at every call: for the most
 * frequent ones, whose planning costs more than their work. They name the columns that they return: `*` would break on the
 * connections that know it when another release adds a column.
 */
const MARK = '/* prepared: ';
/** Most texts of all names together, and of one; more (a list of another length each time) are planned at every call. */
const MAX_TEXTS = 200;
const MAX_TEXTS_OF_NAME = 50;

type Query = (...words: readonly unknown[]) => unknown;

/** Makes what gives marked statements of a pool's connections their names. */
export function createStatementNames(): (client: PoolClient) => void {
  const names = new Map<string, string>();
  const amounts = new Map<string, number>();
  const assignName = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_TEXTS) return known;
    const mark = text.slice(MARK.length, text.indexOf(' ', MARK.length));
    const amount = amounts.get(mark) ?? 0;
    if (amount >= MAX_TEXTS_OF_NAME) return undefined;
    amounts.set(mark, amount + 1);
    const name = `${mark}#${names.size}`;
    names.set(text, name);
    return name;
  };
  return (client) => {
    const query = client.query.bind(client) as Query;
    const named: Query = (text, values, ...rest) => {
      if (typeof text !== 'string' || !text.startsWith(MARK)) return query(text, values, ...rest);
      return query({ name: assignName(text), text, values }, ...rest);
    };
    client.query = named as typeof client.query;
  };
}
