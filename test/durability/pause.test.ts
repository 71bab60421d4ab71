import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { Client } from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import {
  type KilnProcess,
  type KilnProcessOptions,
  startKilnProcess,
  temporaryDataDir,
} from '../kit/processes/kiln-process.ts';
import { type SandboxProcess, startSandboxProcess } from '../kit/processes/sandbox-process.ts';
import { violations, NO_VIOLATIONS, submitImages, tally, untilAllEnded } from './workload.ts';

/**
 * SIGSTOP: a process that is alive and silent, beyond its heartbeats and claims, while a worker in another process takes
 * its work over; then SIGCONT, and it goes on as if nothing had happened. Two processes on one database; the outside
 * world is a third, and counts the starts.
 */

// A claim goes stale after 15 s, a poll's lease after 60 s.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
let remove: () => void;
let outside: string;
let sandbox: SandboxProcess;
let database: TestDatabase;
let client: Client;
const started: KilnProcess[] = [];
beforeEach(async () => {
  ({ dataDir, remove } = await temporaryDataDir());
  outside = await mkdtemp(path.join(tmpdir(), 'kiln-outside-'));
  [sandbox, database] = await Promise.all([startSandboxProcess(outside), migratedDatabase()]);
  client = new Client(database.config);
  await client.connect();
});
afterEach(async () => {
  await client.end();
  for (const kiln of started.splice(0)) await kiln.stop();
  await sandbox.stop();
  await database.drop();
  await rm(outside, { recursive: true, force: true });
  remove();
});

async function start(role: NonNullable<KilnProcessOptions['role']>, settings: Record<string, string> = {}) {
  const shared = {
    SANDBOX_URL: sandbox.url,
    DATABASE_URL: database.connectionString,
    INTERNAL_KEY: 'a key of the tests, which is long enough',
  };
  const kiln = await startKilnProcess({ dataDir, role, settings: { ...shared, ...settings } });
  started.push(kiln);
  return kiln;
}

/** How many attempts there are in each state, read past the paused process. */
async function attemptStates(): Promise<Readonly<Record<string, number>>> {
  const { rows } = await client.query<{ state: string }>('select state from media.attempts');
  return tally(rows.map(({ state }) => state));
}

/** Waits until a process has logged what the pattern says `count` times. */
async function untilLogged(kiln: KilnProcess, pattern: RegExp, count: number): Promise<void> {
  await until(
    async () => [...kiln.output().matchAll(pattern)].length,
    (found) => found === count,
    60_000,
  );
}

/** Every log without a gap, with nothing after its one end. */
async function expectWholeLogs(): Promise<void> {
  const { rows } = await client.query<{ id: string }>(`
    select task.id from media.tasks task join media.task_events event on event.task_id = task.id
    group by task.id
    having count(*) <> task.last_seq or max(event.seq) <> task.last_seq
      or count(*) filter (where event.state in ('SUCCEEDED', 'FAILED', 'CANCELLED')) <> 1
      or max(event.seq) filter (where event.state in ('SUCCEEDED', 'FAILED', 'CANCELLED')) <> task.last_seq`);
  expect(rows).toEqual([]);
}

/**
 * Makes every accepted midjourney job wait upstream behind one that never ends, until the answer is called. So what is
 * taken over is still running when the paused process comes back, however slow this machine is.
 */
async function holdJobs(): Promise<() => Promise<void>> {
  const send = () =>
    fetch(`${sandbox.wires.midjourney}/mj/submit/imagine`, {
      method: 'POST',
      body: JSON.stringify({ prompt: 'in the way' }),
    });
  await sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 200, concurrency: 1 });
  await sandbox.injectFault({ wire: 'midjourney', operation: 'imagine', fault: 'stall' });
  await send();
  return async () => {
    await sandbox.latency({ wire: 'midjourney', concurrency: 64 });
    // The line moves on when somebody joins it.
    await send();
  };
}

