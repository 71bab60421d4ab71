import { expect, it } from 'vitest';

import type { NewJob, Queue } from '../../../../platform/queue/queue.ts';
import { UpstreamError } from '../../domain/failure.ts';
import { createGeneratorRegistry } from '../../generators/bindings/registry.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import type { TransactionScope } from '../storage/transactor.ts';
import { testBinding } from '../testing/provider.ts';
import { START_LOST, startUnknown } from './failures.ts';
import { defineTaskQueues, enqueueStarts, startJobs, startQueue, stepRows, storeJob } from './queues.ts';

/** Names and jobs of the queues, and the rows of steps: pure rules. */

const provider: Provider = {
  name: 'test',
  calls: { IMAGE: { call: () => Promise.reject(new Error('not called')) } },
};
const createRegistry = (...ids: readonly string[]) =>
  createGeneratorRegistry({
    bindings: ids.map((id) => testBinding(id, provider, 'http://127.0.0.1:1')),
  });

it('are declared all at once, with those of whoever hears of ends after them', async () => {
  const defined: unknown[] = [];
  const define = async (...words: readonly unknown[]) => {
    await Promise.resolve();
    defined.push(words);
  };
  const registry = createRegistry('a#0', 'b/c#0');
  const queue = { define } as unknown as Queue;
  const endListener = { defineQueues: async () => void defined.push('of the listener') } as never;
  await defineTaskQueues({ queue, registry, endListener });
  const names = ['media.start.a.0', 'media.start.b/c.0', 'media.store-result', 'media.erase-upstream'];
  // Most of an hour.
  const options = { retryLimit: 50, retryDelaySeconds: 1, retryDelayMaxSeconds: 60 };
  expect(defined).toEqual([[names, options], 'of the listener']);
});

it('serve callers in turn: a job names its task, step and owner, one that stores its binding too', () => {
  const task = { id: 'a task', owner: 'usr_me' };
  expect(
    startJobs(task, [
      { step: 1, binding: 'a#0' },
      { step: 2, binding: 'b c#1' },
    ]),
  ).toEqual([
    { queue: 'media.start.a.0', data: { taskId: 'a task', step: 1 }, owner: 'usr_me' },
    { queue: 'media.start.b.c.1', data: { taskId: 'a task', step: 2 }, owner: 'usr_me' },
  ]);
  expect(startQueue('b c#1')).toBe('media.start.b.c.1');
  expect(storeJob(task, { step: 2, binding: 'a#0' })).toEqual({
    queue: 'media.store-result',
    data: { taskId: 'a task', step: 2 },
    owner: 'usr_me',
    kind: 'a#0',
  });
});

it('get each start at once, or all of them after a pause', async () => {
  const enqueued: NewJob[] = [];
  const enqueue = async (...jobs: readonly NewJob[]) => void enqueued.push(...jobs);
  const scope = { enqueue } as unknown as TransactionScope;
  const task = { id: 'a task', owner: 'usr_me' };
  const steps = [1, 2].map((step) => ({ step, binding: 'a#0' }));
  await enqueueStarts(scope, task, steps);
  expect(enqueued.splice(0)).toStrictEqual(startJobs(task, steps));
  await enqueueStarts(scope, task, steps, 1);
  expect(enqueued).toStrictEqual(startJobs(task, steps).map((job) => ({ ...job, startAfterSeconds: 1 })));
});

it('have steps that are numbered after those before them, at the first binding that takes each', () => {
  const registry = createRegistry('a#0', 'a#1', 'b#0');
  const input = (generator: string) => ({ kind: 'IMAGE', generator, prompt: 'a fox' }) as const;
  const planned = [
    { label: 'one', input: input('b') },
    { label: 'two', input: input('a') },
  ] as never;
  expect(stepRows(registry, planned, 2)).toEqual([
    { step: 3, label: 'one', input: input('b'), binding: 'b#0' },
    { step: 4, label: 'two', input: input('a'), binding: 'a#0' },
  ]);
  const video = [{ label: '', input: { ...input('a'), kind: 'VIDEO' } }] as never;
  expect(() => stepRows(registry, video, 0)).toThrow(/VIDEO/i);
});

it('leave a start of which nobody knows to its binding, in the words of its upstream', () => {
  const words = (cause?: unknown) => startUnknown({ retry: true, cause });
  expect(words(new UpstreamError('UNAVAILABLE', 'the line was cut'))).toMatchObject({
    code: 'START_UNKNOWN',
    retryable: true,
    message: expect.stringMatching(/submit it anew \(the line was cut\)$/),
  });
  for (const cause of [undefined, new Error('a secret')])
    expect(words(cause).message).toMatch(/submit it anew$/);
  expect(startUnknown({ retry: false }).retryable).toBe(false);
  expect(START_LOST).toEqual({ code: 'LOST', message: 'the upstream never got this start', retryable: true });
});
