import { DatabaseError } from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { silentLogger } from '../process/logger.ts';
import type { Claim, ClaimedJobs, Settlement } from './claimed-jobs.ts';
import type { Job } from './queue.ts';
import { createRunningJobs } from './running-jobs.ts';
import { createSettlementWriter } from './settlement-writer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the lease of a job that has run for twelve hours is not extended, and its handler is told', async () => {
  const claimed: ClaimedJobs = {
    extend: async (claims) => new Set(claims.map(({ id }) => id)),
    settle: async () => new Set(),
    reclaimLost: async () => [],
    prune: async () => {},
  };
  const jobs: Job[] = [];
  const running = createRunningJobs({
    queue: 'hangs',
    handler: (job) => {
      jobs.push(job);
      return new Promise<void>(() => undefined);
    },
    claimed,
    logger: silentLogger(),
    onFree: () => {},
  });
  running.begin({ id: 'one', claims: 1, data: null, retries: 0, retryLimit: 1 });
  await vi.advanceTimersByTimeAsync(11 * 3_600_000);
  running.begin({ id: 'another', claims: 1, data: null, retries: 0, retryLimit: 1 });
  await running.extend();
  expect(jobs.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  await running.extend();
  expect(jobs.map(({ signal }) => signal.aborted)).toEqual([true, false]);
});

test('a job that ends while leases are extended is not lost, and one that is lost is said to be so once', async () => {
  const answers: ((held: Set<string>) => void)[] = [];
  const claimed: Partial<ClaimedJobs> = {
    extend: () => new Promise<Set<string>>((resolve) => answers.push(resolve)),
    settle: async () => new Set(['ends']),
  };
  const jobs = new Map<string, { readonly job: Job; readonly end: () => void }>();
  const warnings: unknown[] = [];
  const running = createRunningJobs({
    queue: 'extended',
    handler: (job) => new Promise<void>((end) => jobs.set(job.id, { job, end })),
    claimed: claimed as ClaimedJobs,
    logger: {
      ...silentLogger(),
      warn: (fields: object | string, line?: string) => void warnings.push([fields, line]),
    },
    onFree: () => {},
  });
  for (const id of ['ends', 'lost']) running.begin({ id, claims: 1, data: null, retries: 0, retryLimit: 1 });
  const extended = Promise.all([running.extend(), running.extend()]);
  jobs.get('ends')?.end();
  await vi.advanceTimersByTimeAsync(1);
  expect(running.size).toBe(1);
  for (const answer of answers) answer(new Set());
  await extended;
  expect([...jobs.values()].map(({ job }) => job.signal.aborted)).toEqual([false, true]);
  expect(warnings).toEqual([[{ queue: 'extended', job: 'lost' }, 'a job was lost: its lease has ended']]);
});

/** What writes outcomes; `settle` answers each statement with the ids that were held, or throws. */
function writerOver(settle: (batch: readonly (readonly [Claim, Settlement])[], nth: number) => string[]) {
  const batches: (readonly [string, string])[][] = [];
  const log: string[] = [];
  const claimed: Partial<ClaimedJobs> = {
    async settle(batch) {
      batches.push(
        batch.map(([{ id }, settlement]) => [
          id,
          settlement.kind === 'failed' ? settlement.reason : settlement.kind,
        ]),
      );
      return new Set(settle(batch, batches.length));
    },
  };
  const note = (level: string) => (_fields: object | string, line?: string) =>
    void log.push(`${level}: ${line}`);
  const logger = { ...silentLogger(), warn: note('warn'), debug: note('debug'), error: note('error') };
  const writer = createSettlementWriter('scripted', claimed as ClaimedJobs, logger);
  const end = (id: string, settlement: Settlement = { kind: 'completed' }) =>
    writer.settle({ id, claims: 1 }, settlement);
  return { writer, end, batches, log };
}

const ids = (batch: readonly (readonly [Claim, Settlement])[]) => batch.map(([{ id }]) => id);

test('outcomes that come while others are written go together, at most 200 at a time', async () => {
  const { end, batches } = writerOver((batch) => ids(batch).filter((id) => id !== 'lost'));
  const held = await Promise.all([
    end('first'),
    end('lost'),
    ...Array.from({ length: 200 }, (_, n) => end(`${n}`)),
  ]);
  expect(batches.map(({ length }) => length)).toEqual([1, 200, 1]);
  expect(held.filter((one) => !one)).toEqual([false]);
  expect(held[1]).toBe(false);
  expect(await end('later')).toBe(true);
});

test('outcomes are written again while the database is away, ever more seldom, until that is given up', async () => {
  const { writer, end, batches, log } = writerOver((batch, nth) => {
    if (nth !== 3) throw new Error('away');
    return ids(batch);
  });
  vi.useRealTimers();
  const began = performance.now();
  expect(await end('one')).toBe(true);
  // After about 100 and 200 ms.
  expect([batches.length, performance.now() - began >= 295]).toEqual([3, true]);
  expect(log).toEqual(['warn: cannot settle jobs yet', 'debug: cannot settle jobs yet']);
  const given = end('two');
  await expect.poll(() => batches.length).toBe(4);
  writer.abandon();
  expect(await given).toBe(false);
  expect(await end('three')).toBe(false);
  expect(batches).toHaveLength(4);
});

test('an outcome that can not be stored holds up no other, and its job has failed', async () => {
  const unstorable = Object.assign(new DatabaseError('no', 1, 'error'), { code: '22P05' });
  const { end, batches, log } = writerOver((batch) => {
    if (batch.some(([{ id }, { kind }]) => (id === 'bad' && kind !== 'failed') || id === 'worse'))
      throw unstorable;
    return ids(batch);
  });
  const all = [
    end('first'),
    end('good'),
    end('bad'),
    end('worse', { kind: 'failed', reason: 'why' }),
    end('last'),
  ];
  expect(await Promise.all(all)).toEqual([true, true, true, false, true]);
  expect(batches.slice(2)).toEqual([
    [['good', 'completed']],
    [['bad', 'completed']],
    [['bad', 'its outcome can not be stored']],
    [['worse', 'why']],
    [['last', 'completed']],
  ]);
  expect(log).toEqual(Array(2).fill('error: the outcome of a job can not be stored'));
});