describe.runIf(process.platform === 'linux')(
  'a process that is paused beyond its claims and continued',
  () => {
    it('starts nothing twice, and does not cancel what others have found and go on with', async () => {
      const settings = {
        OPENAI_BASE_URL: sandbox.wires.openai,
        OPENAI_API_KEY: 'sk-of-the-tests',
        REST_AUTH: 'open',
      };
      const release = await holdJobs();
      const first = await start('all', settings);
      await submitImages(first.url, 'imga', 30);
      await until(attemptStates, (states) => states['RUNNING'] === 30);
      await sandbox.injectFault({
        wire: 'midjourney',
        operation: 'imagine',
        fault: 'slow',
        times: 12,
        delayMs: 4_000,
      });
      await sandbox.injectFault({
        wire: 'openai',
        operation: 'images',
        fault: 'slow',
        times: 8,
        delayMs: 4_000,
      });
      await Promise.all([submitImages(first.url, 'imga', 12), submitImages(first.url, 'union', 8)]);
      await sandbox.untilFaultsAreUsed();
      first.signal('SIGSTOP');
      await start('worker', settings);
      // Found and gone on with, or named.
      await until(attemptStates, (states) => states['RUNNING'] === 42 && states['UNKNOWN'] === 8, 90_000);

      first.signal('SIGCONT');
      await untilLogged(first, /an orphaned start was answered; /g, 12);
      await release();
      const tasks = await untilAllEnded(first.url);
      expect(
        tally(tasks.map(({ generator, state, error }) => `${generator} ${error?.code ?? state}`)),
      ).toEqual({
        'imga SUCCEEDED': 42,
        'union START_UNKNOWN': 8,
      });
      expect(tasks.flatMap(({ attempts }) => attempts)).toHaveLength(50);
      expect((await sandbox.jobs()).filter(({ state }) => state === 'cancelled')).toEqual([]);
      expect(await violations(sandbox, tasks)).toEqual(NO_VIOLATIONS);
      await expectWholeLogs();
    });

    it('does not send a start that others have given up, though it had the right to when it was paused', async () => {
      // Its query is answered while it is paused, and must not be over when it goes on.
      const first = await start('all', { QUERY_TIMEOUT: '300' });
      // The database holds back the answer to "this start is mine": the process is paused before it hears it. Claims of
      // one binding are taken one after the other, so there is one.
      await client.query(`
      create function media.hold_claim() returns trigger language plpgsql as
        $$ begin perform pg_advisory_xact_lock_shared(4711); return null; end $$;
      create constraint trigger hold_claim after update of claim on media.attempts
        deferrable initially deferred for each row when (old.claim is null and new.claim is not null) execute function media.hold_claim();
      select pg_advisory_lock(4711)`);
      await submitImages(first.url, 'imga', 1);
      // Every database of the server shows in pg_locks, and other tests wait for locks of their own.
      const waiting = `select from pg_locks where locktype = 'advisory' and objid = 4711 and not granted
        and database = (select oid from pg_database where datname = current_database())`;
      await until(
        async () => (await client.query(waiting)).rowCount,
        (count) => count === 1,
      );
      first.signal('SIGSTOP');
      await client.query('select pg_advisory_unlock(4711)');
      await start('worker');
      // Nobody upstream knows it, so the next attempt is made.
      await until(attemptStates, (states) => states['FAILED'] === 1 && states['SUCCEEDED'] === 1, 90_000);

      first.signal('SIGCONT');
      await untilLogged(first, /a start was not sent/g, 1);
      const tasks = await untilAllEnded(first.url);
      expect(tally(tasks.map(({ state }) => state))).toEqual({ SUCCEEDED: 1 });
      expect(await violations(sandbox, tasks)).toEqual(NO_VIOLATIONS);
      await expectWholeLogs();
    });

    it('discards the results it was storing when others have stored them', async () => {
      await sandbox.latency({ wire: 'midjourney', queuedMs: 0, runningMs: 100 });
      const first = await start('all');
      await sandbox.injectFault({
        wire: 'midjourney',
        operation: 'download',
        fault: 'slow',
        times: 4,
        delayMs: 3_000,
      });
      await submitImages(first.url, 'imga', 4);
      await sandbox.untilFaultsAreUsed();
      first.signal('SIGSTOP');
      await start('worker');
      const ended = `select id from media.tasks where state = 'SUCCEEDED'`;
      await until(
        async () => (await client.query(ended)).rowCount,
        (count) => count === 4,
        90_000,
      );

      first.signal('SIGCONT');
      await untilLogged(first, /a job was not ours any more|a job was lost/g, 4);
      const tasks = await untilAllEnded(first.url);
      expect(tally(tasks.map(({ outputs, state }) => `${state} ${outputs.length}`))).toEqual({
        'SUCCEEDED 1': 4,
      });
      expect(await violations(sandbox, tasks)).toEqual(NO_VIOLATIONS);
      await expectWholeLogs();
    });
  },
);
