import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';

import type { Sandbox } from '../../sandbox.ts';
import { getJson, plan, postJson, startSandbox } from '../../test-kit.ts';

let sandbox: Sandbox;
let stop: () => Promise<void>;
let url: string;

beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  url = sandbox.wires.openai;
});
afterAll(() => stop());
beforeEach(() => fetch(`${sandbox.url}/_control`, { method: 'DELETE' }));

const starts = () => getJson<Record<string, number>>(`${sandbox.url}/_control/starts`);
const ask = (content: unknown, more: object = {}) =>
  postJson(`${url}/chat/completions`, {
    model: 'local-rules',
    messages: [{ role: 'user', content }],
    ...more,
  });

interface Choice {
  readonly message: { readonly content: string };
  readonly finish_reason: string;
}
const readAnswer = (body: Record<string, unknown>) => (body['choices'] as Choice[])[0]?.message.content ?? '';

test('lists its models and answers for one of them', async () => {
  const { data } = await getJson<{ data: { id: string }[] }>(`${url}/models`);
  expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['local-rules', 'local-studio', 'gpt-4o']));
  expect(await getJson(`${url}/models/local-rules`)).toMatchObject({ id: 'local-rules', object: 'model' });
  expect((await fetch(`${url}/models/gpt-9`)).status).toBe(404);
});

test('answers a chat in the shape of the wire, with usage', async () => {
  const { status, body } = await ask('what is (2+3)*4?');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    object: 'chat.completion',
    model: 'local-rules',
    choices: [{ index: 0, message: { role: 'assistant', content: '20' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 },
  });
});

test('says honestly that it is no language model, and where a real one is configured', async () => {
  const text = readAnswer((await ask('Who wrote Hamlet?')).body);
  expect(text).toContain('not a language model');
  expect(text).toContain('OPENAI_BASE_URL');
});

test('describes an image in words that begin with what was measured', async () => {
  const red = { create: { width: 32, height: 32, channels: 3, background: 'red' } } as const;
  const data = (await sharp(red).png().toBuffer()).toString('base64');
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } };
  const text = readAnswer((await ask([{ type: 'text', text: 'what is this?' }, image])).body);
  expect(text).toMatch(/^\w[^(]* \(measured by local-rules, nothing is recognised\)/);
});

test('cuts an answer at max_tokens and says so', async () => {
  const { body } = await ask('Who wrote Hamlet?', { max_tokens: 3 });
  expect((body['choices'] as Choice[])[0]?.finish_reason).toBe('length');
  expect(readAnswer(body).length).toBe(12);
});

test('streams the same answer in pieces, with usage when asked, and [DONE] last', async () => {
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'local-rules',
      messages: [{ role: 'user', content: 'Who wrote Hamlet?' }],
      stream: true,
      stream_options: { include_usage: true },
    }),
  });
  expect(response.headers.get('content-type')).toContain('text/event-stream');
  const events = (await response.text())
    .trim()
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));
  expect(events.pop()).toBe('[DONE]');
  const chunks = events.map((event) => JSON.parse(event) as StreamChunk);
  expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  expect(text).toBe(readAnswer((await ask('Who wrote Hamlet?')).body));
});

interface StreamChunk {
  readonly choices: {
    readonly delta: { readonly content?: string };
    readonly finish_reason: string | null;
  }[];
  readonly usage?: { readonly total_tokens: number };
}

test('measures an image that comes as a data URL; other addresses it does not reach', async () => {
  const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
  const part = (address: string) => [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: address } },
  ];
  const seen = await ask(part(`data:image/png;base64,${image.toString('base64')}`));
  expect(readAnswer(seen.body)).toContain('nothing is recognised');
  const refused = await ask(part('https://example.com/x.png'));
  expect(refused).toMatchObject({
    status: 400,
    body: { error: { type: 'invalid_request_error', param: 'messages' } },
  });
});

