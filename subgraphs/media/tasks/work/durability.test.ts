import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import type { Caller } from '../../../../platform/access/caller.ts';
import type { Task } from '../../domain/task.ts';
import { createUsageService } from '../../usage/service.ts';
import type { RunningTaskService } from '../rules/service.ts';
import { image, me, toRegistry, startEngine, stranger, until, type TestEngine } from '../testing/engine.ts';
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

/** Kills the only worker, some time ago: its claims are stale. */
async function kill(worker: ChildProcess): Promise<void> {
  const exited = once(worker, 'exit');
  worker.kill('SIGKILL');
  await exited;
  await engine.pool.query(
    `update media.attempts set claimed_at = claimed_at - interval '1 minute' where state = 'STARTING'`,
  );
}

function service(): RunningTaskService {
  const provider = testProvider(engine.http);
  return engine.service(
    toRegistry(testBinding('test#0', provider, upstream.url, { concurrency: 40, prices: PRICED })),
  );
}

async function awaitEnds(own: RunningTaskService, ids: readonly string[]): Promise<readonly Task[]> {
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

/** What is asked in a random history. */
const HISTORY = ['a fox', 'a fox', 'a fox', 'refused', 'breaks'] as const;
const robot: Caller = { ...me, kind: 'key', id: 'key_robot' };
const admin: Caller = { ...me, id: 'usr_admin', scopes: ['admin'] };

function oneOf<Item>(items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(Math.random() * items.length)] ?? items[0];
}

function divide<Item>(items: readonly Item[], isFirst: () => boolean): readonly [Item[], Item[]] {
  const { first = [], second = [] } = Object.groupBy(items, () => (isFirst() ? 'first' : 'second'));
  return [first, second];
}

describe('a worker that is killed', () => {
  it('loses no task, starts nothing twice and counts each end once', { timeout: LONG }, async () => {
    upstream.onStart = async ({ prompt }) => (prompt === 'refused' ? { status: 400 } : slowly());
    upstream.onStatus = ({ prompt, polls }) => {
      if (prompt === 'breaks' && polls >= 5) return { state: 'failed', retryable: false };
      return polls < 10 ? { state: 'running', progress: polls } : { state: 'finished' };
    };
    const own = service();
    const first = await startWorker();
    const started = await Promise.all(
      Array.from({ length: 50 }, () => own.submit(oneOf([me, stranger, robot]), image(oneOf(HISTORY)))),
    );
    await until(async () => upstream.starts.length >= 15);
    const [cancelled, others] = divide(started, () => Math.random() < 0.2);
    // Some have failed already, which is too late to cancel.
    const cancels = Promise.allSettled(
      cancelled.map(({ id, owner }) => own.cancel({ ...me, id: owner }, id)),
    );
    await kill(first);
    await startWorker();
    await cancels;
    for (const { id, input } of others) {
      const isFine = input['prompt'] === 'a fox';
      const { state, error } = await engine.ended(own, id, admin);
      expect({ state, error }).toMatchObject(isFine ? { state: 'SUCCEEDED' } : { state: 'FAILED' });
    }
    for (const { id } of cancelled) await engine.ended(own, id, admin);
    expect(mostStartsOfOneReference()).toBe(1);
    await until(async () => {
      const { totals, recount } = await totalsAndRecount(engine.database);
      return JSON.stringify(totals) === JSON.stringify(recount);
    });
    const usage = createUsageService({ database: engine.database, authMode: 'compat' });
    const told = await usage.usage(admin, { by: ['DAY', 'OWNER', 'PROVIDER', 'MODEL'] });
    const { recount } = await totalsAndRecount(engine.database);
    const inText = (row: object) => JSON.stringify(row);
    expect(
      told.map(({ owner, microUnits, succeeded }) => inText({ owner, microUnits, succeeded })).toSorted(),
    ).toEqual(
      recount
        .map(({ owner, cost: microUnits, succeeded }) => inText({ owner, microUnits, succeeded }))
        .toSorted(),
    );
    const ends = told.map(({ succeeded, failed, cancelled: stopped }) => succeeded + failed + stopped);
    expect(ends.reduce((sum, count) => sum + count, 0)).toBe(50);
  });

  it('leaves START_UNKNOWN behind where the upstream can not be asked', { timeout: LONG }, async () => {
    upstream.onStart = slowly;
    const own = service();
    const first = await startWorker('no');
    const ids = (await Promise.all(Array.from({ length: 20 }, () => own.submit(me, image())))).map(
      ({ id }) => id,
    );
    await until(async () => upstream.starts.length >= 3);
    await kill(first);
    await startWorker('no');
    const ends = await awaitEnds(own, ids);
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
    const ends = await awaitEnds(own, ids);
    first.kill('SIGCONT');
    const more = (await Promise.all(Array.from({ length: 5 }, () => own.submit(me, image())))).map(
      ({ id }) => id,
    );
    expect((await awaitEnds(own, more)).map((task) => task.state)).toEqual(more.map(() => 'SUCCEEDED'));
    expect(ends.map((task) => task.state)).toEqual(ids.map(() => 'SUCCEEDED'));
    expect(mostStartsOfOneReference()).toBe(1);
    const log = await own.events(ids[0] ?? '', 0, 1_000);
    expect(log.filter((event) => event.state === 'SUCCEEDED')).toHaveLength(1);
  });
});
