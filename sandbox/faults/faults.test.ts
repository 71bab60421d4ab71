import { request } from 'node:http';

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { Sandbox } from '../sandbox.ts';
import { follow, getJson, imagine, plan, postJson, startSandbox, type Task } from '../test-kit.ts';

let sandbox: Sandbox;
let stop: () => Promise<void>;
let url: string;

beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  url = sandbox.wires.midjourney;
});
afterAll(() => stop());
beforeEach(async () => {
  await fetch(`${sandbox.url}/_control`, { method: 'DELETE' });
  await postJson(`${sandbox.url}/_control/latency`, { queuedMs: 5, runningMs: 40, progressSteps: 3 });
});

const start = (state: string) => postJson(`${url}/mj/submit/imagine`, { prompt: 'a boat', state });
const starts = () => getJson<Record<string, number>>(`${sandbox.url}/_control/starts`);

test('rate-limited: 429 with Retry-After, nothing started, and gone after the given times', async () => {
  await plan(sandbox, {
    wire: 'midjourney',
    operation: 'imagine',
    fault: 'rate-limited',
    times: 2,
    retryAfter: 7,
  });
  const first = await start('r');
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
  expect((await start('r')).status).toBe(429);
  expect(await starts()).toEqual({});
  expect((await start('r')).body['code']).toBe(1);
  expect(await starts()).toEqual({ r: 1 });
});

test('a fault can let requests pass before it hits', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'server-error', after: 1 });
  expect((await start('a')).status).toBe(200);
  expect((await start('b')).status).toBe(500);
  expect((await start('c')).status).toBe(200);
});

test('server-error: before the start nothing is counted, accepted ones are', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'server-error' });
  expect((await start('before')).status).toBe(500);
  await plan(sandbox, { operation: 'imagine', fault: 'server-error', accepted: true });
  expect((await start('after')).status).toBe(500);
  expect(await starts()).toEqual({ after: 1 });
});

test('cut: the connection is reset, and the start has happened', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'cut' });
  await expect(start('cut')).rejects.toThrow('fetch failed');
  expect(await starts()).toEqual({ cut: 1 });
  const tasks = await getJson<Task[]>(`${url}/mj/task/list`);
  expect(tasks).toMatchObject([{ state: 'cut' }]);
});

test('malformed: half of the JSON', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'malformed' });
  await expect(start('m')).rejects.toThrow(SyntaxError);
  expect(await starts()).toEqual({ m: 1 });
});

test('wrong-content-type: a page instead of JSON, a page instead of an image', async () => {
  await plan(sandbox, { operation: 'fetch', fault: 'wrong-content-type' });
  const answer = await fetch(`${url}/mj/task/${await imagine(sandbox, 'a boat')}/fetch`);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/html']);
});

test('wrong-length: more is promised than comes', async () => {
  const id = await imagine(sandbox, 'a boat');
  const [task] = (await follow(url, id)).slice(-1);
  await plan(sandbox, { operation: 'download', fault: 'wrong-length' });
  const { promised, received } = await download(task?.imageUrl ?? '');
  expect(received).toBeGreaterThan(0);
  expect(received).toBeLessThan(promised);
  expect((await fetch(task?.imageUrl ?? '')).ok).toBe(true);
});

test('slow: the answer waits', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'slow', delayMs: 300 });
  const before = performance.now();
  await start('s');
  expect(performance.now() - before).toBeGreaterThan(290);
});

test('slow: who hangs up has started it all the same', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'slow', delayMs: 60_000 });
  const hangUp = AbortSignal.timeout(1_000);
  const body = JSON.stringify({ prompt: 'a boat', state: 'gone' });
  await expect(fetch(`${url}/mj/submit/imagine`, { method: 'POST', body, signal: hangUp })).rejects.toThrow(
    'timeout',
  );
  await expect.poll(starts).toEqual({ gone: 1 });
});

