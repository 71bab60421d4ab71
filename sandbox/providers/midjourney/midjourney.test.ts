import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { Sandbox } from '../../sandbox.ts';
import { follow, getJson, imagine, postJson, startSandbox, type Task } from '../../test-kit.ts';

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
  await postJson(`${sandbox.url}/_control/latency`, { queuedMs: 10, runningMs: 80, progressSteps: 4 });
});

test('takes an imagine job from submission to an image of the asked aspect ratio', async () => {
  const id = await imagine(sandbox, 'a lighthouse --ar 16:9', 'ref-1');
  const seen = await follow(url, id);
  const last = seen.at(-1);
  expect(last).toMatchObject({ id, status: 'SUCCESS', progress: '100%', state: 'ref-1', failReason: null });
  const values = seen
    .filter(({ progress }) => progress !== null)
    .map(({ progress }) => Number.parseInt(progress ?? '', 10));
  expect(values).toEqual(values.toSorted((one, other) => one - other));
  const image = await fetch(last?.imageUrl ?? '');
  expect(image.headers.get('content-type')).toBe('image/png');
  const { width, height } = await sharp(Buffer.from(await image.arrayBuffer())).metadata();
  expect(width / height).toBeCloseTo(16 / 9, 1);
});

test('shows a growing progress and a preview while the job runs', async () => {
  await postJson(`${sandbox.url}/_control/latency`, { runningMs: 1_500, progressSteps: 5 });
  const id = await imagine(sandbox, 'a boat');
  const seen = await follow(url, id);
  const running = seen.filter(({ status }) => status === 'IN_PROGRESS');
  expect(new Set(running.map(({ progress }) => progress)).size).toBeGreaterThan(2);
  const [preview] = running.map(({ imageUrl }) => imageUrl).filter((address) => address !== null);
  expect(preview).toContain('preview');
  const answer = await fetch(preview ?? '');
  expect(answer.headers.get('content-type')).toBe('image/webp');
});

test('describes an image with four numbered prompts', async () => {
  const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const base64 = `data:image/png;base64,${image.toString('base64')}`;
  const { body } = await postJson(`${url}/mj/submit/describe`, { base64 });
  const task = (await follow(url, String(body['result']))).at(-1);
  expect(task?.properties.finalPrompt?.split('\n\n')).toHaveLength(4);
  expect(task?.properties.finalPrompt).toMatch(/^1️⃣ /);
});

test.each([
  ['an empty prompt', 'imagine', { prompt: ' ' }],
  ['no JSON object', 'imagine', []],
  ['a reference image that is no data URL', 'imagine', { prompt: 'a', base64Array: ['https://x/y.png'] }],
  ['an aspect ratio that is none', 'imagine', { prompt: 'a --ar wide' }],
  ['a description of nothing', 'describe', {}],
  ['a change without a task', 'change', { action: 'UPSCALE', index: 1 }],
])('answers code 4 with HTTP 200 to %s', async (_what, operation, body) => {
  const answer = await postJson(`${url}/mj/submit/${operation}`, body);
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({ code: 4, result: null });
});

test('refuses a banned word with code 24 and names it; nothing has been started', async () => {
  const { body } = await postJson(`${url}/mj/submit/imagine`, { prompt: 'nsfw-test-banned cat', state: 'x' });
  expect(body).toMatchObject({ code: 24, properties: { bannedWord: 'nsfw-test-banned' } });
  expect(await getJson(`${sandbox.url}/_control/starts`)).toEqual({});
});

test('says 22 and how many wait, then 23 when the line is full', async () => {
  await postJson(`${sandbox.url}/_control/latency`, { runningMs: 60_000, concurrency: 1, queueSize: 2 });
  const codes: unknown[] = [];
  for (let start = 0; start < 4; start += 1) {
    const { body } = await postJson(`${url}/mj/submit/imagine`, { prompt: `boat ${start}` });
    codes.push([body['code'], (body['properties'] as { numberOfQueues?: number }).numberOfQueues]);
  }
  // Like the proxy, the first that waits is told 1: nobody waits before it.
  expect(codes).toEqual([
    [1, undefined],
    [1, undefined],
    [22, 1],
    [23, undefined],
  ]);
});

