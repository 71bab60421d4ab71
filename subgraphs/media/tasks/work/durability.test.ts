import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Task } from '../../domain/task.ts';
import type { RunningTaskService } from '../rules/service.ts';
import { image, me, registryOf, startEngine, until, type TestEngine } from '../testing/engine.ts';
import { PRICED, testBinding, testProvider } from '../testing/provider.ts';
import { totalsAndRecount } from '../testing/recount.ts';
import { startUpstream, type StartAnswer, type Upstream } from '../testing/upstream.ts';

/** What is left of tasks when workers are killed or paused; the upstream counts starts outside of what is killed. */
let engine: TestEngine;
let upstream: Upstream;
let workers: ChildProcess[] = [];
beforeEach(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
});
afterEach(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  workers = [];
  await engine.stop();
  await upstream.close();
});

async function startWorker(find = 'find'): Promise<ChildProcess> {
  const script = fileURLToPath(new URL('../testing/worker-process.ts', import.meta.url));
  const args = [script, engine.connectionString, upstream.url, find];
  const worker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  workers.push(worker);
  await once(worker.stdout, 'data');
  return worker;
}

function service(): RunningTaskService {
  const provider = testProvider(engine.http);
  return engine.service(
    registryOf(testBinding('test#0', provider, upstream.url, { concurrency: 40, prices: PRICED })),
  );
}

async function endsOf(own: RunningTaskService, ids: readonly string[]): Promise<readonly Task[]> {
  const tasks: Task[] = [];
  for (const id of ids) tasks.push(await engine.ended(own, id));
  return tasks;
}

function mostStartsOfOneReference(): number {
  return Math.max(
    ...[...Map.groupBy(upstream.starts, (reference) => reference).values()].map((same) => same.length),
  );
}

/** Heartbeats and leases have to run out. */
const LONG = 150_000;

const slowly = async (): Promise<StartAnswer> => {
  await new Promise((resolve) => setTimeout(resolve, 30 + Math.random() * 200));
  return 'accept';
};

describe('a worker that is killed', () => {
  it('loses no task and starts nothing twice', { timeout: LONG }, async () => {
    upstream.onStart = slowly;
    upstream.onStatus = ({ polls }) =>
      polls < 10 ? { state: 'running', progress: polls } : { state: 'finished' };
    const own = service();
    const first = await startWorker();
    const ids = (await Promise.all(Array.from({ length: 50 }, () => own.submit(me, image())))).map(
      ({ id }) => id,
    );
    await until(async () => upstream.starts.length >= 15);
    first.kill('SIGKILL');
    await startWorker();
    const ends = await endsOf(own, ids);
    const { totals, recount } = await totalsAndRecount(engine.database);
    expect(totals).toEqual(recount);
    expect(totals.reduce((sum, { succeeded }) => sum + succeeded, 0)).toBe(50);
    expect(ends.map((task) => task.state)).toEqual(ids.map(() => 'SUCCEEDED'));
    expect(mostStartsOfOneReference()).toBe(1);
  });

  it('leaves START_UNKNOWN behind where the upstream can not be asked', { timeout: LONG }, async () => {
    upstream.onStart = slowly;
    const own = service();
    const first = await startWorker('no');
    const ids = (await Promise.all(Array.from({ length: 20 }, () => own.submit(me, image())))).map(
      ({ id }) => id,
    );
    await until(async () => upstream.starts.length >= 3);
    first.kill('SIGKILL');
    await startWorker('no');
    const ends = await endsOf(own, ids);
    const words = new Set(ends.map((task) => task.error?.code ?? task.state));
    expect(['SUCCEEDED', 'START_UNKNOWN']).toEqual(expect.arrayContaining([...words]));
    expect(upstream.starts).toHaveLength(
      new Set(upstream.starts.map((reference) => reference.split('/')[0])).size,
    );
  });
});

describe('a worker that is paused beyond its heartbeat', () => {
  it('discards what others have taken over', { timeout: LONG }, async () => {
    upstream.onStatus = ({ polls }) =>
      polls < 10 ? { state: 'running', progress: polls } : { state: 'finished' };
    const own = service();
    const first = await startWorker();
    let paused = false;
    upstream.onStart = async (): Promise<StartAnswer> => {
      if (upstream.starts.length < 3 || paused) return 'accept';
      paused = true;
      first.kill('SIGSTOP');
      return 'accept';
    };
    const ids = (await Promise.all(Array.from({ length: 20 }, () => own.submit(me, image())))).map(
      ({ id }) => id,
    );
    await until(async () => paused);
    await startWorker();
    const ends = await endsOf(own, ids);
    first.kill('SIGCONT');
    const more = (await Promise.all(Array.from({ length: 5 }, () => own.submit(me, image())))).map(
      ({ id }) => id,
    );
    expect((await endsOf(own, more)).map((task) => task.state)).toEqual(more.map(() => 'SUCCEEDED'));
    expect(ends.map((task) => task.state)).toEqual(ids.map(() => 'SUCCEEDED'));
    expect(mostStartsOfOneReference()).toBe(1);
    const log = await own.events(ids[0] ?? '', 0, 1_000);
    expect(log.filter((event) => event.state === 'SUCCEEDED')).toHaveLength(1);
  });
});
