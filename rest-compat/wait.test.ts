import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { AppError } from '../platform/errors.ts';
import { extent } from '../test/kit/extent.ts';
import { startRestServer, type RestServer } from './fixtures/rest-server.ts';
import { output } from './fixtures/tasks-in-memory.ts';

const path = '/api/agg/imga/sync/image?prompt=a%20cup';

let server: RestServer;
beforeEach(async () => {
  server = await startRestServer();
});
afterEach(() => server.close());

const done = { state: 'SUCCEEDED', stage: 'finished', progress: 100, outputs: [output] } as const;

/** Waits until so many callers wait for tasks, and answers the ids of all tasks. */
async function waiting(count: number): Promise<readonly string[]> {
  await vi.waitUntil(() => server.media.tasks.watchers() === count, { timeout: 100_000 });
  return [...server.media.tasks.all.keys()];
}

describe('a synchronous operation', () => {
  it('answers when its task has ended, and watches no longer', async () => {
    const reply = server.send('POST', path);
    const [id = ''] = await waiting(1);
    server.media.tasks.change(id, { state: 'RUNNING', stage: 'rendering', progress: 10 });
    server.media.tasks.change(id, done);
    expect((await reply).body).toMatchObject({
      status: true,
      data: { task_id: id, urls: [output.url] },
      msg: 'finished',
    });
    expect(server.media.tasks.watchers()).toBe(0);
  });

  it('answers a failed task as the status operations do', async () => {
    const reply = server.send('POST', path);
    const [id = ''] = await waiting(1);
    const error = { code: 'TIMED_OUT', message: 'too slow', retryable: true } as const;
    server.media.tasks.change(id, { state: 'FAILED', error });
    expect((await reply).body).toMatchObject({
      status: false,
      data: { task_id: id, error: { code: 'timed_out', retryable: true } },
    });
  });

  it('does not wait at all for a task that has ended already', async () => {
    server.media.tasks.startAs = 'SUCCEEDED';
    expect((await server.send('POST', path)).body).toMatchObject({ status: true });
  });

  it("answers the running form when the caller's ceiling passes, and the task goes on", async () => {
    const { body } = await server.send('POST', `${path}&max_wait_time=1`);
    const [id = ''] = server.media.tasks.all.keys();
    expect(body).toEqual({
      status: 'queued',
      data: { task_id: id, state: 'queued', stage: 'queued', progress: 0, queue_position: 1 },
      msg: `queued (the work goes on: ask GET /api/task/status/${id})`,
    });
    expect(server.media.tasks.watchers()).toBe(0);
    server.media.tasks.change(id, done);
    expect((await server.send('GET', `/api/task/status/${id}`)).body).toMatchObject({ status: true });
  });

  it('answers 503 with the task when the server stops', async () => {
    const reply = server.send('POST', path);
    const [id = ''] = await waiting(1);
    server.stopWaits();
    const { status, headers, body } = await reply;
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    expect(body).toMatchObject({ msg: expect.stringContaining(`GET /api/task/status/${id}`) });
    expect(server.media.tasks.all.get(id)).toMatchObject({ state: 'QUEUED' });
  });

  it("keeps to the server's ceiling when the caller names none", async () => {
    const short = await startRestServer({ settings: { syncMaxWaitSeconds: 1 } });
    try {
      expect((await short.send('POST', path)).body).toMatchObject({ status: 'queued' });
    } finally {
      await short.close();
    }
  });

  it('stops waiting, and nothing else, when the caller hangs up', async () => {
    const caller = new AbortController();
    const reply = fetch(`${server.url}${path}`, { method: 'POST', signal: caller.signal });
    const [id = ''] = await waiting(1);
    caller.abort();
    await expect(reply).rejects.toThrow('aborted');
    await waiting(0);
    expect(server.media.tasks.all.get(id)?.state).toBe('QUEUED');
    expect(server.errors).toEqual([]);
  });

  it('takes a stream up again that broke off', async () => {
    const reply = server.send('POST', path);
    const [id = ''] = await waiting(1);
    server.media.tasks.change(id, { state: 'RUNNING' });
    server.media.tasks.breakStreams();
    server.media.tasks.change(id, done);
    expect((await reply).body).toMatchObject({ status: true, data: { task_id: id } });
  });

  it('asks once a second for a stream that breaks at once', async () => {
    server.media.failStreamsWith(new AppError('UNAVAILABLE', 'away'));
    await server.send('POST', `${path}&max_wait_time=2`);
    expect(server.media.refusedStreams()).toBeGreaterThan(0);
    expect(server.media.refusedStreams()).toBeLessThanOrEqual(3);
  });

  it('answers a refusal instead of waiting for it to go away', async () => {
    server.media.failStreamsWith(new AppError('UNAUTHENTICATED', 'sign in'));
    expect((await server.send('POST', path)).status).toBe(401);
  });

  it('lets many callers wait at once, each for its own task', async () => {
    const callers = extent(100, 300);
    const replies = Array.from({ length: callers }, () => server.send('POST', path));
    const ids = await waiting(callers);
    for (const id of ids) server.media.tasks.change(id, done);
    const bodies = (await Promise.all(replies)).map(({ body }) => body['data'] as { task_id: string });
    expect(new Set(bodies.map(({ task_id }) => task_id))).toEqual(new Set(ids));
    expect(server.media.tasks.watchers()).toBe(0);
    // One question to submit and one to read, no polling in between.
    expect(server.media.requests).toHaveLength(2 * callers);
  });
});

describe('a route with a rule of its own', () => {
  it('asks for a credential where anonymous callers are not let in', async () => {
    const strict = await startRestServer({ settings: { authMode: 'required' } });
    try {
      expect((await strict.send('POST', '/api/file/upload')).status).toBe(401);
      expect((await strict.send('GET', '/')).status).toBe(200);
    } finally {
      await strict.close();
    }
  });
});