test('answers 404 and code 3 for a task that it does not know', async () => {
  const answer = await fetch(`${url}/mj/task/17/fetch`);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ code: 3 });
});

test('lists tasks by their ids, and all of them, newest first, with their state', async () => {
  const first = await imagine(sandbox, 'one', 'ref-a');
  const second = await imagine(sandbox, 'two', 'ref-b');
  const named = await postJson(`${url}/mj/task/list-by-condition`, { ids: [first, 'nobody'] });
  expect(named.body).toMatchObject([{ id: first, state: 'ref-a' }]);
  const all = await getJson<Task[]>(`${url}/mj/task/list`);
  expect(all.map(({ id, state }) => [id, state])).toEqual([
    [second, 'ref-b'],
    [first, 'ref-a'],
  ]);
});

test('cancels a running task; one that has ended it does not', async () => {
  await postJson(`${sandbox.url}/_control/latency`, { runningMs: 60_000 });
  const id = await imagine(sandbox, 'a boat');
  await follow(url, id, ({ status }) => status === 'SUBMITTED');
  expect((await postJson(`${url}/mj/task/${id}/cancel`, {})).body).toMatchObject({ code: 1 });
  expect(await getJson(`${url}/mj/task/${id}/fetch`)).toMatchObject({ status: 'CANCEL' });
  expect((await postJson(`${url}/mj/task/${id}/cancel`, {})).body).toMatchObject({ code: 4 });
});

test.each(['/mj-fast', '/mj-turbo', '/mj-relax', '/fast'])(
  'takes the speed as path prefix %s',
  async (prefix) => {
    const { body } = await postJson(`${url}${prefix}/mj/submit/imagine`, { prompt: 'a boat' });
    expect(body['code']).toBe(1);
    const task = await getJson<Task>(`${url}${prefix}/mj/task/${String(body['result'])}/fetch`);
    expect(task.id).toBe(body['result']);
  },
);

test('upscales once; the same again is code 21 with the first one', async () => {
  const id = await imagine(sandbox, 'a boat');
  await follow(url, id);
  const change = { taskId: id, action: 'UPSCALE', index: 2 };
  const first = await postJson(`${url}/mj/submit/change`, change);
  expect(first.body['code']).toBe(1);
  expect((await postJson(`${url}/mj/submit/change`, change)).body).toMatchObject({
    code: 21,
    result: first.body['result'],
  });
});

test('posts every change to a notifyHook on this machine, in order', async () => {
  const webhooks: Task[] = [];
  const hook = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      webhooks.push(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Task);
      response.end();
    });
  });
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', resolve));
  try {
    const notifyHook = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`;
    const { body } = await postJson(`${url}/mj/submit/imagine`, { prompt: 'a boat', notifyHook });
    await follow(url, String(body['result']));
    await expect.poll(() => webhooks.at(-1)?.status).toBe('SUCCESS');
    const values = webhooks.map(({ progress }) => Number.parseInt(progress ?? '0', 10));
    expect(values).toEqual(values.toSorted((one, other) => one - other));
    expect(values.length).toBeGreaterThan(3);
  } finally {
    hook.closeAllConnections();
    await new Promise((resolve) => hook.close(resolve));
  }
});

test('demands the secret when it has one, with an empty 401', async () => {
  const guarded = await startSandbox({ secrets: { midjourney: 'open sesame' } });
  try {
    const address = `${guarded.sandbox.wires.midjourney}/mj/submit/imagine`;
    const refused = await postJson(address, { prompt: 'a boat' });
    expect(refused).toMatchObject({ status: 401, body: {} });
    const known = await postJson(address, { prompt: 'a boat' }, { 'mj-api-secret': 'open sesame' });
    expect(known.body['code']).toBe(1);
    const bearer = await postJson(address, { prompt: 'a boat' }, { authorization: 'Bearer open sesame' });
    expect(bearer.body['code']).toBe(1);
  } finally {
    await guarded.stop();
  }
});
