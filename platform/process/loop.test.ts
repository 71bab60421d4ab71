import { expect, it } from 'vitest';

import { silentLogger } from './logger.ts';
import { createLoop, type LoopOptions } from './loop.ts';

/** A loop whose timers and runs are the test's: what waits, what it has logged, and how its runs end. */
function scripted(everyMs: LoopOptions['everyMs'] = 100) {
  const waiting: { readonly run: () => void; readonly inMs: number }[] = [];
  const runs: PromiseWithResolvers<void>[] = [];
  const log: unknown[] = [];
  const note = (level: string) => (fields: object | string, line?: string) =>
    void log.push([level, fields, line]);
  const loop = createLoop({
    tick() {
      const run = Promise.withResolvers<void>();
      runs.push(run);
      return run.promise;
    },
    everyMs,
    name: 'test',
    logger: { ...silentLogger(), error: note('error'), debug: note('debug') },
    timers: {
      set(run, inMs) {
        const timer = { run, inMs };
        waiting.push(timer);
        return timer;
      },
      clear(timer) {
        waiting.splice(waiting.indexOf(timer as (typeof waiting)[number]), 1);
      },
    },
  });
  return {
    loop,
    log,
    runs,
    /** The pauses that are waited for. */
    pauses: () => waiting.map(({ inMs }) => inMs),
    /** The pause is over. */
    pass: () => waiting.shift()?.run(),
    /** The run under way ends, with an error if one is given. */
    end: async (error?: Error) => {
      if (error === undefined) runs.at(-1)?.resolve();
      else runs.at(-1)?.reject(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

it('does nothing until it is started, then runs at once and again after each pause', async () => {
  const { loop, runs, pauses, pass, end } = scripted();
  loop.wake();
  expect([runs.length, pauses()]).toEqual([0, []]);
  loop.start();
  loop.start();
  expect(pauses()).toEqual([0]);
  pass();
  expect([runs.length, pauses()]).toEqual([1, []]);
  await end();
  expect([runs.length, pauses()]).toEqual([1, [100]]);
  pass();
  expect(runs).toHaveLength(2);
  loop.start();
  expect(pauses()).toEqual([]);
  await end();
  expect(pauses()).toEqual([100]);
});

it('asks before each pause how long it is', async () => {
  let pause = 7;
  const { loop, pauses, pass, end } = scripted(() => (pause += 1));
  loop.start();
  for (const expected of [8, 9]) {
    pass();
    await end();
    expect(pauses()).toEqual([expected]);
  }
});

it('runs at once when it is woken in a pause, and after the run when it is woken in one, once', async () => {
  const { loop, runs, pauses, pass, end } = scripted();
  loop.start();
  pass();
  await end();
  loop.wake();
  loop.wake();
  expect(pauses()).toEqual([0]);
  pass();
  loop.wake();
  loop.wake();
  expect(pauses()).toEqual([]);
  await end();
  expect(pauses()).toEqual([0]);
  pass();
  await end();
  expect([runs.length, pauses()]).toEqual([3, [100]]);
});

it('goes on after a failure, and logs the first in a row', async () => {
  const { loop, log, pauses, pass, end } = scripted();
  const error = new Error('away');
  loop.start();
  for (const failure of [error, error, undefined, error]) {
    pass();
    await end(failure);
    expect(pauses()).toEqual([100]);
  }
  const line = (level: string) => [level, { error, loop: 'test' }, 'a run of a loop failed'];
  expect(log).toEqual([line('error'), line('debug'), line('error')]);
});

it('ends after the run under way, and may be started again', async () => {
  const { loop, runs, pauses, pass, end } = scripted();
  loop.start();
  pass();
  let isStopped = false;
  const stopped = loop.stop().then(() => (isStopped = true));
  loop.wake();
  await Promise.resolve();
  expect(isStopped).toBe(false);
  await end();
  await stopped;
  expect([runs.length, pauses()]).toEqual([1, []]);
  loop.start();
  expect(pauses()).toEqual([0]);
  await loop.stop();
  expect(pauses()).toEqual([]);
  loop.wake();
  expect(pauses()).toEqual([]);
});

it('waits by the timers of the process unless it is told otherwise', async () => {
  let runs = 0;
  const loop = createLoop({
    tick: async () => void (runs += 1),
    everyMs: 60_000,
    name: 'own',
    logger: silentLogger(),
  });
  loop.start();
  await expect.poll(() => runs).toBe(1);
  loop.wake();
  await expect.poll(() => runs).toBe(2);
  await loop.stop();
});
