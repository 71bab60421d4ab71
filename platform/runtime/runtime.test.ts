import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { migratedDatabase } from '../../test/kit/database/migrated.ts';
import type { TestDatabase } from '../../test/kit/database/postgres.ts';
import { readConfig } from '../config/config.ts';
import { createLifecycle } from '../process/lifecycle.ts';
import { createLogger } from '../process/logger.ts';
import { startRuntime, storeCheck } from './runtime.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'kiln-runtime-'));
let home: TestDatabase;
beforeAll(async () => {
  home = await migratedDatabase();
});
afterAll(async () => {
  await home.drop();
  rmSync(folder, { recursive: true });
});
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** The services of a worker with these settings. */
async function start(settings: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const lifecycle = createLifecycle({ logger, graceMs: 5_000 });
  const config = readConfig({
    ROLE: 'worker',
    DATABASE_URL: home.connectionString,
    DATA_DIR: path.join(folder, 'data'),
    INTERNAL_KEY: 'internal-key-of-the-test-0123456789',
    ...settings,
  });
  stops.push(() => lifecycle.stop('the test ends'));
  const runtime = await startRuntime({ config, logger, lifecycle, migrations: [] });
  const messages = () => lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
  const stopped = () =>
    lines
      .map((line) => JSON.parse(line) as { msg: string; part?: string })
      .filter(({ msg }) => msg === 'stopped a part')
      .map(({ part }) => part);
  return { ...runtime, messages, stopped };
}

const readName = async ({ pool }: { pool: { query(text: string): Promise<{ rows: unknown[] }> } }) =>
  (
    await pool.query(
      `select current_setting('application_name') as name, current_setting('statement_timeout') as ms`,
    )
  ).rows[0];

describe('the services of a process', () => {
  it('are over its database and its directory, and stop in reverse', async () => {
    const runtime = await start({ QUERY_TIMEOUT: '7' });
    expect(await readName(runtime.database)).toEqual({ name: 'kiln worker', ms: '7s' });
    const heard = Promise.withResolvers<string>();
    runtime.bus.listen('topic', (content) => heard.resolve(content));
    runtime.bus.publish('topic', 'told', 1);
    expect(await heard.promise).toBe('told');
    expect([await runtime.queue.isDefined('none'), runtime.lateReads.lateMs()]).toEqual([false, null]);
    await runtime.store.put('a/b', Readable.from([Buffer.from('x')]), { contentType: 'text/plain' });
    expect(readdirSync(path.join(folder, 'data', 'files'), { recursive: true }).length).toBeGreaterThan(0);
    await storeCheck(runtime)();
    await runtime.lifecycle.stop('the test ends');
    expect(runtime.stopped()).toEqual(['outbound HTTP', 'queue', 'event bus', 'database']);
  });

  it('read what may be late at a standby, and say how late it is', async () => {
    const runtime = await start({
      DATABASE_READ_URL: home.connectionString,
      QUERY_TIMEOUT: '7',
      METRICS_KEY: 'metrics-key-of-the-test-0123456789',
    });
    expect(runtime.lateReads.lateMs()).toBeNull();
    expect(await runtime.metrics.text()).not.toMatch(/^kiln_read_standby_late_seconds.* \d/m);
    const names = await runtime.lateReads.read(async ({ pool }) => {
      const { rows } = await pool.query<{ name: string }>(
        'select application_name as name from pg_stat_activity',
      );
      return rows.map(({ name }) => name);
    });
    expect(names).toContain('kiln worker');
    // What is named there is none.
    await expect.poll(runtime.messages).toContain('the standby is not read: its reads are of the primary');
    await runtime.lifecycle.stop('the test ends');
    expect(runtime.stopped()).toEqual(['outbound HTTP', 'queue', 'event bus', 'standby', 'database']);
  });

  it('start without the servers of events and files, which may be there later', async () => {
    const runtime = await start({
      EVENTS_URL: 'nats://127.0.0.1:1',
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_BUCKET: 'bucket',
      S3_ACCESS_KEY_ID: 'id',
      S3_SECRET_ACCESS_KEY: 'secret',
    });
    expect(runtime.messages()).toContain('the object storage can not be written');
    expect(runtime.messages()).toContain('lost the connection for wake-ups');
    // Which every process lacks alike.
    await expect(storeCheck(runtime)()).resolves.not.toThrow();
    await runtime.lifecycle.stop('the test ends');
    expect(runtime.stopped()).toEqual(['object storage', 'outbound HTTP', 'queue', 'event bus', 'database']);
  });
});
