import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { postForm, rest, taskEnd, type RestAnswer } from '../../kit/clients/requests.ts';
import type { KilnUnderTest } from '../../kit/kiln.ts';
import { downloadWav, openFirst, readImage, startWithSamples } from './sample-media.ts';

/** Every operation of the generators over a live server, with its stand-in upstream: what comes back is real media. */

let kiln: KilnUnderTest;
/** Addresses of an image of ours, and of a recording long enough to be cloned. */
let imageUrl = '';
let recording = '';

beforeAll(async () => {
  const text = 'This is a sample of a voice, and it goes on for as long as anybody could wish for. ';
  ({ kiln, imageUrl, recording } = await startWithSamples({ text: text.repeat(3) }));
});
afterAll(() => kiln.close());

const post = (path: string, fields?: Readonly<Record<string, string | Blob>>) =>
  postForm(kiln.url, path, fields);
const get = (path: string): Promise<RestAnswer> => rest(kiln.url, 'GET', path);

const type = (kind: string): unknown => expect.stringMatching(new RegExp(`^${kind}/`));
const size = { width: expect.any(Number), height: expect.any(Number) };
const image = { isWhole: true, content_type: type('image'), ...size, duration: null };
const video = { isWhole: true, content_type: type('video'), ...size, duration: expect.any(Number) };
const audio = { isWhole: true, content_type: type('audio'), duration: expect.any(Number) };

/** Waits for the end of a submission, and reads it by the path of its own section. */
async function followed(
  submitted: RestAnswer,
  status: (id: string) => Promise<RestAnswer>,
): Promise<RestAnswer> {
  expect(submitted.body).toMatchObject({ status: true, data: expect.any(String) });
  await taskEnd(kiln.url, submitted.body.data, 60_000);
  return status(submitted.body.data);
}

it.concurrent.each([
  ['/api/vidb/sync/generate/video', {}],
  ['/api/agg/vidb/sync/generate/video', {}],
  ['/api/agg/vidc/video/sync/generate/video', { tail: true }],
  ['/api/agg/imga/video/sync/generate/video', {}],
  ['/api/imga/video/sync/gen?prompt=waves', {}],
] as const)('POST %s answers a video of an image', async (path, { tail }: { tail?: boolean }) => {
  const more = tail === true ? { tail_img_url: imageUrl } : {};
  expect(
    await openFirst(await post(path, { prompt: 'waves', img_file: await readImage(), ...more })),
  ).toMatchObject(video);
});

it.concurrent.each([
  ['/api/vidb/generate-video', '/api/vidb/async/query/status?task_id=', 'GET'],
  ['/api/vidb/async/generate/video', '/api/vidb/async/query/status?task_id=', 'GET'],
  ['/api/agg/vidb/async/generate/video', '/api/agg/vidb/async/query/status?task_id=', 'GET'],
  ['/api/agg/vidc/video/async/submit', '/api/agg/vidc/video/task/', 'GET'],
  ['/api/agg/imga/video/async/submit', '/api/agg/imga/video/async/task/status?task_id=', 'POST'],
  ['/api/imga/video/async/submit?prompt=waves', '/api/imga/video/async/task/status?task_id=', 'POST'],
  ['/api/union/video/async/generate/video', '/api/union/video/async/{task_id}/status', 'GET'],
] as const)('POST %s is followed to its video at %s', async (path, status, method) => {
  const query = path.includes('?') ? `${path}&img_url=${encodeURIComponent(imageUrl)}` : path;
  const submitted = await post(query, { prompt: 'waves', img_url: imageUrl });
  const end = await followed(submitted, (id) =>
    rest(kiln.url, method, status.includes('{') ? status.replace('{task_id}', id) : `${status}${id}`),
  );
  expect(await openFirst(end)).toMatchObject(video);
});

