import { chmodSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import type { PoolConfig } from 'pg';

import { AppError, toError } from '../../errors.ts';
import { tryInstanceLock } from '../../process/instance-lock.ts';
import type { Logger } from '../../process/logger.ts';
import { ensureCluster, ensureSocketFolder, removeSocketFolder, ROLE, socketFolder } from './cluster.ts';
import { clearStaleServer } from './postmaster.ts';
import { prepareRuntime } from './runtime.ts';
import { type ServerProcess, startServerProcess } from './server-process.ts';
import { serverUser } from './server-user.ts';

/**
 * The embedded database, used without DATABASE_URL: a real PostgreSQL from an npm package under our own supervision,
 * reached through a Unix socket that only its user can open. Everything but its start and stop is in
 * platform/database/database.ts.
 */
export interface EmbeddedPostgresOptions {
  /** Kiln's data directory; the server lives in its `postgres` folder. */
  readonly dataDir: string;
  readonly logger: Logger;
  /** Most connections of all processes together (default 100). */
  readonly maxConnections?: number;
  /** Trades durability for speed: a power failure may lose everything. For tests only. */
  readonly skipSync?: boolean;
  /** Where root keeps PostgreSQL's programs when the server's user can't enter dataDir (default /var/cache/kiln). */
  readonly systemCache?: string;
  /** Called once when the server ends unexpectedly (only in the process that owns it). */
  readonly onLost?: (error: Error) => void;
}

/** A PostgreSQL server of the data directory, ours or another process's. */
export interface EmbeddedPostgres {
  /** How to connect, for pg.Pool. */
  readonly config: PoolConfig;
  /** True when another process owns the server; this one uses it and never stops it. */
  readonly adopted: boolean;
  /** Stops the server if it is ours; does nothing with an adopted one. */
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 60_000;

/**
 * Starts the server of this data directory, or connects to the one that another live process has started. Exactly one
 * process owns it (by a lock that ends with the process); the server ends when that process does.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const home = join(resolve(options.dataDir), 'postgres');
  // The server's user must be able to enter; the data itself is closed.
  if (mkdirSync(home, { recursive: true })) chmodSync(home, 0o755);
  const deadline = Date.now() + START_DEADLINE_MS;
  for (;;) {
    const release = tryInstanceLock({ dataDir: home, name: 'owner' });
    if (release) return startOwned(options, home, release);
    const adopted = await tryAdopt(home);
    if (adopted) return adopted;
    if (Date.now() > deadline) {
      throw new AppError(
        'UNAVAILABLE',
        `another process owns the database in ${home}, but that database does not answer`,
      );
    }
    await pause(50);
  }
}

async function startOwned(
  options: EmbeddedPostgresOptions,
  home: string,
  release: () => void,
): Promise<EmbeddedPostgres> {
  try {
    const directory = join(home, 'data');
    const runAs = serverUser(directory);
    const bin = prepareRuntime({
      runAs,
      nearData: home,
      ...(options.systemCache && { systemCache: options.systemCache }),
    });
    await ensureCluster({ bin, directory, runAs, skipSync: options.skipSync ?? false });
    await clearStaleServer(directory, options.logger);
    const folder = socketFolder(home, runAs);
    ensureSocketFolder(folder, runAs);
    const server = await startServer({
      bin,
      directory,
      socketFolder: folder,
      runAs,
      settings: serverSettings(options),
      logger: options.logger,
      onLost: (error) => {
        options.logger.error({ error }, 'the embedded database ended unexpectedly');
        options.onLost?.(error);
      },
    });
    return {
      config: connectionConfig(folder),
      adopted: false,
      async stop() {
        await server.stop();
        removeSocketFolder(folder);
        release();
      },
    };
  } catch (thrown) {
    release();
    throw thrown;
  }
}

/** After a kill -9 of the server alone, its children need a moment to exit; until then a new one refuses to start. */
async function startServer(options: Parameters<typeof startServerProcess>[0]): Promise<ServerProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startServerProcess(options);
    } catch (thrown) {
      if (attempt >= 50 || !toError(thrown).message.includes('pre-existing shared memory block'))
        throw thrown;
      await pause(100);
    }
  }
}

/** Undefined while the owner's server does not answer. */
async function tryAdopt(home: string): Promise<EmbeddedPostgres | undefined> {
  const config = connectionConfig(socketFolder(home, serverUser(join(home, 'data'))));
  // Loaded only when needed: the usual start spawns the server before anything else is loaded.
  const { Client } = await import('pg');
  const client = new Client({ ...config, connectionTimeoutMillis: 2000, query_timeout: 2000 });
  // A connection that breaks counts as no answer.
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return { config, adopted: true, stop: async () => undefined };
  } catch {
    // Any failure means "not yet": the caller retries until its deadline.
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function connectionConfig(folder: string): PoolConfig {
  return { host: folder, port: 5432, user: ROLE, database: 'postgres', ssl: false };
}

function serverSettings({
  maxConnections = 100,
  skipSync = false,
}: EmbeddedPostgresOptions): Record<string, string> {
  const loose = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  return {
    port: '5432',
    max_connections: String(maxConnections),
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Our statements are short: compiling them costs more than it saves.
    jit: 'off',
    // Errors are logged by the client; the server's log would contain values of rows.
    log_min_messages: 'log',
    log_error_verbosity: 'terse',
    log_checkpoints: 'off',
    ...(skipSync ? loose : {}),
  };
}
