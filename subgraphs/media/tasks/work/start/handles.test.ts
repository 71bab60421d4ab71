import { afterEach, beforeEach, expect, it } from 'vitest';

import type { Binding } from '../../../generators/bindings/binding.ts';
import type { Handle } from '../../../providers/contract/provider.ts';
import {
  image,
  me,
  toRegistry,
  startEngine,
  stranger,
  type TestEngine,
  until,
  giveUpStart,
} from '../../testing/engine.ts';
import { testBinding, testProvider } from '../../testing/provider.ts';
import { type StartAnswer, startUpstream, type Upstream } from '../../testing/upstream.ts';

/** An upstream that answers two starts with the same handle. */

let engine: TestEngine;
let upstream: Upstream;
let errors: unknown[];
beforeEach(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
  upstream.onStatus = () => ({ state: 'running', progress: 5 });
  errors = [];
});
afterEach(async () => {
  await engine.stop();
  await upstream.close();
});

/** Answers every start with the handle of the first one. */
function sharing(id: string, { url }: Upstream = upstream): Binding {
  const provider = testProvider(engine.http, { find: false });
  const job = provider.jobs?.IMAGE;
  if (job === undefined) throw new Error('no such work');
  let first: Handle | undefined;
  const start: typeof job.start = async (...words) => {
    const own = await job.start(...words);
    return (first ??= own);
  };
  return testBinding(id, { ...provider, jobs: { IMAGE: { ...job, start } } }, url);
}

const worker = (...bindings: readonly Binding[]) =>
  engine.worker(toRegistry(...bindings), {
    logger: { ...engine.logger, error: (fields: unknown) => void errors.push(fields) },
  });
const isRunning = (count: number) =>
  until(async () => {
    const { rows } = await engine.pool.query(`select 1 from media.attempts where state = 'RUNNING'`);
    return rows.length === count;
  });

it('keeps it for the first, whose cancel ends nobody else, and fails the second with an error in the log', async () => {
  const binding = sharing('test#0');
  const tasks = engine.service(toRegistry(binding));
  await worker(binding);
  const mine = await tasks.submit(me, image('mine'));
  await isRunning(1);
  const theirs = await tasks.submit(stranger, image('theirs'));
  const failed = await engine.ended(tasks, theirs.id, stranger);
  expect(failed).toMatchObject({ state: 'FAILED', error: { code: 'START_UNKNOWN', retryable: false } });
  expect(errors).toMatchObject([{ provider: 'test', reference: upstream.starts[1] }]);
  expect(upstream.cancels).toEqual([]);
  upstream.onStatus = () => ({ state: 'finished' });
  expect((await engine.ended(tasks, mine.id)).state).toBe('SUCCEEDED');
  expect(upstream.cancels).toEqual([]);
});

it('cancels nothing for a start that was given up before it was answered with it', async () => {
  const lines: unknown[] = [];
  const binding = sharing('test#0');
  const registry = toRegistry(binding);
  const tasks = engine.service(registry);
  const warn = (...line: unknown[]) => void lines.push(...line);
  await engine.worker(registry, { logger: { ...engine.logger, warn } });
  const mine = await tasks.submit(me, image('mine'));
  await isRunning(1);
  upstream.onStart = async ({ reference }): Promise<StartAnswer> => {
    await giveUpStart(engine, reference);
    return 'accept';
  };
  await tasks.submit(stranger, image('theirs'));
  await until(async () => lines.some((line) => String(line).startsWith('an orphaned start was answered')));
  expect(lines).toContainEqual({ reference: upstream.starts[1], isReopened: false });
  upstream.onStatus = () => ({ state: 'finished' });
  expect((await engine.ended(tasks, mine.id)).state).toBe('SUCCEEDED');
  expect(upstream.cancels).toEqual([]);
});

it('gives nobody the result that the first has got', async () => {
  const binding = sharing('test#0');
  const tasks = engine.service(toRegistry(binding));
  await worker(binding);
  upstream.onStatus = () => ({ state: 'finished' });
  const mine = await tasks.submit(me, image('mine'));
  expect((await engine.ended(tasks, mine.id)).state).toBe('SUCCEEDED');
  const theirs = await tasks.submit(stranger, image('theirs'));
  const failed = await engine.ended(tasks, theirs.id, stranger);
  expect(failed).toMatchObject({ state: 'FAILED', result: null });
});

it('is two when they are at two upstreams', async () => {
  const other = await startUpstream();
  const handle = { id: 'the-same' };
  const at = (id: string, { url }: Upstream) => {
    const binding = sharing(id);
    const job = binding.provider.jobs?.IMAGE;
    if (job === undefined) throw new Error('no such work');
    const status = async () => ({ state: 'queued' as const });
    const jobs = { IMAGE: { ...job, start: async () => handle, status } };
    return testBinding(id, { ...binding.provider, jobs }, url);
  };
  const bindings = [at('test#0', upstream), at('other#0', other)];
  const tasks = engine.service(toRegistry(...bindings));
  await worker(...bindings);
  await tasks.submit(me, image('mine'));
  const work = { kind: 'IMAGE', generator: 'other', prompt: 'theirs' } as const;
  await tasks.submit(stranger, image('theirs', { work }));
  await isRunning(2);
  expect(errors).toEqual([]);
  await other.close();
});
