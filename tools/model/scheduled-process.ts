import { Kysely, PostgresDialect, type PostgresPoolClient } from 'kysely';
import { Query, type Pool, type PoolClient, type QueryConfig, type QueryResult } from 'pg';

import { columnNames } from '../../subgraphs/media/database/database.ts';
import type { DB } from '../../subgraphs/media/database/tables.ts';

/** Decides which of the pending calls goes on next; fast-check's scheduler is one. */
export interface Scheduler {
  schedule<Result>(task: Promise<Result>, label: string): Promise<Result>;
  count(): number;
  waitOne(): Promise<void>;
}

/** Longest wait for a statement before it counts as waiting for a lock, in milliseconds. */
const LOCK_WAIT_MS = 20;

/** The outside calls of all processes of one run: each waits for its turn, and a crash takes those of one process away. */
export function createSchedule(scheduler: Scheduler) {
  /** Statements under way; those that wait for a lock are not waited for. */
  const statements = new Set<Promise<unknown>>();
  const blocked = new WeakSet<Promise<unknown>>();
  const state = { isFree: false };

  async function untilIdle(): Promise<void> {
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const running = [...statements].filter((statement) => !blocked.has(statement));
      if (running.length === 0) return;
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<'late'>(
        (resolve) => (timer = setTimeout(() => resolve('late'), LOCK_WAIT_MS)),
      );
      const first = await Promise.race([late, ...running]);
      clearTimeout(timer);
      if (first === 'late') for (const statement of running) blocked.add(statement);
    }
  }
  return {
    /**
     * Lets every call through at once: the end of a run, where order is no longer of interest. Also those that wait by now:
     * what goes on beside the work of a process may hold a lock.
     */
    async free(): Promise<void> {
      state.isFree = true;
      while (scheduler.count() > 0) await scheduler.waitOne();
    },
    turn: (label: string) =>
      state.isFree ? Promise.resolve() : scheduler.schedule(Promise.resolve(), label),
    /** Counts a statement of the database as under way. */
    track<Result>(statement: Promise<Result>): Promise<Result> {
      const done = statement.then(
        () => undefined,
        () => undefined,
      );
      statements.add(done);
      void done.then(() => statements.delete(done));
      return statement;
    },
    /** Lets that many calls go on, one after the other. */
    async advance(steps: number): Promise<void> {
      for (let step = 0; step < steps; step += 1) {
        await untilIdle();
        if (scheduler.count() === 0) return;
        await scheduler.waitOne();
      }
    },
    /** Goes on until `isDone`. */
    async drain(isDone: () => boolean): Promise<void> {
      while (!isDone()) {
        await untilIdle();
        if (scheduler.count() > 0) await scheduler.waitOne();
        else await Promise.race([...statements, new Promise((resolve) => setTimeout(resolve, 2))]);
      }
    },
  };
}

/** What createSchedule makes. */
export type Schedule = ReturnType<typeof createSchedule>;

const NOTHING = { command: 'BEGIN', rowCount: null, rows: [] };

/** A promise that never comes: what a crashed process waits for. */
const never = <Result>(): Promise<Result> => new Promise(() => {});

/** One process over the shared pool. After its crash none of its calls goes on, and its transactions are rolled back. */
export function createScheduledProcess(pool: Pool, schedule: Schedule, name: string) {
  const open = new Set<PoolClient>();
  const state = { isCrashed: false };

  /** Waits for its turn before something leaves or comes back to the process. */
  async function gate(label: string): Promise<void> {
    if (!state.isCrashed) await schedule.turn(`${name} ${label}`);
    if (state.isCrashed) await never();
  }
  /**
   * What a store takes for a connection. PostgreSQL's own is taken when the first statement has its turn: one that only
   * waits holds none, so that few connections have to learn the statements.
   */
  function connection(): PostgresPoolClient {
    let taken: PoolClient | undefined;
    let isBeginning = false;
    async function send(text: string, values: readonly unknown[]) {
      const client = taken ?? (await pool.connect());
      // Crashed while it waited for the connection: nothing was sent.
      if (state.isCrashed) {
        if (client !== taken) client.release();
        return undefined;
      }
      taken = client;
      open.add(client);
      const statement = { name: statementName(text), text, values: [...values] };
      if (!isBeginning) return client.query(statement);
      isBeginning = false;
      return beginWith(client, statement);
    }
    return {
      /** A transaction begins with its first statement: nothing outside depends on when. */
      async query(text: string, values: readonly unknown[]) {
        if (text === 'begin') {
          isBeginning = true;
          return NOTHING;
        }
        await gate(readLabel(text));
        const result = await schedule.track(send(text, values));
        return state.isCrashed ? never() : result;
      },
      release: () => {
        if (taken !== undefined && open.delete(taken)) taken.release();
      },
    } as never;
  }
  const connect = (): Promise<PostgresPoolClient> =>
    state.isCrashed ? never() : Promise.resolve(connection());
  const dialect = new PostgresDialect({ pool: { connect, end: async () => {} } as never });
  return {
    database: new Kysely<DB>({ dialect, plugins: [columnNames] }),
    gate,
    isCrashed: () => state.isCrashed,
    /**
     * Its transactions are rolled back, one whose statement waits for a lock when it has got that: the holder may have to
     * wait for its turn, so nobody may wait here for that while turns are given.
     */
    async crash(): Promise<void> {
      state.isCrashed = true;
      const clients = [...open];
      open.clear();
      await schedule.track(Promise.all(clients.map(endSession)));
    },
  };
}

/** What createScheduledProcess makes. */
export type ScheduledProcess = ReturnType<typeof createScheduledProcess>;

async function endSession(client: PoolClient): Promise<void> {
  await client.query('rollback');
  await client.query('select pg_advisory_unlock_all()');
  client.release();
}

/** What pg's connection sends, one message each. */
interface Wire {
  parse(statement: { readonly name: string; readonly text: string }): void;
  bind(portal: object): void;
  execute(portal: object): void;
}
/** The part of pg's Query that writes a statement; its types leave it out. */
type WritingQuery = new (
  config: QueryConfig,
  done: (error: Error | null, results: readonly QueryResult[]) => void,
) => Query & { prepare(wire: Wire): void };

/** A statement that begins a transaction on its way: one message to the database, and one back, in place of two. */
class BeginningQuery extends (Query as unknown as WritingQuery) {
  override prepare(wire: Wire): void {
    wire.parse({ name: '', text: 'begin' });
    wire.bind({});
    wire.execute({});
    super.prepare(wire);
  }
}

function beginWith(client: PoolClient, statement: QueryConfig): Promise<QueryResult | undefined> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, results: readonly QueryResult[]): void =>
      error === null ? resolve(results.at(-1)) : reject(error);
    client.query(new BeginningQuery(statement, done));
  });
}

/** Names of prepared statements: what PostgreSQL has planned on a connection is not planned again at each of many runs. */
const names = new Map<string, string>();
function statementName(text: string): string {
  const name = names.get(text) ?? `s${names.size}`;
  names.set(text, name);
  return name;
}

/** The name of a statement: its comment, else its first word. */
function readLabel(text: string): string {
  return /\/\* (.*?) \*\//.exec(text)?.[1] ?? text.trim().split(/\s/, 1)[0] ?? '';
}
