import type { Pool } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import type { EventBus } from '../events/event-bus.ts';
import { silentLogger } from '../process/logger.ts';
import type { ClaimedJob } from './claim.ts';
import type { ClaimedJobs, Settlement } from './claimed-jobs.ts';
import type { Job, JobOutcome } from './queue.ts';
import type { WaitingJobs } from './waiting-jobs.ts';
import { type SlotWorkerOptions, startSlotWorker } from './worker.ts';
import { createWorkers } from './workers.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an idle worker with free slots asks for jobs when it is woken, and not by itself', async () => {
  let fetches = 0;
  const worker = startSlotWorker({
    queue: 'idle',
    options: { slots: 2 },
    handler: async () => {},
    claimed: null as never,
    waiting: null as never,
    fetch: async () => {
      if ((fetches += 1) > MOST_FETCHES) throw new Error('it asks without an end');
      return { jobs: [], hasMore: false };
    },
    logger: silentLogger(),
    onReleased: () => {},
  });
  await vi.advanceTimersByTimeAsync(600_000);
  expect(fetches).toBe(0);
  worker.wake();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(fetches).toBe(1);
  await worker.stop(0);
  worker.wake();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(fetches).toBe(1);
});

/** More than any test here needs. */
const MOST_FETCHES = 50;

/** A worker whose jobs come and end when the test says so. */
function startWorker(options: Partial<SlotWorkerOptions> = {}, waitingJobs = 0) {
  const limits: number[] = [];
  const settled: (readonly [string, Settlement])[] = [];
  const running = new Map<string, { readonly job: Job; readonly end: (outcome?: JobOutcome) => void }>();
  const log: string[] = [];
  const seen = { left: waitingJobs, released: 0, hastened: 0, held: true };
  const claimed: ClaimedJobs = {
    async settle(batch) {
      for (const [{ id }, settlement] of batch) settled.push([id, settlement]);
      return new Set(batch.map(([{ id }]) => id));
    },
    extend: async (claims) => new Set(seen.held ? claims.map(({ id }) => id) : []),
    reclaimLost: async () => [],
    prune: async () => {},
  };
  let made = 0;
  const worker = startSlotWorker({
    queue: 'scripted',
    options: { slots: 3 },
    handler: (job) => new Promise((end) => running.set(job.id, { job, end })),
    claimed,
    waiting: { hasten: async () => void (seen.hastened += 1) } as Partial<WaitingJobs> as WaitingJobs,
    async fetch(limit) {
      limits.push(limit);
      // A loop that asks without an end would hang the test.
      if (limit < 1 || limits.length > MOST_FETCHES)
        throw new Error('it asks for nothing, or without an end');
      const jobs = Array.from({ length: Math.min(limit, seen.left) }, (): ClaimedJob => {
        made += 1;
        return { id: `job ${made}`, claims: 1, data: null, retries: 0, retryLimit: 1 };
      });
      seen.left -= jobs.length;
      return { jobs, hasMore: seen.left > 0 };
    },
    logger: {
      ...silentLogger(),
      warn: (_fields: object | string, line?: string) => void log.push(String(line)),
    },
    onReleased: () => void (seen.released += 1),
    ...options,
  });
  worker.wake();
  return { worker, limits, settled, running, log, seen };
}

test('a worker claims as many jobs as it has slots, and more when some are free and some were left', async () => {
  const { worker, limits, running, seen } = startWorker({}, 4);
  await vi.advanceTimersByTimeAsync(1);
  expect([limits, running.size, worker.hasFreeSlot()]).toEqual([[3], 3, false]);
  worker.wake();
  await vi.advanceTimersByTimeAsync(1);
  expect(limits).toEqual([3]);
  running.get('job 1')?.end();
  await vi.advanceTimersByTimeAsync(100);
  expect([limits, seen.left, worker.hasFreeSlot()]).toEqual([[3, 1], 0, false]);
  // None was left: a slot that is free is no reason to ask.
  running.get('job 2')?.end();
  await vi.advanceTimersByTimeAsync(100);
  worker.freed();
  await vi.advanceTimersByTimeAsync(100);
  expect([limits, worker.hasFreeSlot()]).toEqual([[3, 1], true]);
  for (const { end } of running.values()) end();
  await worker.stop(0);
  expect([worker.hasFreeSlot(), seen.released]).toEqual([false, 0]);
});

