import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Binding } from '../../../subgraphs/media/generators/bindings/binding.ts';
import {
  image,
  me,
  toRegistry,
  startEngine,
  until,
  type TestEngine,
} from '../../../subgraphs/media/tasks/testing/engine.ts';
import { testBinding } from '../../../subgraphs/media/tasks/testing/provider.ts';
import { must, openEnvironment, SECRET, type Environment } from '../environment/environment.ts';

/** The engine's own parts with the real midjourney adapter, where the waiting times of a whole Kiln would be too long. */

const HEADERS = { 'mj-api-secret': SECRET };
let world: Environment;
let engine: TestEngine;
beforeAll(async () => {
  world = await openEnvironment();
});
afterAll(() => world?.close());
beforeEach(async () => {
  await world.reset();
  engine = await startEngine();
});
afterEach(() => engine.stop());

function makeBinding(id: string, change: Partial<Binding> = {}): Binding {
  const provider = must(world.providers['midjourney'], 'midjourney');
  const binding = testBinding(id, provider, world.proxy.origin, change);
  return { ...binding, connection: world.connection('/midjourney', HEADERS) };
}

/** Submits one image and lets a worker do it. */
async function submit(...bindings: Binding[]) {
  const registry = toRegistry(...bindings);
  const service = engine.service(registry);
  await engine.worker(registry);
  const { id } = await service.submit(me, image());
  const attempts = async () => (await service.attempts([id])).get(id) ?? [];
  return { id, attempts, ended: () => engine.ended(service, id) };
}

describe('work at midjourney', () => {
  it('that stalls is cancelled there, and goes on at the next binding', async () => {
    await world.injectFault({ wire: 'midjourney', operation: 'imagine', fault: 'stall' });
    const { attempts, ended } = await submit(
      makeBinding('test#0', { attemptTimeoutSeconds: 1 }),
      makeBinding('test#1'),
    );
    expect((await ended()).state).toBe('SUCCEEDED');
    expect(await attempts()).toMatchObject([
      { state: 'FAILED', error: { code: 'TIMED_OUT', retryable: true } },
      { state: 'SUCCEEDED' },
    ]);
    expect((await world.jobStates()).toSorted()).toEqual(['cancelled', 'finished']);
  });

  it('whose worker died between its start and the saving of its handle is found by its reference', async () => {
    await world.setLatency({ wire: 'midjourney', queuedMs: 0, runningMs: 3_000 });
    const { id, attempts, ended } = await submit(makeBinding('test#0'));
    await until(async () => (await attempts())[0]?.state === 'RUNNING');
    await engine.pool.query(
      `update media.attempts set state = 'STARTING', handle = null, next_poll_at = null,
      claim = gen_random_uuid(), claimed_at = now() - interval '1 minute' where task_id = $1`,
      [id],
    );
    expect((await ended()).state).toBe('SUCCEEDED');
    expect(await attempts()).toMatchObject([{ state: 'SUCCEEDED' }]);
    expect(await world.starts()).toEqual({ [(await attempts())[0]?.reference ?? '']: 1 });
    expect(world.proxy.sent.some(({ path }) => path.endsWith('/mj/task/list'))).toBe(true);
  });

  it('that may have begun at an upstream without a listing is named, and never begun again', async () => {
    await world.injectFault({ wire: 'midjourney', operation: 'imagine', fault: 'cut' });
    const page = { headers: { 'content-type': 'text/html' }, body: '<html>' };
    world.proxy.respondNext('/mj/task/list', page);
    const { attempts, ended } = await submit(makeBinding('test#0'));
    expect(await ended()).toMatchObject({ state: 'FAILED', error: { code: 'START_UNKNOWN' } });
    expect(await attempts()).toMatchObject([{ state: 'UNKNOWN' }]);
    expect(await world.starts()).toEqual({ [(await attempts())[0]?.reference ?? '']: 1 });
  });
});