test.each([
  ['no messages', 'chat/completions', { model: 'm', messages: [] }, 'messages'],
  ['no prompt', 'images/generations', {}, 'prompt'],
  ['a size that is none', 'images/generations', { prompt: 'a', size: 'large' }, 'size'],
  ['an edge that is too long', 'images/generations', { prompt: 'a', size: '9999x16' }, 'size'],
  ['too many images', 'images/generations', { prompt: 'a', n: 11 }, 'n'],
])('answers 400 in the shape of the wire to %s', async (_what, path, body, param) => {
  const answer = await postJson(`${url}/${path}`, body);
  expect(answer).toMatchObject({ status: 400, body: { error: { type: 'invalid_request_error', param } } });
});

test('makes images of the asked size and format, as base64 or behind a URL', async () => {
  const asked = { prompt: 'a boat', n: 2, size: '320x200', output_format: 'jpeg' };
  const inline = await postJson(`${url}/images/generations`, asked);
  const images = inline.body['data'] as { b64_json: string }[];
  expect(images).toHaveLength(2);
  const metadata = await sharp(Buffer.from(images[0]?.b64_json ?? '', 'base64')).metadata();
  expect(metadata).toMatchObject({ format: 'jpeg', width: 320, height: 200 });

  const linked = await postJson(`${url}/images/generations`, { ...asked, response_format: 'url' });
  const [first] = linked.body['data'] as { url: string }[];
  expect((await fetch(first?.url ?? '')).headers.get('content-type')).toBe('image/jpeg');
  await plan(sandbox, { wire: 'openai', operation: 'download', fault: 'expired-url' });
  expect((await fetch(first?.url ?? '')).status).toBe(403);
  expect((await fetch(first?.url ?? '')).status).toBe(403);
});

function editForm(): FormData {
  const form = new FormData();
  form.set('prompt', 'make it blue');
  form.set('size', '64x64');
  form.append('image[]', new Blob(['one image']), 'one.png');
  form.append('image[]', new Blob(['another']), 'two.png');
  return form;
}

test('edits images that come as a form; the same key with a new boundary is the same request', async () => {
  const edit = () =>
    fetch(`${url}/images/edits`, {
      method: 'POST',
      headers: { 'idempotency-key': 'edit-1' },
      body: editForm(),
    });
  const first = await edit();
  expect(first.status).toBe(200);
  expect((await edit()).status).toBe(200);
  expect(await starts()).toEqual({ 'edit-1': 1 });
  const withoutImage = await fetch(`${url}/images/edits`, {
    method: 'POST',
    body: new URLSearchParams({ prompt: 'x' }),
  });
  expect(withoutImage.status).toBe(400);
});

test('answers a chat with the same Idempotency-Key with the same words, though they are not kept', async () => {
  const keyed = () =>
    postJson(
      `${url}/chat/completions`,
      { model: 'local-rules', messages: [{ role: 'user', content: 'what is 6*7?' }] },
      { 'idempotency-key': 'chat-1' },
    );
  expect([readAnswer((await keyed()).body), readAnswer((await keyed()).body)]).toEqual(['42', '42']);
  expect(await starts()).toEqual({ 'chat-1': 1 });
});

test('replays a start with the same Idempotency-Key, also one that was cut off or asked twice at once', async () => {
  const generate = (prompt: string) =>
    postJson(`${url}/images/generations`, { prompt, size: '64x64' }, { 'idempotency-key': 'key-1' });
  await plan(sandbox, { wire: 'openai', operation: 'images', fault: 'cut' });
  await expect(generate('a boat')).rejects.toThrow('fetch failed');
  const [one, two] = await Promise.all([generate('a boat'), generate('a boat')]);
  expect(one.body['data']).toEqual(two.body['data']);
  expect(await starts()).toEqual({ 'key-1': 1 });
  expect((await generate('a ship')).status).toBe(409);
});

