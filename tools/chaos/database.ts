import { readFileSync } from 'node:fs';
import path from 'node:path';

import { Client, type PoolConfig } from 'pg';

import { startEmbeddedPostgres } from '../../platform/database/embedded-postgres/embedded-postgres.ts';
import { silentLogger } from '../../platform/process/logger.ts';

/** A PostgreSQL of the run's own, which can be stopped, paused, killed and filled up. */
export interface ChaosDatabase {
  readonly connectionString: string;
  /** Where it is. */
  readonly config: PoolConfig;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGSTOP or SIGCONT of the server, or SIGKILL of it. */
  signal(name: NodeJS.Signals): void;
  /** Takes connections until there are no more; answers what gives them back. */
  exhaust(): Promise<() => Promise<void>>;
  readonly rows: <Row extends object>(query: string) => Promise<readonly Row[]>;
}

/** Starts it in a folder. */
export async function startChaosDatabase(folder: string): Promise<ChaosDatabase> {
  const open = () => startEmbeddedPostgres({ dataDir: folder, logger: silentLogger(), maxConnections: 120 });
  let server = await open();
  const { host = '', port = 5432, user = '', database = '' } = server.config;
  const config = { host, port, user, database };
  const pid = () => {
    const file = path.join(folder, 'postgres', 'data', 'postmaster.pid');
    return Number(readFileSync(file, 'utf8').split('\n')[0]);
  };
  return {
    connectionString: `postgresql://${user}@/${database}?host=${encodeURIComponent(host)}&port=${port}`,
    config,
    stop: () => server.stop(),
    async start() {
      server = await open();
    },
    signal: (name) => void process.kill(pid(), name),
    async exhaust() {
      const clients: Client[] = [];
      for (let count = 0; count < 120; count += 1) {
        const client = new Client(config);
        client.on('error', () => undefined);
        try {
          await client.connect();
        } catch {
          break;
        }
        clients.push(client);
      }
      return async () => void (await Promise.allSettled(clients.map((client) => client.end())));
    },
    async rows<Row extends object>(query: string) {
      const client = new Client(config);
      await client.connect();
      try {
        return (await client.query<Row>(query)).rows;
      } finally {
        await client.end();
      }
    },
  };
}