test('moderation: refused at once with code 24; late-moderation: half-way', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'moderation' });
  expect((await start('early')).body['code']).toBe(24);
  await plan(sandbox, { operation: 'imagine', fault: 'late-moderation' });
  const task = (await follow(url, await imagine(sandbox, 'a boat', 'late'))).at(-1);
  expect(task).toMatchObject({ status: 'FAILURE' });
  expect(task?.failReason).toContain('Banned prompt');
  expect(await starts()).toEqual({ late: 1 });
});

test('upstream-error: the job fails half-way', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'upstream-error' });
  const task = (await follow(url, await imagine(sandbox, 'a boat'))).at(-1);
  expect(task).toMatchObject({ status: 'FAILURE', imageUrl: null });
});

test('stall: the job stops half-way, and can be cancelled', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'stall' });
  const id = await imagine(sandbox, 'a boat');
  await follow(url, id, ({ progress }) => progress === '50%');
  await postJson(`${url}/mj/submit/imagine`, { prompt: 'another' });
  expect(await getJson(`${url}/mj/task/${id}/fetch`)).toMatchObject({
    status: 'IN_PROGRESS',
    progress: '50%',
  });
  expect((await postJson(`${url}/mj/task/${id}/cancel`, {})).body['code']).toBe(1);
});

test('lost: 404 from then on, lost-silently: an empty 200; the start still counts', async () => {
  const id = await imagine(sandbox, 'a boat', 'l');
  await plan(sandbox, { operation: 'fetch', fault: 'lost-silently' });
  const silent = await fetch(`${url}/mj/task/${id}/fetch`);
  expect([silent.status, await silent.text()]).toEqual([200, '']);
  expect((await fetch(`${url}/mj/task/${id}/fetch`)).status).toBe(404);
  expect(await getJson(`${url}/mj/task/list`)).toEqual([]);
  expect(await starts()).toEqual({ l: 1 });
});

test('expired-url: the address is refused from then on, the next status has a fresh one', async () => {
  const id = await imagine(sandbox, 'a boat');
  const stale = (await follow(url, id)).at(-1)?.imageUrl ?? '';
  await plan(sandbox, { operation: 'download', fault: 'expired-url' });
  expect((await fetch(stale)).status).toBe(404);
  expect((await fetch(stale)).status).toBe(404);
  const { imageUrl } = await getJson<Task>(`${url}/mj/task/${id}/fetch`);
  expect(imageUrl).not.toBe(stale);
  expect((await fetch(imageUrl ?? '')).status).toBe(200);
});

test('queue-full: code 23', async () => {
  await plan(sandbox, { operation: 'imagine', fault: 'queue-full' });
  expect((await start('q')).body['code']).toBe(23);
  expect(await starts()).toEqual({});
});

test('the control refuses what it does not understand, and browsers', async () => {
  expect((await postJson(`${sandbox.url}/_control/faults`, { fault: 'earthquake' })).status).toBe(400);
  expect((await postJson(`${sandbox.url}/_control/latency`, { runningMs: -1 })).status).toBe(400);
  expect((await fetch(`${sandbox.url}/_control/nothing`)).status).toBe(404);
  expect(
    (await postJson(`${sandbox.url}/_control/faults`, {}, { origin: 'http://evil.example' })).status,
  ).toBe(403);
});

test('a Host that is no loopback name is refused', async () => {
  const status = await new Promise((resolve, reject) => {
    request(`${sandbox.url}/_control/starts`, { headers: { host: 'evil.example' } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });
  expect(status).toBe(403);
});

/** What was promised by Content-Length and what came before the connection ended. */
function download(address: string): Promise<{ promised: number; received: number }> {
  return new Promise((resolve, reject) => {
    request(address, (answer) => {
      let received = 0;
      const promised = Number(answer.headers['content-length']);
      answer.on('data', (chunk: Buffer) => {
        received += chunk.length;
      });
      answer.on('error', () => undefined);
      answer.on('close', () => resolve({ promised, received }));
    })
      .on('error', reject)
      .end();
  });
}
