import type { Pool } from 'pg';

import type { QueueOptions } from './queue.ts';

/** What runs a statement: the pool, or the connection of a transaction, which must not wait for another one. */
export type Reader = <Row extends object>(text: string) => Promise<readonly Row[]>;

interface QueueRow {
  readonly name: string;
  readonly limit: number;
  readonly delay: number;
  readonly max: number;
}

const READ = `select name, retry_limit as "limit", retry_delay as "delay", retry_delay_max as "max" from queue.queues`;

const WRITE = `
  insert into queue.queues as queue (name, retry_limit, retry_delay, retry_delay_max) values ($1, $2, $3, $4)
  on conflict (name) do update
    set retry_limit = excluded.retry_limit, retry_delay = excluded.retry_delay, retry_delay_max = excluded.retry_delay_max`;

/** The queues that some process has declared, each written only when its options are not those in the database. */
export function createDefinitions(pool: Pool) {
  const known = new Map<string, string>();
  const overPool: Reader = async <Row extends object>(text: string) => (await pool.query<Row>(text)).rows;

  async function read(reader: Reader): Promise<void> {
    for (const { name, limit, delay, max } of await reader<QueueRow>(READ))
      known.set(name, JSON.stringify([limit, delay, max]));
  }
  return {
    /** Reads what is declared; it is not read again until something is missing. */
    load: () => read(overPool),
    async define(name: string, settings: QueueOptions = {}) {
      const { retryLimit = 5, retryDelaySeconds = 1, retryDelayMaxSeconds = 300 } = settings;
      const options = [retryLimit, retryDelaySeconds, retryDelayMaxSeconds];
      const written = JSON.stringify(options);
      if (known.get(name) === written) return;
      await pool.query(WRITE, [name, ...options]);
      known.set(name, written);
    },
    /** Whether these are all declared; reads them again where it knows of one that is not. */
    async areDefined(names: readonly string[], reader: Reader = overPool) {
      const areKnown = () => names.every((name) => known.has(name));
      if (!areKnown()) await read(reader);
      return areKnown();
    },
  };
}

export type Definitions = ReturnType<typeof createDefinitions>;