it.concurrent('images of generator A and of a chosen model are real images', async () => {
  const prompt = 'prompt=a%20boat&max_wait_time=60';
  expect(
    await openFirst(await post(`/api/imga/sync/image?${prompt}`, { img_file: await readImage(), ar: '1:1' })),
  ).toMatchObject(image);
  expect(await openFirst(await post(`/api/agg/imga/sync/image?${prompt}`))).toMatchObject(image);
  expect(
    await openFirst(await post('/api/union/img/sync/generate/image', { prompt: 'tea', n: '2' })),
  ).toMatchObject(image);
  const old = (id: string) => get(`/api/imga/async/query/status?task_id=${id}`);
  const current = (id: string) => get(`/api/agg/imga/async/query/status?task_id=${id}&cdn_flag=1`);
  expect(
    await openFirst(await followed(await post('/api/imga/generate-image', { prompt: 'a' }), old)),
  ).toMatchObject(image);
  expect(
    await openFirst(await followed(await post('/api/imga/async/generate/image?prompt=a'), old)),
  ).toMatchObject(image);
  expect(
    await openFirst(await followed(await post('/api/agg/imga/async/generate/image?prompt=a'), current)),
  ).toMatchObject(image);
});

it.concurrent('images are described by their link and as a file', async () => {
  for (const group of ['imga', 'agg/imga']) {
    const found = { status: true, data: { prompt: expect.any(String), prompts: expect.any(Array) } };
    expect((await post(`/api/${group}/sync/img/describe`, { img_url: imageUrl })).body).toMatchObject(found);
    const { body } = await post(`/api/${group}/sync/file/img/describe`, { img_file: await readImage() });
    expect(body).toMatchObject(found);
    expect(body.data.prompt).toBe(body.data.prompts[0]);
  }
});

it.concurrent('what speaks against a prompt is told, and every section says that it runs', async () => {
  const { body } = await get('/api/imga/prompt/check?prompt=a%20boat');
  expect(body).toMatchObject({ status: true, data: { allowed: true, reasons: [] } });
  for (const path of ['/api/vidb/health', '/api/imga/health', '/api/imga/video/health']) {
    expect((await get(path)).body).toMatchObject({ status: true, data: { service: 'media' } });
  }
});

it.concurrent('a task is cancelled while it runs, and too late afterwards', async () => {
  const { body } = await post('/api/agg/imga/async/generate/image?prompt=a%20boat');
  const cancel = () => post(`/api/agg/imga/task/cancel?task_id=${body.data}`);
  const outcomes = ['cancelled', 'canceling', 'too_late'];
  expect(outcomes).toContain((await cancel()).body.data.outcome);
  const end = await taskEnd(kiln.url, body.data, 60_000);
  const expected = end.body.status === true ? 'too_late' : 'cancelled';
  expect((await cancel()).body).toMatchObject({ status: true, data: { outcome: expected } });
});

