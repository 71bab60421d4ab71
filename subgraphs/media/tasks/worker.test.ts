import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { image, me, registryOf, startEngine, startUpstream, testBinding, testProvider } from './test-kit.ts';
import type { TestEngine, Upstream } from './test-kit.ts';

let engine: TestEngine;
let upstream: Upstream;

beforeAll(async () => {
  engine = await startEngine();
  upstream = await startUpstream();
});
afterAll(async () => {
  await engine.stop();
  await upstream.close();
});

describe('one task', () => {
  it('runs from its submission to its stored result', async () => {
    const registry = registryOf(testBinding('test#0', testProvider(engine.http), upstream.url));
    const service = engine.service(registry);
    await engine.worker(registry);
    const task = await service.submit(me, image());
    expect(task).toMatchObject({ state: 'QUEUED', stage: 'queued', lastSeq: 1, owner: 'usr_me' });
    const ended = await engine.ended(service, task.id);
    expect(ended).toMatchObject({ state: 'SUCCEEDED', progress: 100 });
    expect(ended.result?.mediaIds).toHaveLength(1);
    const log = await service.events(task.id, 0, 100);
    expect(log.map((event) => event.seq)).toEqual(log.map((_, index) => index + 1));
    expect(log.at(-1)).toMatchObject({ state: 'SUCCEEDED', progress: 100, seq: ended.lastSeq });
    expect(log.map((event) => event.stage)).toContain('storing result');
  });
});
