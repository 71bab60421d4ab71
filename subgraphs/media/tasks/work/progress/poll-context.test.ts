import { expect, it } from 'vitest';

import type { Binding } from '../../../generators/bindings/binding.ts';
import type { DueAttempt } from '../../storage/poll-store.ts';
import { testBinding } from '../../testing/provider.ts';
import {
  backOffMs,
  callUpstream,
  createReporting,
  nextPoll,
  type PollContext,
  type PollDependencies,
} from './poll-context.ts';
import { createUsualDurations } from './usual-durations.ts';

/** What a poll is made with, and when the next one is. */

const models = [
  { id: 'quick', usualSeconds: 4 },
  { id: 'slow', usualSeconds: 90 },
  { id: 'new', usualSeconds: null },
] as unknown as Binding['models'];
const due = {
  taskId: 'a task',
  step: 2,
  number: 3,
  binding: 'test#0',
  bindingName: 'test:0',
  model: 'slow',
  nextPollAt: new Date(7),
  stepInput: { kind: 'IMAGE', generator: 'test', prompt: 'a fox' },
} as unknown as DueAttempt;
const at = (change: Partial<Binding> = {}) =>
  testBinding('test#0', { name: 'test' }, 'http://127.0.0.1:1', { ...(models && { models }), ...change });

it.each([
  ['what the catalog says of its model', 'slow', {}, null, 90],
  ['nothing where the catalog does not say', 'new', {}, null, null],
  ['nothing of a model that is not known', 'other', {}, null, null],
  ['nothing where no models are known', 'slow', { models: undefined }, null, null],
  ['six seconds at the sandbox', 'slow', { sandbox: true }, null, 6],
  ['what such work took last', 'slow', {}, 20, 20],
  ['what such work took last at the sandbox', 'slow', { sandbox: true }, 20, 20],
])('takes as usual %s', (_, model, change, learnt, usualSeconds) => {
  const durations = createUsualDurations();
  if (learnt !== null) durations.learn({ ...due, model, runningSeconds: learnt });
  const planner = { progress: () => 1 };
  const dependencies = { planner, durations } as unknown as PollDependencies;
  const { models: own, ...binding } = { ...at(), ...change };
  const reporting = createReporting(dependencies, {
    due: { ...due, model },
    binding: own === undefined ? binding : { ...binding, models: own },
  });
  expect(reporting).toEqual({ planner, usualSeconds });
});

const context = (stopping: AbortSignal, timeoutMs: number) =>
  [
    { limits: { statusTimeoutMs: timeoutMs } } as unknown as PollDependencies,
    { due, binding: at(), capability: { pollMs: 500 }, stopping } as unknown as PollContext,
  ] as const;

it('asks with the connection of the work, until its time is over or the process stops', async () => {
  const stopping = new AbortController();
  const signals: AbortSignal[] = [];
  const ask = (timeoutMs: number) =>
    callUpstream(...context(stopping.signal, timeoutMs), ({ connection, signal }) => {
      signals.push(signal);
      if (timeoutMs > 1_000) return Promise.resolve(connection.baseUrl);
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('over'))));
    });
  expect(await ask(60_000)).toBe('http://127.0.0.1:1');
  await expect(ask(1)).rejects.toThrow('over');
  stopping.abort();
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
  await ask(60_000);
  expect(signals[2]?.aborted).toBe(true);
});

it('is due again after its pause, under the lease with which it was asked', () => {
  const before = performance.now();
  const next = nextPoll(due, { inMs: 250, failures: 2 });
  expect(next).toEqual({
    taskId: 'a task',
    step: 2,
    number: 3,
    inMs: 250,
    failures: 2,
    leasedUntil: new Date(7),
    answeredAt: expect.any(Number) as number,
  });
  expect(next.answeredAt).toBeGreaterThanOrEqual(before);
  const [, asked] = context(new AbortController().signal, 1);
  expect([0, 1, 3].map((failures) => backOffMs(asked, failures))).toEqual([500, 1_000, 4_000]);
});