it.concurrent('speech is spoken, and a voice is cloned by a stored sample and by a file', async ({
  expect,
}) => {
  const say = '/api/agg/speech_router/sync/generate/speech';
  expect(
    await openFirst(await post(say, { text: 'Good morning to everyone who hears this.' })),
  ).toMatchObject(audio);
  const upload = await post('/api/agg/speech_router/sync/file/upload', {
    file: await downloadWav(recording),
  });
  expect(upload.body).toMatchObject({ status: true, data: expect.any(String) });
  const clone = '/api/agg/speech_router/sync/voice/clone';
  const byId = await post(clone, {
    voice_id: 'KilnVoice01',
    file_id: upload.body.data,
    text: 'Hello there.',
  });
  expect(byId.body).toMatchObject({ status: true, data: { voice_id: 'KilnVoice01' } });
  expect((await fetch(byId.body.data.demo_url)).headers.get('content-type')).toMatch(/^audio\//);
  const byFile = await post(clone, { voice_id: 'KilnVoice02', file: await downloadWav(recording) });
  expect(byFile.body).toMatchObject({ status: true, data: { voice_id: 'KilnVoice02', demo_url: null } });
  expect(await openFirst(await post(say, { text: 'Hello again.', voice_id: 'KilnVoice02' }))).toMatchObject(
    audio,
  );
  // The list is cached for two seconds; in open mode everybody sees the voices that nobody owns.
  await expect
    .poll(async () => (await get('/api/agg/speech_router/sync/get/voices')).body)
    .toMatchObject({
      status: true,
      data: expect.arrayContaining(['KilnVoice01', 'KilnVoice02']),
      extra: { voices: expect.any(Array), provider: expect.any(Object) },
    });
});

it.concurrent('models are listed with what they take', async () => {
  for (const [path, category] of [
    ['/api/union/img/model/list', 'image'],
    ['/api/union/video/model/list', 'video'],
    ['/api/llm/model/list', 'language'],
  ]) {
    const { body } = await get(path ?? '');
    expect(body.data.length).toBeGreaterThan(1);
    for (const model of body.data)
      expect(model).toMatchObject({ category, sandbox: true, id: expect.any(String) });
  }
});

it.concurrent('language models answer, at once and whole', async () => {
  for (const path of ['/api/llm/chat', '/api/llm/altllm/chat']) {
    const { body } = await post(path, { prompt: 'What is 17 * 3?' });
    expect(body).toMatchObject({ status: true, extra: { usage: { output_tokens: expect.any(Number) } } });
    expect(body.data).toContain('51');
  }
});

it.concurrent('a reply is what the stream of the same question says word by word', async () => {
  const client = createClient({
    url: `${kiln.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const query = `subscription ($input: ChatInput!, $key: String!) {
    chatStream(input: $input, idempotencyKey: $key) { delta }
  }`;
  const prompt = 'Name three lighthouses. What is 6 * 7?';
  const groups = { '/api/llm/chat': 'llm', '/api/llm/altllm/chat': 'llm/altllm' };
  for (const [path, generator] of Object.entries(groups)) {
    const input = { generator, messages: [{ role: 'user', content: prompt }] };
    const deltas: string[] = [];
    const variables = { input, key: `same-${generator}` };
    for await (const { data } of client.iterate<{ chatStream: { delta: string } }>({ query, variables })) {
      if (data) deltas.push(data.chatStream.delta);
    }
    const { body } = await post(path, { prompt });
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.join('')).toBe(body.data);
  }
  await client.dispose();
});

it.concurrent('media is analysed from our own address and from the storage of the provider', async () => {
  const stored = await post('/api/llm/altllm/cloudstore/upload', { local_file: await readImage() });
  expect(stored.body).toMatchObject({ status: true, data: expect.stringMatching(/^https?:/) });
  for (const media_url of [imageUrl, stored.body.data]) {
    const fields = { prompt: 'What is to be seen?', media_url };
    const { body } = await post('/api/llm/altllm/sync/media/analysis', fields);
    expect(body).toMatchObject({
      status: true,
      data: expect.stringMatching(/\w/),
      extra: { model: expect.any(String) },
    });
  }
  const submitted = await post('/api/llm/altllm/async/media/analysis', {
    prompt: 'What?',
    media_url: imageUrl,
  });
  const end = await followed(submitted, (id) => get(`/api/llm/task/status?task_id=${id}`));
  expect(end.body).toMatchObject({ status: true, data: expect.stringMatching(/\w/) });
  const text = new File(['only words'], 'a.txt', { type: 'text/plain' });
  const refused = await post('/api/llm/altllm/cloudstore/upload', { local_file: text });
  expect(refused).toMatchObject({ status: 200, body: { status: false, data: null } });
});

it.concurrent('graphs are run by name and as they are sent, on a machine that has room', async () => {
  const { body } = await get('/api/comfy/fetch/running/node?task_count=2');
  expect(body).toMatchObject({ status: true, data: { node: expect.any(String), queue_pending: 0 } });
  const named = { workflow_name: 'text-to-image', inputs: JSON.stringify({ prompt: 'a boat' }) };
  expect(await openFirst(await post('/api/comfy/sync/execute/workflow', named))).toMatchObject(image);
  const submitted = await post('/api/comfy/async/submit/task', { ...named, node: body.data.node });
  const status = (id: string) => get(`/api/comfy/async/task/status?task_id=${id}`);
  expect(await openFirst(await followed(submitted, status))).toMatchObject(image);
  const unknown = JSON.stringify({ 1: { class_type: 'NoSuchNode', inputs: {} } });
  const end = await post('/api/comfy/async/submit/task', { workflow: unknown });
  expect(end).toMatchObject({ status: 200, body: { status: false } });
  expect(end.body.msg).toContain('NoSuchNode');
});