test('two first requests with one key at the same moment make one start', async () => {
  const generate = () =>
    postJson(`${url}/images/generations`, { prompt: 'a boat', size: '64x64' }, { 'idempotency-key': 'twin' });
  const answers = await Promise.all([generate(), generate(), generate()]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(await starts()).toEqual({ twin: 1 });
});

test('makes the other lines of a batch of which one can not be made', async () => {
  const broken = { image_url: `data:image/png;base64,${Buffer.from('no image').toString('base64')}` };
  const lines = [
    { prompt: 'a boat', size: '64x64' },
    { prompt: 'a boat', size: '64x64', images: [broken], mask: broken },
    { prompt: 'a ship', size: '64x64' },
  ].map((body, index) => JSON.stringify({ custom_id: `line-${index}`, body }));
  const form = new FormData();
  form.set('purpose', 'batch');
  form.set('file', new Blob([lines.join('\n')]), 'lines.jsonl');
  const uploaded = await fetch(`${url}/files`, { method: 'POST', body: form });
  const { id: input_file_id } = (await uploaded.json()) as { id: string };
  const begun = await postJson(`${url}/batches`, {
    input_file_id,
    endpoint: '/v1/images/edits',
    completion_window: '24h',
  });
  const batch = () => getJson<Record<string, unknown>>(`${url}/batches/${String(begun.body['id'])}`);
  await expect.poll(async () => (await batch())['status']).toMatch(/completed|expired/);
  const { error_file_id: errors, request_counts: counts } = await batch();
  expect(counts).toEqual({ total: 3, completed: 2, failed: 1 });
  const refused = await getJson(`${url}/files/${String(errors)}/content`);
  expect(refused).toMatchObject({ custom_id: 'line-1', response: { status_code: 500 } });
});

test('answers 400 to images that can not be read, as to what is wrong in a request', async () => {
  const real = await startSandbox({ instantImages: false });
  try {
    const at = real.sandbox.wires.openai;
    const data = `data:image/png;base64,${Buffer.from('no image').toString('base64')}`;
    const content = [{ type: 'image_url', image_url: { url: data } }];
    const form = new FormData();
    form.set('prompt', 'make it blue');
    form.append('image', new Blob(['no image']), 'one.png');
    const messages = [{ role: 'user', content }];
    const edited = fetch(`${at}/images/edits`, { method: 'POST', body: form });
    const answers = [
      (await postJson(`${at}/chat/completions`, { model: 'local-rules', messages })).body,
      (await (await edited).json()) as object,
    ];
    expect(answers).toMatchObject([{ error: { param: 'messages' } }, { error: { param: 'image' } }]);
  } finally {
    await real.stop();
  }
});

test('plays faults in the shape of the wire', async () => {
  const outcomes: unknown[] = [];
  for (const fault of [
    'rate-limited',
    'server-error',
    'moderation',
    'late-moderation',
    'upstream-error',
  ] as const) {
    await plan(sandbox, { wire: 'openai', operation: 'images', fault });
    const { status, body } = await postJson(`${url}/images/generations`, { prompt: 'a boat', size: '64x64' });
    const { code } = body['error'] as { code: string | null };
    outcomes.push([fault, status, code]);
  }
  expect(outcomes).toEqual([
    ['rate-limited', 429, 'rate_limit_exceeded'],
    ['server-error', 500, null],
    ['moderation', 400, 'moderation_blocked'],
    ['late-moderation', 400, 'moderation_blocked'],
    ['upstream-error', 500, null],
  ]);
});

test('demands the key when it has one', async () => {
  const guarded = await startSandbox({ secrets: { openai: 'sk-x' } });
  try {
    const address = `${guarded.sandbox.wires.openai}/models`;
    expect((await fetch(address)).status).toBe(401);
    expect((await fetch(address, { headers: { authorization: 'Bearer sk-x' } })).status).toBe(200);
  } finally {
    await guarded.stop();
  }
});
