import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startEverything, type Everything } from '../../gateway/composition/everything.ts';
import { readConfig } from '../../platform/config/config.ts';
import type { LogLevel } from '../../platform/config/settings/log-levels.ts';
import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { createSandbox, type SandboxOptions } from '../../sandbox/sandbox.ts';
import { CATALOG_DATE } from './catalog-date.ts';
import { migratedDatabase } from './database/migrated.ts';
import type { TestDatabase } from './database/postgres.ts';
import { watchLog } from './processes/log-watch.ts';

/** A whole Kiln inside the test's process: real PostgreSQL (a database of its own), real sockets, the sandbox beside it. */
export interface KilnUnderTest extends Everything {
  /** Origin of the sandbox; its /_control takes faults and latencies. */
  readonly sandboxUrl: string;
  readonly dataDir: string;
  /** POSTs a change to the sandbox's control: `control('faults', { wire, operation, fault, times })`. */
  control(what: 'faults' | 'latency' | 'lacks', change: object): Promise<void>;
  /** Stops everything and removes what it kept. */
  close(): Promise<void>;
}

export interface KilnUnderTestOptions {
  /** Settings beyond the defaults of tests (a free port, rate limits off). */
  readonly settings?: Settings | ((sandboxUrl: string) => Settings);
  readonly sandbox?: Partial<SandboxOptions>;
  /** Whether the stand-ins answer without latency (default: about 1.2 s for each job). */
  readonly isQuick?: boolean;
  /** What is shown of the log; secrets are looked for in all of it. */
  readonly logLevel?: LogLevel;
  /** A database that is migrated already (default: a new one); removed at the end. */
  readonly database?: Pick<TestDatabase, 'connectionString' | 'drop'>;
  /** Called with each line of the log, debug included. */
  readonly onLogLine?: (line: string) => void;
}

type Settings = Readonly<Record<string, string>>;

/** Starts it; images are one tiny plain one unless `sandbox: { instantImages: false }`. */
export async function startKiln({
  settings = {},
  sandbox = {},
  isQuick = false,
  logLevel = 'error',
  database: existing,
  onLogLine,
}: KilnUnderTestOptions = {}): Promise<KilnUnderTest> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'kiln-kit-'));
  const log = watchLog({ shown: logLevel, onLine: onLogLine });
  const logger = createLogger({ level: 'debug', destination: log });
  const lifecycle = createLifecycle({ logger, graceMs: 15_000 });
  lifecycle.add('data', () => rm(dataDir, { recursive: true, force: true }));
  const database = existing ?? (await migratedDatabase());
  lifecycle.add('test database', () => database.drop());
  const outside = await createSandbox({
    dataDir: path.join(dataDir, 'sandbox'),
    logger,
    instantImages: true,
    ...(isQuick && { latencies: [{ queuedMs: 0, runningMs: 0 }] }),
    ...sandbox,
  });
  lifecycle.add('sandbox', () => outside.close());
  const config = readConfig({
    DATABASE_URL: database.connectionString,
    SANDBOX_URL: outside.url,
    DATA_DIR: dataDir,
    PORT: '0',
    RATE_LIMIT: 'off',
    // Each connection costs PostgreSQL as much as a hundred statements: it reads the catalog anew.
    DATABASE_POOL: '6',
    CATALOG_DATE,
    ...(typeof settings === 'function' ? settings(outside.url) : settings),
  });
  const everything = await startEverything({ config, logger, lifecycle });
  return {
    ...everything,
    sandboxUrl: outside.url,
    dataDir,
    async close() {
      await lifecycle.stop('the test is over');
      log.expectSilence();
    },
    async control(what, change) {
      const answer = await fetch(`${outside.url}/_control/${what}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(change),
      });
      if (!answer.ok)
        throw new Error(`the sandbox refused ${JSON.stringify(change)}: ${await answer.text()}`);
    },
  };
}
