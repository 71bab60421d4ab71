import { expect, test } from 'vitest';

import { postJson } from '../test-kit.ts';
import { onePixel, useSandbox } from '../use-sandbox.fixture.ts';

/** The most that Kiln's catalog offers of each vendor's models is made, although the studio draws less of it. */

const sandbox = useSandbox();
const bearer = { authorization: 'Bearer test' };
const prompt = 'a fox';

test('openai edits as many images at once as its vendor takes', async () => {
  const form = new FormData();
  form.append('prompt', prompt);
  for (let index = 0; index < 16; index += 1) form.append('image[]', new Blob([onePixel]), `${index}.png`);
  const url = `${sandbox.url('openai')}/v1/images/edits`;
  expect((await fetch(url, { method: 'POST', headers: bearer, body: form })).status).toBe(200);
});

test('gemini makes an image of as many images as its vendor takes', async () => {
  const inlineData = { mimeType: 'image/png', data: onePixel.toString('base64') };
  const parts = [{ text: prompt }, ...Array.from({ length: 14 }, () => ({ inlineData }))];
  const url = `${sandbox.url('gemini')}/v1beta/models/gemini-3-pro-image:generateContent`;
  const { status } = await postJson(url, { contents: [{ role: 'user', parts }] }, { 'x-goog-api-key': 'k' });
  expect(status).toBe(200);
});

const content = [{ type: 'text', text: prompt }];
test.each([
  {
    mount: 'ark',
    start: '/api/v3/contents/generations/tasks',
    body: { model: 'doubao-seedance-2-0', content, resolution: '4k', ratio: '16:9' },
    id: 'id',
    show: (id: string) => `/api/v3/contents/generations/tasks/${id}`,
    end: { status: 'succeeded' },
  },
  {
    mount: 'minimax',
    start: '/v2/video_generation',
    body: { model: 'MiniMax-H3', content, resolution: '2K', ratio: '16:9' },
    id: 'task_id',
    show: (id: string) => `/v2/query/video_generation/${id}`,
    end: { task: { status: 'succeeded' } },
  },
  {
    mount: 'fal',
    start: '/bytedance/seedance-2.0/text-to-video',
    body: { prompt, resolution: '4k' },
    id: 'request_id',
    show: (id: string) => `/bytedance/seedance-2.0/requests/${id}`,
    end: { video: { content_type: 'video/mp4' } },
  },
])('$mount makes a video of the largest size', async ({ mount, start, body, id, show, end }) => {
  const begun = await postJson(`${sandbox.url(mount)}${start}`, body, bearer);
  const url = `${sandbox.url(mount)}${show(String(begun.body[id]))}`;
  const ended = () => fetch(url, { headers: bearer }).then((answer) => answer.json() as Promise<object>);
  await expect.poll(ended, { timeout: 20_000 }).toMatchObject(end);
});