test('a worker claims no more jobs than its capacity allows, and asks again after an error', async () => {
  let capacity: number | Error = 2.9;
  const { worker, limits, running } = startWorker(
    {
      options: {
        slots: 3,
        capacity: async () => {
          if (capacity instanceof Error) throw capacity;
          return capacity;
        },
      },
    },
    9,
  );
  await vi.advanceTimersByTimeAsync(1);
  expect([limits[0], running.size]).toEqual([2, 3]);
  capacity = 0;
  running.get('job 1')?.end();
  await vi.advanceTimersByTimeAsync(2_000);
  const before = limits.length;
  capacity = new Error('the database is away');
  worker.wake();
  await vi.advanceTimersByTimeAsync(100);
  capacity = 1;
  await vi.advanceTimersByTimeAsync(800);
  expect(limits).toHaveLength(before);
  await vi.advanceTimersByTimeAsync(200);
  expect(limits).toHaveLength(before + 1);
  for (const { end } of running.values()) end();
  const stopped = worker.stop(1);
  await vi.advanceTimersByTimeAsync(10_000);
  await stopped;
});

test('a worker whose slots are all taken does not ask for its capacity', async () => {
  let asked = 0;
  const capacity = async () => {
    asked += 1;
    return 9;
  };
  const { worker, running } = startWorker({ options: { slots: 1, capacity } }, 9);
  await vi.advanceTimersByTimeAsync(1);
  expect([asked, running.size]).toEqual([1, 1]);
  worker.wake();
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toBe(1);
  running.get('job 1')?.end();
  await vi.advanceTimersByTimeAsync(100);
  expect([asked, running.size]).toEqual([2, 2]);
  for (const { end } of running.values()) end();
  const stopped = worker.stop(1);
  await vi.advanceTimersByTimeAsync(10_000);
  await stopped;
});

test('a stop waits for what runs, then tells it, and tells others when something was left', async () => {
  const { worker, running, seen, settled } = startWorker({}, 2);
  await vi.advanceTimersByTimeAsync(1);
  let isStopped = false;
  const stopped = worker.stop(5).then(() => (isStopped = true));
  expect(worker.stop(0)).toBe(worker.stop(5));
  running.get('job 1')?.end();
  await vi.advanceTimersByTimeAsync(4_900);
  expect([running.get('job 2')?.job.signal.aborted, isStopped]).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(200);
  expect([running.get('job 2')?.job.signal.aborted, isStopped]).toEqual([true, false]);
  await vi.advanceTimersByTimeAsync(1_000);
  await stopped;
  expect([settled.length, seen.released]).toEqual([2, 1]);
});

test('the leases of what runs are extended every three seconds, and a lost job is told', async () => {
  const { worker, running, seen, log, settled } = startWorker({}, 1);
  await vi.advanceTimersByTimeAsync(2_900);
  seen.held = false;
  const { job, end } = running.get('job 1') ?? {};
  expect(job?.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect([job?.signal.aborted, log]).toEqual([true, ['a job was lost: its lease has ended']]);
  end?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(settled).toEqual([]);
  await worker.stop(0);
});

test('what is hastened runs again at once, however long its handler puts it off', async () => {
  const { worker, running, seen, settled, limits } = startWorker({}, 2);
  await vi.advanceTimersByTimeAsync(1);
  running.get('job 1')?.end({ againInSeconds: 60 });
  await vi.advanceTimersByTimeAsync(1);
  await worker.hasten();
  running.get('job 2')?.end({ againInSeconds: 60 });
  await vi.advanceTimersByTimeAsync(100);
  expect(settled.map(([, { kind, ...rest }]) => [kind, (rest as { inSeconds?: number }).inSeconds])).toEqual([
    ['again', 60],
    ['again', 0],
  ]);
  expect([seen.hastened, limits.length]).toEqual([1, 2]);
  await worker.stop(0);
});

test('a process looks at its queues at uneven intervals, around the shortest that one of them has', async () => {
  const looks: number[] = [];
  const pool = {
    async query(text: string) {
      if (text.includes('jobs.reclaim')) looks.push(Date.now());
      return { rows: [], rowCount: 0 };
    },
  } as unknown as Pool;
  const bus = { listen: () => () => {}, onGap: () => () => {} } as Partial<EventBus> as EventBus;
  const waiting = { withWork: async () => [] } as Partial<WaitingJobs> as WaitingJobs;
  const workers = createWorkers({ pool, waiting, pgBoss: null, bus, logger: silentLogger() });
  for (const pollMs of [900, 400]) workers.work(`every ${pollMs}`, { slots: 1, pollMs }, async () => {});
  await vi.advanceTimersByTimeAsync(20_000);
  await workers.stop(0);
  const pauses = looks.slice(1).map((at, index) => at - (looks[index] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(200);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(600);
  expect(new Set(pauses).size).toBeGreaterThan(10);
});
