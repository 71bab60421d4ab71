import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Sandbox } from '../../sandbox.ts';
import { getJson, plan, postJson, startSandbox } from '../../test-kit.ts';

/** The traps of the Kling wire, over its own socket. */

let sandbox: Sandbox;
let stop: () => Promise<void>;
let url: string;

beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  url = `${sandbox.url}/kling`;
});
afterAll(() => stop());
beforeEach(async () => {
  await fetch(`${sandbox.url}/_control`, { method: 'DELETE' });
  await postJson(`${sandbox.url}/_control/latency`, { wire: 'kling', queuedMs: 0, runningMs: 20 });
});

interface Task {
  readonly task_id: string;
  readonly task_status: string;
  readonly task_status_msg: string;
  readonly task_info: { readonly external_task_id?: string };
  readonly task_result?: { readonly videos: readonly { readonly url: string }[] };
}

const LOGIN = { authorization: 'Bearer a-key' };
const PIXEL = 'iVBORw0KGgo=';
const start = (action: string, body: object, headers: Record<string, string> = LOGIN) =>
  postJson(`${url}/v1/videos/${action}`, { model_name: 'kling-v2-5-turbo', ...body }, headers);
const read = async (path: string) => {
  const answer = await fetch(`${url}/v1/videos/${path}`, { headers: LOGIN });
  return { status: answer.status, body: (await answer.json()) as { code: number; data: never } };
};
const task = async (path: string): Promise<Task> => (await read(path)).body.data;

async function ended(path: string): Promise<Task> {
  await expect.poll(async () => (await task(path)).task_status).toMatch(/^(succeed|failed)$/);
  return task(path);
}

describe('a video', () => {
  it('ends as "succeed" with its address, found by its id and by the caller’s own', async () => {
    const { status, body } = await start('text2video', { prompt: 'a fox', external_task_id: 'mine' });
    const begun = body['data'] as Task;
    expect([status, body['code'], begun.task_status]).toEqual([200, 0, 'submitted']);
    const done = await ended(`text2video/${begun.task_id}`);
    expect(done).toMatchObject({ task_status: 'succeed', task_info: { external_task_id: 'mine' } });
    expect(await task('text2video/mine')).toEqual(done);
    const answer = await fetch(done.task_result?.videos[0]?.url ?? '');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  });

  it('is known on its own path only', async () => {
    const { body } = await start('image2video', { image: PIXEL });
    const { task_id: id } = body['data'] as Task;
    expect((await read(`image2video/${id}`)).status).toBe(200);
    expect(await read(`text2video/${id}`)).toMatchObject({ status: 404, body: { code: 1203 } });
    expect((await read('text2video?pageNum=1&pageSize=10')).body.data).toEqual([]);
    expect((await read('image2video?pageNum=1&pageSize=10')).body.data).toMatchObject([{ task_id: id }]);
  });

  it.each([
    ['text2video', {}, 'prompt'],
    ['text2video', { prompt: 'a fox', duration: 5 }, 'duration'],
    ['text2video', { prompt: 'a fox', duration: '7' }, '5 or 10 seconds'],
    ['text2video', { prompt: 'a fox', aspect_ratio: '4:3' }, 'aspect_ratio'],
    ['image2video', { prompt: 'a fox' }, 'image and image_tail'],
    ['image2video', { image: `data:image/png;base64,${PIXEL}` }, 'base64'],
    ['image2video', { image: PIXEL, image_tail: PIXEL, mode: 'std' }, 'pro mode'],
  ])('by %s with %j is refused: it names %s', async (action, asked, named) => {
    const { status, body } = await start(action, asked);
    expect([status, body['code']]).toEqual([400, 1201]);
    expect(body['message']).toContain(named);
  });

  it('of any length is made by the third version', async () => {
    const asked = { model_name: 'kling-v3', prompt: 'a fox', duration: '7' };
    expect(await start('text2video', asked)).toMatchObject({ status: 200 });
  });

  it('is found by an id with any letters, and not by one that can not be read', async () => {
    const own = 'mine: ä/50 %';
    await start('text2video', { prompt: 'a fox', external_task_id: own });
    expect(await task(`text2video/${encodeURIComponent(own)}`)).toMatchObject({
      task_info: { external_task_id: own },
    });
    expect(await read('text2video/50%')).toMatchObject({ status: 404, body: { code: 1203 } });
  });

  it('tells a failure as a task that failed, in an answer that is itself fine', async () => {
    await plan(sandbox, { wire: 'kling', operation: 'text2video', fault: 'late-moderation' });
    const { body } = await start('text2video', { prompt: 'a fox' });
    const failed = await ended(`text2video/${(body['data'] as Task).task_id}`);
    expect(failed).toMatchObject({
      task_status: 'failed',
      task_status_msg: expect.stringContaining('risk control'),
    });
  });

  it('is refused when too many run, when its words are banned, and when its own id is taken', async () => {
    await plan(sandbox, { wire: 'kling', operation: 'text2video', fault: 'queue-full' });
    expect(await start('text2video', { prompt: 'a fox' })).toMatchObject({
      status: 429,
      body: { code: 1303 },
    });
    expect(await start('text2video', { prompt: 'nsfw-test-banned' })).toMatchObject({ body: { code: 1301 } });
    const own = { prompt: 'a fox', external_task_id: 'mine' };
    await start('text2video', own);
    expect(await start('text2video', own)).toMatchObject({ status: 400, body: { code: 1201 } });
    expect(await getJson(`${sandbox.url}/_control/starts`)).toEqual({ mine: 1 });
  });

  it('is not begun by somebody who shows no key', async () => {
    expect(await start('text2video', { prompt: 'a fox' }, {})).toMatchObject({
      status: 401,
      body: { code: 1001 },
    });
  });
});
