import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { FaultName } from '../../../sandbox/faults/faults.ts';
import { hashTaskId } from '../../../subgraphs/media/domain/attempt.ts';
import type { StepInput } from '../../../subgraphs/media/domain/work/work.ts';
import type { Binding } from '../../../subgraphs/media/generators/bindings/binding.ts';
import type { Provider } from '../../../subgraphs/media/providers/contract/provider.ts';
import {
  me,
  toRegistry,
  startEngine,
  until,
  type TestEngine,
} from '../../../subgraphs/media/tasks/testing/engine.ts';
import { testBinding } from '../../../subgraphs/media/tasks/testing/provider.ts';
import { must, openEnvironment, SECRET, type Environment } from '../environment/environment.ts';

/** The engine with the real adapters of Kling, which can be asked for a start, and of MiniMax, which can not. */

let world: Environment;
let engine: TestEngine;
beforeAll(async () => {
  world = await openEnvironment();
  engine = await startEngine();
});
afterAll(async () => {
  await engine?.stop();
  await world?.close();
});
beforeEach(() => world.setLatency({ queuedMs: 0, runningMs: 40, progressSteps: 1 }));
afterEach(() => world.reset());

let generators = 0;

/** Bindings like a real upstream's: a start that nobody can confirm is not repeated. */
function makeBindings(names: readonly ('kling' | 'minimax')[]): Binding[] {
  generators += 1;
  return names.map((name, index) => ({
    ...testBinding(
      `test${generators}#${index}`,
      quick(must(world.providers[name], name)),
      world.proxy.origin,
    ),
    connection: world.connection(`/${name}`, { authorization: `Bearer ${SECRET}` }),
  }));
}

/** The same provider, asked more often. */
function quick(provider: Provider): Provider {
  const video = must(provider.jobs?.VIDEO, 'videos');
  return { ...provider, jobs: { VIDEO: { ...video, pollMs: 50 } } };
}

const VIDEO = { kind: 'VIDEO', prompt: 'a lighthouse' } as const;
const SPEECH = { kind: 'SPEECH', text: 'This is a test.', voiceId: 'English_Graceful_Lady' } as const;

/** Submits one piece of work, lets a worker do it, and gives its end with its attempts as `STATE CODE`. */
async function run(names: readonly ('kling' | 'minimax')[], work: typeof VIDEO | typeof SPEECH = VIDEO) {
  const bindings = makeBindings(names);
  const registry = toRegistry(...bindings);
  const service = engine.service(registry);
  const worker = await engine.worker(registry);
  const input: StepInput = { ...work, generator: must(bindings[0], 'binding').generator };
  const { id } = await service.submit(me, {
    work: input,
    fileIds: [],
    idempotencyKey: null,
    fingerprint: { operation: 'generate', id: generators },
  });
  const task = await engine.ended(service, id);
  const attempts = (await service.attempts([id])).get(id) ?? [];
  await worker.stop(1);
  const files = await engine.files.byIds(task.result?.mediaIds ?? []);
  return {
    id,
    state: task.state,
    code: task.error?.code,
    types: files.map((file) => file?.contentType),
    attempts: attempts.map(({ provider, state, error }) =>
      [provider, state, error?.code].filter(Boolean).join(' '),
    ),
  };
}

const plan = (wire: string, operation: string, fault: FaultName, more: object = {}) =>
  world.injectFault({ wire, operation, fault, ...more });

describe('a video at Kling', () => {
  it.each(['cut', 'malformed', 'server-error'] as const)(
    'whose start was answered badly (%s) is found by its reference, and started once',
    async (fault) => {
      await plan('kling', 'text2video', fault, { accepted: true });
      const { id, ...task } = await run(['kling']);
      expect(task).toMatchObject({ state: 'SUCCEEDED', types: ['video/mp4'], attempts: ['kling SUCCEEDED'] });
      expect(await world.starts()).toEqual({ [`${hashTaskId(id)}/1/1`]: 1 });
    },
  );

  it('that is lost there goes on at MiniMax', async () => {
    await plan('kling', 'query', 'lost');
    expect(await run(['kling', 'minimax'])).toMatchObject({
      state: 'SUCCEEDED',
      types: ['video/mp4'],
      attempts: ['kling FAILED LOST', 'minimax SUCCEEDED'],
    });
  });

  it.each(['expired-url', 'wrong-length', 'wrong-content-type'] as const)(
    'is stored whole although its first download ends badly (%s)',
    async (fault) => {
      await plan('kling', 'download', fault);
      const task = await run(['kling']);
      expect(task).toMatchObject({ state: 'SUCCEEDED', types: ['video/mp4'], attempts: ['kling SUCCEEDED'] });
    },
  );
});

describe('a video at MiniMax', () => {
  it.each(['cut', 'malformed'] as const)(
    'whose start was answered badly (%s) is named unknown, and never started again',
    async (fault) => {
      await plan('minimax', 'video', fault);
      expect(await run(['minimax', 'kling'])).toMatchObject({
        state: 'FAILED',
        code: 'START_UNKNOWN',
        attempts: ['minimax UNKNOWN START_UNKNOWN'],
      });
      await until(async () => (await world.jobStates()).join() === 'finished');
    },
  );

  it('whose content is refused at its end is refused for good', async () => {
    await plan('minimax', 'video', 'late-moderation');
    expect(await run(['minimax', 'kling'])).toMatchObject({
      state: 'FAILED',
      code: 'MODERATION_REFUSED',
      attempts: ['minimax FAILED MODERATION_REFUSED'],
    });
  });

  it.each([
    ['queue-full', 'RATE_LIMITED'],
    ['upstream-error', 'UNAVAILABLE'],
  ] as const)('that can not be made there now (%s) is made at Kling', async (fault, code) => {
    await plan('minimax', 'video', fault, { times: 2 });
    const task = await run(['minimax', 'kling']);
    expect(task).toMatchObject({ state: 'SUCCEEDED', types: ['video/mp4'] });
    expect([task.attempts[0], task.attempts.at(-1)]).toEqual([`minimax FAILED ${code}`, 'kling SUCCEEDED']);
  });
});

describe('speech at MiniMax', () => {
  it('is stored as the sound that it is', async () => {
    expect(await run(['minimax'], SPEECH)).toMatchObject({
      state: 'SUCCEEDED',
      types: ['audio/mpeg'],
      attempts: ['minimax SUCCEEDED'],
    });
  });

  it('whose answer broke off may have been paid for: it is not said again', async () => {
    await plan('minimax', 'speech', 'cut');
    expect(await run(['minimax'], SPEECH)).toMatchObject({ state: 'FAILED', code: 'START_UNKNOWN' });
    await until(async () => (await world.jobStates()).join() === 'finished');
  });
});
