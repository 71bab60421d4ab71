import { createHash } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import path from 'node:path';

import OpenAI, { APIError, toFile } from 'openai';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type Receiver, startReceiver } from '../../subgraphs/media/webhooks/receiver.fixture.ts';
import { openStreams } from '../../test/kit/clients/other-address.ts';
import { graphql, until } from '../../test/kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../test/kit/kiln.ts';
import { silence } from '../../test/kit/samples/wav.ts';

/** OpenAI's own SDK against a whole Kiln, and what it does not say: retries, headers, refusals. */

const secrets = { anna: 'secret-of-anna', boris: 'secret-of-boris', carla: 'secret-of-carla' };
/** Most streams of one caller. */
const MOST_STREAMS = 100;

let kiln: KilnUnderTest;
let receiver: Receiver;
let anna: OpenAI;
let png: Buffer;
beforeAll(async () => {
  const keys = Object.entries(secrets).map(
    ([name, secret]) => `${name}=${createHash('sha256').update(secret).digest('hex')}`,
  );
  receiver = await startReceiver();
  kiln = await startKiln({
    isQuick: true,
    settings: {
      // gpt-image-1 has ended, the others have not.
      CATALOG_DATE: '2026-11-01',
      OUTBOUND_ALLOW: receiver.host,
      SERVICE_KEYS: keys.join(','),
      REST_AUTH: 'required',
      CONNECTION_LIMIT: String(MOST_STREAMS),
      STOP_GRACE_SECONDS: '2',
      OPENAI_MODEL_ALIASES: 'dall-e-3=gpt-image-2,tts-1=speech-2.8-turbo,whisper-1=gemini-3.8-flash',
    },
  });
  anna = createClient('anna');
  png = await readFile(new URL('../../test/kit/samples/image.png', import.meta.url));
});
afterAll(async () => {
  await kiln?.close();
  await receiver?.close();
});

function createClient(name: keyof typeof secrets): OpenAI {
  return new OpenAI({ apiKey: secrets[name], baseURL: `${kiln.url}/v1`, maxRetries: 0 });
}

/** How many tasks there are: in all, or of one prompt. */
async function taskCount(prompt: string | null = null): Promise<number> {
  const { rows } = await kiln.runtime.database.pool.query<{ count: string }>(
    `select count(*) from media.tasks where $1::text is null or input->>'prompt' = $1`,
    [prompt],
  );
  return Number(rows[0]?.count);
}

async function catchRefusal(call: Promise<unknown>) {
  const error: unknown = await call.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`not refused: ${String(error)}`);
  const { status, code, param, type, message } = error;
  return {
    status,
    code,
    param,
    type,
    message,
    id: error.requestID,
    retries: error.headers?.get('x-should-retry'),
  };
}

const imageRequest = { model: 'gpt-image-2', prompt: 'a boat' } as const;

it('starts nothing for one stream more than its caller may have', async () => {
  const carla = createClient('carla');
  const streams = await openStreams(`${kiln.url}/graphql`, MOST_STREAMS, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secrets.carla}`,
      accept: 'text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ query: 'subscription { tasksProgress { seq } }' }),
  });
  const before = await taskCount();
  const said = { model: 'gpt-5-mini', messages: [{ role: 'user' as const, content: 'hello' }] };
  const wanted = { status: 429, code: 'rate_limit_exceeded', type: 'rate_limit_exceeded' };
  const words = { message: expect.stringContaining('Too many streams are open') };
  const refused = [
    carla.chat.completions.create({ ...said, stream: true }),
    carla.images.generate({ ...imageRequest, stream: true }),
  ];
  for (const call of refused) expect(await catchRefusal(call)).toMatchObject({ ...wanted, ...words });
  expect(await taskCount()).toBe(before);
  expect((await carla.images.generate(imageRequest)).data).toHaveLength(1);
  streams.close();
  const again = () => carla.images.generate({ ...imageRequest, stream: true }).catch(() => null);
  const events = await until(again, (stream) => stream !== null);
  for await (const event of events ?? []) expect(event.type).toBe('image_generation.completed');
});

describe.concurrent('the end of a video', () => {
  it("is told in OpenAI's words to endpoints that ask for them", async () => {
    const made = await graphql(
      kiln.url,
      'mutation ($url: String!) { createWebhookEndpoint(url: $url, eventTypes: ["video.*"]) { endpoint { id } } }',
      { url: receiver.url },
      { authorization: `Bearer ${secrets.anna}` },
    );
    expect(made.errors).toBeUndefined();
    const { id } = await anna.videos.create({ model: 'kling-v2-5-turbo', prompt: 'a told sea' });
    const events = await until(
      async () =>
        receiver.received.map(({ body }) => JSON.parse(body) as { readonly data: { readonly id: string } }),
      (all) => all.some(({ data }) => data.id === id),
      60_000,
    );
    expect(events.find(({ data }) => data.id === id)).toEqual({
      id: `evt_${id.replaceAll('-', '')}`,
      object: 'event',
      created_at: expect.any(Number),
      timestamp: expect.any(String),
      type: 'video.completed',
      data: { id },
    });
  });
});

describe.concurrent('a remix', () => {
  it('is a video of the same model and inputs by another prompt', async () => {
    const first = await anna.videos.create({
      model: 'kling-v2-5-turbo',
      prompt: 'the sea',
      seconds: '10' as never,
      size: '1280x720',
    });
    expect(await catchRefusal(anna.videos.remix(first.id, { prompt: 'at night' }))).toMatchObject({
      status: 400,
      param: 'video_id',
    });
    await until(
      () => anna.videos.retrieve(first.id),
      ({ status }) => status === 'completed',
      60_000,
    );
    const { id, ...remix } = await anna.videos.remix(first.id, { prompt: 'the sea at night' });
    expect(remix).toMatchObject({
      model: 'kling-v2-5-turbo',
      prompt: 'the sea at night',
      seconds: '10',
      remixed_from_video_id: first.id,
    });
    expect(id).not.toBe(first.id);
  });

  it.each([
    ['MiniMax-Hailuo-02', { input_reference: true, last_frame: true }, ['firstFrame', 'lastFrame']],
    ['MiniMax-H3', { references: true }, ['references', 'references']],
  ])('of %s has its images too', async (model, given, wanted) => {
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const { id } = await anna.videos.create({
      model,
      prompt: `images of ${model}`,
      ...('input_reference' in given && { input_reference: { image_url: url } }),
      options: {
        ...('last_frame' in given && { last_frame: url, prompt_optimizer: false }),
        ...('references' in given && { references: [url, { image_url: { url } }] }),
      },
    } as never);
    const { status, error } = await until(
      () => anna.videos.retrieve(id),
      (video) => !['queued', 'in_progress'].includes(video.status),
      60_000,
    );
    expect([status, error]).toEqual(['completed', null]);
    const remix = await anna.videos.remix(id, { prompt: 'the same at night' });
    const { data } = await graphql(
      kiln.url,
      'query ($id: ID!) { task(id: $id) { input { options files { input } } } }',
      { id: remix.id },
      { authorization: `Bearer ${secrets.anna}` },
    );
    const { files, options } = data.task.input;
    expect(files.map(({ input }: { readonly input: string }) => input)).toEqual(wanted);
    expect(options.options).toEqual('last_frame' in given ? { prompt_optimizer: false } : undefined);
  });
});

describe.concurrent('images', () => {
  it('are made of a prompt, in base64, with the task in the headers', async () => {
    const { data, response } = await anna.images
      .generate({ ...imageRequest, n: 2, size: '1024x1024', quality: 'auto' })
      .withResponse();
    expect(data.data).toHaveLength(2);
    expect(
      Buffer.from(data.data?.[0]?.b64_json ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(data.created).toBeGreaterThan(1_700_000_000);
    expect(response.headers.get('x-kiln-task')).toMatch(/^[0-9a-f-]{36}$/);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{32}$/);
  });

  it('are made by the model that an alias means, and answered by their address', async () => {
    const { data } = await anna.images.generate({
      model: 'dall-e-3',
      prompt: 'a cat',
      response_format: 'url',
    });
    expect(data?.[0]?.url).toContain('/files/');
    const bytes = await (await fetch(data?.[0]?.url ?? '')).arrayBuffer();
    expect(bytes.byteLength).toBeGreaterThan(50);
  });

  it('are edited, from the parts of a form and from JSON', async () => {
    const image = await toFile(png, 'a.png', { type: 'image/png' });
    const form = await anna.images.edit({ model: 'gpt-image-2', image: [image, image], prompt: 'a hat' });
    expect(form.data?.[0]?.b64_json).toBeTruthy();
    const body = {
      model: 'gpt-image-2',
      prompt: 'a scarf',
      images: [{ image_url: `data:image/png;base64,${png.toString('base64')}` }],
    };
    const packed = await anna.images
      .edit({
        model: 'gpt-image-2',
        image,
        prompt: 'a small hat',
        output_format: 'jpeg',
        output_compression: 50,
        user: 'anna',
        options: { complexity: 'low' },
      } as never)
      .withResponse();
    expect(packed.response.headers.get('x-ignored-fields')).toBeNull();
    const sent = await graphql(
      kiln.url,
      'query ($id: ID!) { task(id: $id) { input { options } } }',
      { id: packed.response.headers.get('x-kiln-task') },
      { authorization: `Bearer ${secrets.anna}` },
    );
    expect(sent.data.task.input.options.options).toEqual({
      output_compression: 50,
      user: 'anna',
      complexity: 'low',
    });
    const json: { data: readonly object[] } = await anna.post('/images/edits', { body });
    expect(json.data).toHaveLength(1);
  });

  it('are made by a graph of the name workflow/..., and what it has no input for is named', async () => {
    const made = { model: 'workflow/text-to-image', prompt: 'a cup', size: '128x64', quality: 'high' };
    const whole = await anna.images.generate({ ...made, response_format: 'url' } as never).withResponse();
    expect(whole.response.headers.get('x-ignored-fields')).toBe('quality');
    const [image] = (whole.data as { data: readonly { url: string }[] }).data;
    const bytes = await (await fetch(image?.url ?? '')).arrayBuffer();
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 128, height: 64 });
    const file = await toFile(png, 'a.png', { type: 'image/png' });
    const edit = {
      model: 'workflow/inpaint',
      prompt: 'a hat',
      image: file,
      mask: file,
      size: '128x64' as never,
    };
    const inside = await anna.images.edit(edit).withResponse();
    expect([inside.data.data?.length, inside.response.headers.get('x-ignored-fields')]).toEqual([1, 'size']);
    const wrong = [
      ['image', () => anna.images.edit({ ...edit, image: [file, file] })],
      ['n', () => anna.images.edit({ ...edit, n: 2 })],
      ['model', () => anna.images.generate({ model: 'workflow/constructor', prompt: 'x' })],
    ] as const;
    for (const [param, call] of wrong) expect((await catchRefusal(call())).param).toBe(param);
  });

  it('come as the event of a stream', async () => {
    // Of a model whose vendor counts no tokens.
    const stream = await anna.images.generate({
      model: 'fal-ai/flux/schnell',
      prompt: 'a dog',
      stream: true,
    });
    const events = [];
    for await (const event of stream)
      events.push([event.type, event.b64_json.length > 50, 'usage' in event && event.usage.total_tokens]);
    expect(events).toEqual([['image_generation.completed', true, 0]]);
    const parts = await anna.images.generate({
      ...imageRequest,
      prompt: 'a cat in parts',
      stream: true,
      partial_images: 2,
    });
    const shown = [];
    for await (const event of parts)
      shown.push([event.type, 'partial_image_index' in event && event.partial_image_index]);
    expect(shown).toEqual([
      ['image_generation.partial_image', 0],
      ['image_generation.partial_image', 1],
      ['image_generation.completed', false],
    ]);
  });

  it('of a model that is in no list are made where its vendor has it', async () => {
    const { data } = await anna.images.generate({
      model: 'fal-ai/paper-cut/v2',
      prompt: 'a fog',
      response_format: 'url',
    });
    expect(data).toHaveLength(1);
  });

  it('say in a stream where to ask when its time is up', async () => {
    await kiln.control('latency', { wire: 'replicate', runningMs: 3_000 });
    const body = { model: 'black-forest-labs/flux-schnell', prompt: 'a slow stream', stream: true };
    const answer = await anna
      .post('/images/generations', { body, headers: { prefer: 'wait=1' } })
      .asResponse();
    const task = answer.headers.get('x-kiln-task');
    expect(await answer.text()).toMatch(
      new RegExp(`"code":"unavailable","message":"the work goes on: ask GET /v1/images/generations/${task}"`),
    );
  });

  it('are asked for later where the caller does not wait', async ({ expect }) => {
    await kiln.control('latency', { wire: 'midjourney', runningMs: 300 });
    const started = await anna
      .post('/images/generations', { body: { model: 'midjourney', prompt: 'fog', async: true } })
      .asResponse();
    expect(started.status).toBe(202);
    const { id } = (await started.json()) as { id: string };
    const location = started.headers.get('location') ?? '';
    expect(location).toBe(`${kiln.url}/v1/images/generations/${id}`);
    await expect
      .poll(async () => (await anna.get(`/images/generations/${id}`).asResponse()).status)
      .toBe(200);
  });
});

describe.concurrent('a key that may start work but not read it', () => {
  let starter: OpenAI;
  beforeAll(async () => {
    const { data } = await graphql(
      kiln.url,
      'mutation { createServiceKey(name: "starter", scopes: ["start"]) { secret } }',
      {},
      { authorization: `Bearer ${secrets.anna}` },
    );
    const { secret } = (data as { createServiceKey: { secret: string } }).createServiceKey;
    starter = new OpenAI({ apiKey: secret, baseURL: `${kiln.url}/v1`, maxRetries: 0 });
  });

  it('is refused before anything is started that it would wait for', async () => {
    const wanted = { ...imageRequest, prompt: 'unread' };
    const file = await toFile(silence(1), 'a.wav', { type: 'audio/wav' });
    for (const call of [
      () => starter.images.generate(wanted),
      () => starter.images.generate({ ...wanted, stream: true }),
      () => starter.audio.transcriptions.create({ model: 'whisper-1', file, prompt: 'unread' }),
    ]) {
      expect(await catchRefusal(call())).toMatchObject({ status: 403, code: 'insufficient_permissions' });
    }
    expect([await taskCount('unread'), await taskCount()]).toEqual([0, await taskCount()]);
  });

  it('is told where others find what it starts, and which file it has stored', async () => {
    const body = { ...imageRequest, prompt: 'read by others', async: true };
    const started = await starter.post('/images/generations', { body }).asResponse();
    expect([started.status, await taskCount(body.prompt)]).toEqual([202, 1]);
    const stored = await starter.files.create({ file: await toFile(png, 'a.png'), purpose: 'vision' });
    expect(stored).toMatchObject({ object: 'file', bytes: png.length, filename: 'a.png', purpose: 'vision' });
  });
});

describe.concurrent('a call that comes again', () => {
  beforeAll(() => kiln.control('latency', { wire: 'midjourney', runningMs: 300 }));
  const slow = { model: 'midjourney', prompt: 'a slow boat' };
  const send = (prompt: string, headers: Record<string, string> = {}, client = anna) =>
    client.images.generate({ ...slow, prompt, response_format: 'url' }, { headers }).withResponse();
  const readTask = ({ response }: Awaited<ReturnType<typeof send>>) => response.headers.get('x-kiln-task');

  it('joins the running task, and of a counted retry the one that has ended', async () => {
    const before = await taskCount('one');
    const [first, second] = await Promise.all([send('one'), send('one')]);
    const retry = await send('one', { 'x-stainless-retry-count': '1' });
    expect(new Set([first, second, retry].map(readTask)).size).toBe(1);
    expect(await taskCount('one')).toBe(before + 1);
  });

  it('begins new work once the first has ended, where it says that it must, and for another caller', async () => {
    const before = await taskCount('two');
    const first = await send('two');
    const again = await send('two');
    const retry = await send('two', { 'x-stainless-retry-count': '1' });
    const others = await send('two', { 'x-stainless-retry-count': '1' }, createClient('boris'));
    const never = await send('two', { 'x-kiln-join': 'never' });
    expect(readTask(retry)).toBe(readTask(again));
    expect(new Set([first, again, others, never].map(readTask)).size).toBe(4);
    expect(await taskCount('two')).toBe(before + 4);
  });
});

describe('a caller that goes away', () => {
  beforeAll(() => kiln.control('latency', { wire: 'midjourney', runningMs: 1_500 }));

  /** The state of the task that a call began, once it is one of these. */
  const awaitState = (prompt: string, states: readonly string[]): Promise<string> =>
    until(
      async () => {
        const { rows } = await kiln.runtime.database.pool.query<{ state: string }>(
          `select state from media.tasks where input->>'prompt' = $1`,
          [prompt],
        );
        return rows[0]?.state ?? '';
      },
      (state) => states.includes(state),
    );

  it.concurrent.each([
    ['leaves its task running', 'left alone', {}, 'SUCCEEDED'],
    ['cancels it where it says so', 'taken along', { 'x-kiln-cancel-on-disconnect': 'true' }, 'CANCELLED'],
  ])('%s', async (_, prompt, headers, end) => {
    const leaving = new AbortController();
    const options = { headers, signal: leaving.signal };
    const call = anna.images.generate({ model: 'midjourney', prompt }, options).catch(() => null);
    await awaitState(prompt, ['RUNNING']);
    leaving.abort();
    await call;
    expect(await awaitState(prompt, ['SUCCEEDED', 'CANCELLED'])).toBe(end);
  });

  it.concurrent('is told where to ask when its time is up', async () => {
    const body = { model: 'midjourney', prompt: 'no patience' };
    const answer = await anna
      .post('/images/generations', { body, headers: { prefer: 'wait=1' } })
      .asResponse();
    expect(answer.status).toBe(202);
    expect(await answer.json()).toMatchObject({ object: 'image.generation', data: [] });
  });
});

describe('videos', () => {
  it('are started, followed, fetched, listed and deleted', async () => {
    const reference = await toFile(png, 'a.png', { type: 'image/png' });
    const body = { model: 'MiniMax-Hailuo-02', prompt: 'sea', seconds: '6', size: '1366x768' };
    const started = await anna.videos.create({ ...body, input_reference: reference } as never);
    expect(started).toMatchObject({ object: 'video', model: 'MiniMax-Hailuo-02', seconds: '6', error: null });
    expect(Object.keys(started).sort()).toEqual(
      [
        'completed_at',
        'created_at',
        'error',
        'expires_at',
        'id',
        'model',
        'object',
        'progress',
        'prompt',
        'remixed_from_video_id',
        'seconds',
        'size',
        'status',
      ].sort(),
    );
    await expect.poll(async () => (await anna.videos.retrieve(started.id)).status).toBe('completed');
    const film = await anna.videos.downloadContent(started.id);
    expect(film.headers.get('content-type')).toBe('video/mp4');
    expect((await film.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
    const still = await anna.videos.downloadContent(started.id, { variant: 'thumbnail' });
    expect(still.headers.get('content-type')).toBe('image/webp');
    const other = anna.videos.downloadContent(started.id, { variant: 'poster' as never });
    expect(await catchRefusal(other)).toMatchObject({ status: 400, param: 'variant' });
    const sheet = await anna.videos.downloadContent(started.id, { variant: 'spritesheet' });
    expect(sheet.headers.get('content-type')).toBe('image/webp');
    const { width, height } = await sharp(Buffer.from(await sheet.arrayBuffer())).metadata();
    const { size } = await anna.videos.retrieve(started.id);
    const [columns = 0, rows = 0] = size.split('x').map((pixels) => Math.min(320, Number(pixels)));
    expect([width % columns, width / columns, height >= rows / 4]).toEqual([0, 4, true]);
    // As of a film in a format that nothing here measures: what was asked for is answered.
    const unmeasured = `update media.media set width = null, height = null where content_type = 'video/mp4'`;
    await kiln.runtime.database.pool.query(unmeasured);
    expect((await anna.videos.retrieve(started.id)).size).toBe('768P');
    const page = await anna.videos.list({ limit: 1 });
    expect(page.data.map(({ id }) => id)).toEqual([started.id]);
    expect(await anna.videos.delete(started.id)).toEqual({
      id: started.id,
      object: 'video.deleted',
      deleted: true,
    });
    expect((await catchRefusal(anna.videos.retrieve(started.id))).status).toBe(404);
  });

  it('that have failed say why, and have no content', async () => {
    await kiln.control('faults', { wire: 'minimax', operation: 'video', fault: 'late-moderation', times: 1 });
    const { id } = await anna.videos.create({ model: 'MiniMax-Hailuo-02', prompt: 'a refused sea' });
    await expect.poll(async () => (await anna.videos.retrieve(id)).status).toBe('failed');
    expect((await anna.videos.retrieve(id)).error).toMatchObject({ code: 'moderation_blocked' });
    expect(await catchRefusal(anna.videos.downloadContent(id))).toMatchObject({ status: 404 });
    expect(await catchRefusal(anna.videos.remix(id, { prompt: 'x' }))).toMatchObject({ status: 400 });
  });

  it('are videos alone, and their references a list', async () => {
    const image = await anna.images.generate({ ...imageRequest, response_format: 'url' }).asResponse();
    const id = image.headers.get('x-kiln-task') ?? '';
    expect(await catchRefusal(anna.videos.retrieve(id))).toMatchObject({ status: 404, code: 'not_found' });
    const options = { references: 'no list' };
    const body = { model: 'MiniMax-H3', prompt: 'x', options };
    expect(await catchRefusal(anna.post('/videos', { body }))).toMatchObject({
      status: 400,
      param: 'options.references',
    });
  });

  it('have no content before they are ready', async () => {
    await kiln.control('latency', { wire: 'minimax', runningMs: 60_000 });
    const { id } = await anna.videos.create({ model: 'MiniMax-Hailuo-02', prompt: 'slow sea' });
    expect((await catchRefusal(anna.videos.downloadContent(id))).status).toBe(404);
    await kiln.control('latency', { wire: 'minimax', runningMs: 0 });
  });
});

describe('speech', () => {
  it('is answered as sound, whole or in events, in a voice that stands for OpenAI’s', async () => {
    const said = { model: 'tts-1', voice: 'alloy', input: 'hello there' } as const;
    const sound = await anna.audio.speech.create({ ...said, response_format: 'wav' });
    expect(sound.headers.get('content-type')).toMatch(/^audio\/(?:x-)?wav/);
    const bytes = Buffer.from(await sound.arrayBuffer());
    expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
    const events = await anna.audio.speech.create({ ...said, stream_format: 'sse' });
    const text = await events.text();
    expect(text).toContain('"type":"speech.audio.delta"');
    expect(text).toContain('"type":"speech.audio.done"');
    const file = await toFile(bytes, 'a.wav', { type: 'audio/wav' });
    const { text: words } = await anna.audio.transcriptions.create({ model: 'whisper-1', file });
    expect(words.length).toBeGreaterThan(10);
    const plain = await anna.audio.transcriptions
      .create({ model: 'whisper-1', file, response_format: 'text' })
      .asResponse();
    expect([plain.headers.get('content-type'), await plain.text()]).toEqual([
      'text/plain; charset=utf-8',
      words,
    ]);
    const asked = { model: 'whisper-1', file, language: 'en', response_format: 'verbose_json' } as const;
    const ignoring = { ...asked, temperature: 0.2, timestamp_granularities: ['word' as const] };
    const { data, response } = await anna.audio.transcriptions.create(ignoring).withResponse();
    expect(data).toMatchObject({ language: 'en', text: words });
    expect(response.headers.get('x-ignored-fields')).toBe('temperature, timestamp_granularities');
    const calmly = await anna.audio.speech.create({ ...said, instructions: 'calmly' });
    expect(calmly.headers.get('x-ignored-fields')).toBe('instructions');
    const plainly = await anna.audio.speech.create({ ...said, instructions: null as never });
    expect(plainly.headers.get('x-ignored-fields')).toBeNull();
  });
});

describe('chats', () => {
  const messages = [{ role: 'user' as const, content: 'What is the weather in Paris?' }];
  const tools = [
    {
      type: 'function' as const,
      function: {
        name: 'weather',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  ];

  it('are answered whole and in chunks, with their usage', async () => {
    const whole = await anna.chat.completions.create({ model: 'gpt-4o-mini', messages, top_p: 0.9 });
    expect(whole.choices[0]).toMatchObject({ finish_reason: 'stop', message: { role: 'assistant' } });
    expect(whole.usage?.total_tokens).toBeGreaterThan(0);
    const stream = await anna.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let tokens = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      tokens = usage?.total_tokens ?? tokens;
    }
    expect(text).not.toBe('');
    expect(tokens).toBeGreaterThan(0);
  });

  it('name what their model has nothing for, and take no answer but one', async () => {
    const asked = { model: 'gpt-5-mini', messages, temperature: 0.3, functions: [{ name: 'weather' }] };
    const { response } = await anna.chat.completions.create(asked).withResponse();
    expect(response.headers.get('x-ignored-fields')).toBe('temperature, functions');
    const refusal = await catchRefusal(anna.chat.completions.create({ ...asked, n: 2 }));
    expect(refusal).toMatchObject({ status: 400, param: 'n' });
  });

  it('hear sounds and read files, by their bytes or their ids', async () => {
    const { id } = await anna.files.create({ file: await toFile(png, 'a.png'), purpose: 'vision' });
    const wav = silence(1);
    const content = [
      { type: 'input_audio', input_audio: { data: wav.toString('base64'), format: 'wav' } },
      { type: 'file', file: { file_id: id } },
      { type: 'file', file: { file_data: `data:image/png;base64,${png.toString('base64')}` } },
    ];
    const conversation = [{ role: 'user' as const, content: content as never }];
    const heard = await anna.chat.completions.create({ model: 'gemini-3.8-flash', messages: conversation });
    expect(heard.choices[0]?.message.content).not.toBe('');
    const answer = await fetch(`${kiln.sandboxUrl}/_control/requests`);
    const sent = (await answer.json()) as { readonly body: { contents?: { parts: object[] }[] } }[];
    const parts = sent.flatMap(({ body }) => body?.contents?.flatMap((one) => one.parts) ?? []);
    expect(parts.slice(-3)).toMatchObject(
      ['audio/wav', 'image/png', 'image/png'].map((mimeType) => ({ inlineData: { mimeType } })),
    );
  });

  it.each([true, false])(
    'whose caller is killed are joined by the same call (streamed: %s)',
    async (stream) => {
      await kiln.control('latency', { wire: 'openai', runningMs: 1_500 });
      const replies = async () => {
        const { rows } = await kiln.runtime.database.pool.query<{ all: number; left: number }>(
          'select count(*)::int as all, count(left_at)::int as left from media.chat_replies',
        );
        return rows[0] ?? { all: 0, left: 0 };
      };
      const before = await replies();
      const body = {
        model: 'gpt-4o-mini',
        stream,
        messages: [{ role: 'user' as const, content: `wait (${stream})` }],
      };
      const dying = new AbortController();
      const lost = anna.chat.completions.create(body, { signal: dying.signal }).catch(() => null);
      await until(replies, ({ all }) => all === before.all + 1);
      dying.abort();
      await lost;
      await until(replies, ({ left }) => left > before.left);
      const answer = await anna.chat.completions.create(body);
      let text = '';
      if ('choices' in answer) text = answer.choices[0]?.message.content ?? '';
      else for await (const { choices } of answer) text += choices[0]?.delta.content ?? '';
      expect(text).not.toBe('');
      expect((await replies()).all).toBe(before.all + 1);
      await kiln.control('latency', { wire: 'openai', runningMs: 0 });
    },
  );

  it('call tools, take their results, answer JSON by a schema and see images', async () => {
    const asked = await anna.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      tools,
      tool_choice: 'required',
    });
    const [call] = asked.choices[0]?.message.tool_calls ?? [];
    expect(call).toMatchObject({ type: 'function', function: { name: 'weather' } });
    const stream = await anna.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      tools,
      tool_choice: 'required',
      stream: true,
    });
    const chunks: object[] = [];
    for await (const { choices } of stream) chunks.push(choices[0] ?? {});
    expect(chunks.slice(-2)).toMatchObject([
      { delta: { tool_calls: [{ index: 0, type: 'function', function: { name: 'weather' } }] } },
      { finish_reason: 'tool_calls' },
    ]);
    const told = await anna.chat.completions.create({
      model: 'gpt-4o-mini',
      tools,
      messages: [
        ...messages,
        asked.choices[0]!.message,
        { role: 'tool', tool_call_id: call?.id ?? '', content: '18 degrees' },
      ],
    });
    expect(told.choices[0]?.message.role).toBe('assistant');
    const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
    const json = await anna.chat.completions.create({
      model: 'gpt-4o-mini',
      messages,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } },
    });
    expect(JSON.parse(json.choices[0]?.message.content ?? '')).toHaveProperty('a');
    const url = `data:image/png;base64,${png.toString('base64')}`;
    const content = [
      { type: 'text' as const, text: 'What is it?' },
      { type: 'image_url' as const, image_url: { url } },
    ];
    const seen = await anna.chat.completions.create({
      model: 'gemini-3.8-flash',
      messages: [{ role: 'user', content }],
    });
    expect(seen.choices[0]?.message.content).not.toBe('');
  });
});

describe('chats with a model that makes images', () => {
  it('answer them beside the text, whole and streamed, and take them back with what follows', async () => {
    const body = { model: 'gemini-3.1-flash-image', messages: [{ role: 'user' as const, content: 'a fox' }] };
    const images = [
      { index: 0, type: 'image_url', image_url: { url: expect.stringContaining(`${kiln.url}/files/`) } },
    ];
    const { message } = (await anna.chat.completions.create(body)).choices[0]!;
    expect(message).toMatchObject({ content: expect.stringContaining('image'), images });
    const deltas: object[] = [];
    for await (const { choices } of await anna.chat.completions.create({ ...body, stream: true })) {
      if (choices[0] !== undefined) deltas.push(choices[0].delta);
    }
    expect(deltas.filter((delta) => 'images' in delta)).toEqual([{ images }]);
    const [first] = (message as unknown as { images: [{ image_url: { url: string } }] }).images;
    const shown = await fetch(first.image_url.url);
    expect((await sharp(await shown.arrayBuffer()).metadata()).format).toBe('png');
    const next = [...body.messages, message, { role: 'user' as const, content: 'redder' }];
    const redder = await anna.chat.completions.create({ ...body, messages: next });
    expect(redder.choices[0]?.message).toMatchObject({ images });
  });

  it('are refused alike whole, by a counted retry and in a stream where an image can not be stored', async () => {
    const body = {
      model: 'gemini-3.1-flash-image',
      messages: [{ role: 'user' as const, content: 'a lynx' }],
    };
    const incoming = path.join(kiln.dataDir, 'files', 'incoming');
    const send = (tries: string) =>
      catchRefusal(anna.chat.completions.create(body, { headers: { 'x-stainless-retry-count': tries } }));
    const follow = async () => {
      for await (const _ of await anna.chat.completions.create({ ...body, stream: true }));
    };
    // The first file of all makes the directory.
    await anna.files.create({ file: await toFile(png, 'a.png'), purpose: 'vision' });
    await rename(incoming, `${incoming}-away`);
    try {
      const failed = { status: 500, type: 'server_error', retries: 'false' };
      expect(await send('0')).toMatchObject(failed);
      const message = expect.stringContaining('the result could not be stored');
      expect(await send('1')).toMatchObject({ ...failed, code: 'storage_failed', message });
      await expect(follow()).rejects.toMatchObject({ type: 'server_error', code: 'storage_failed' });
    } finally {
      await rename(`${incoming}-away`, incoming);
    }
  });
});

describe('files and models', () => {
  it('stores, reads, lists and deletes files', async () => {
    const file = await toFile(Buffer.from('{"a":1}\n'), 'lines.jsonl');
    const stored = await anna.files.create({ file, purpose: 'batch' });
    expect(stored).toMatchObject({ object: 'file', bytes: 8, filename: 'lines.jsonl', purpose: 'batch' });
    expect(await (await anna.files.content(stored.id)).text()).toBe('{"a":1}\n');
    expect((await anna.files.list()).data.map(({ id }) => id)).toContain(stored.id);
    expect(await anna.files.retrieve(stored.id)).toMatchObject({ id: stored.id, filename: 'lines.jsonl' });
    expect(await anna.files.delete(stored.id)).toEqual({ id: stored.id, object: 'file', deleted: true });
    const gone = { status: 404, code: 'not_found' };
    expect(await catchRefusal(anna.files.retrieve(stored.id))).toMatchObject(gone);
    expect(await catchRefusal(anna.post('/files', { body: new FormData() }))).toMatchObject({ status: 400 });
    const page = (query: object) => catchRefusal(anna.get('/files', { query }));
    expect([(await page({ limit: 0 })).param, (await page({ order: 'asc' })).param]).toEqual([
      'limit',
      'order',
    ]);
  });

  it('keep nothing of a form that breaks off after its file, and of two files the first', async () => {
    const part = (name: string, file: string) =>
      `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${file}"\r\n\r\nwhole\r\n`;
    const send = async (body: string) =>
      fetch(`${kiln.url}/v1/files`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secrets.anna}`,
          'content-type': 'multipart/form-data; boundary=b',
        },
        body,
      });
    expect((await send(`${part('file', 'left-behind.txt')}--b\r\nContent-Disposition: form-da`)).status).toBe(
      400,
    );
    expect((await send(`${part('file', 'one.txt')}${part('file', 'other.txt')}--b--\r\n`)).status).toBe(200);
    const names = (await anna.files.list()).data.map(({ filename }) => filename);
    expect(names.filter((name) => /left|one|other/.test(name))).toEqual(['one.txt']);
  });

  it('lists every model with what it does, aliases among them', async () => {
    const models = [];
    for await (const { id, object } of anna.models.list()) models.push(`${object} ${id}`);
    expect(models).toEqual(
      expect.arrayContaining(['model gpt-image-2', 'model dall-e-3', 'model MiniMax-Hailuo-02']),
    );
    expect((await anna.models.retrieve('fal-ai/flux/schnell')).owned_by).toBe('fal');
    const none = { status: 404, code: 'model_not_found', param: 'model' };
    expect(await catchRefusal(anna.models.retrieve('constructor'))).toMatchObject(none);
  });
});

describe('refusals', () => {
  it.each([
    [
      'no model of that name',
      { ...imageRequest, model: 'nothing' },
      { status: 404, code: 'model_not_found', param: 'model' },
    ],
    [
      'a model that has ended',
      { ...imageRequest, model: 'gpt-image-1' },
      { status: 404, code: 'model_not_found', message: expect.stringContaining('use gpt-image-2') },
    ],
    [
      'more images than there may be',
      { ...imageRequest, n: 99 },
      { status: 400, code: 'invalid_value', param: 'n' },
    ],
    ['no prompt', { model: 'gpt-image-2' }, { status: 400, code: 'invalid_value', param: 'prompt' }],
    ['another type', { ...imageRequest, n: 'x' }, { status: 400, code: 'invalid_value', param: 'n' }],
    [
      'a quality of the name of a method',
      { ...imageRequest, quality: 'constructor' },
      { status: 400, param: 'quality', message: expect.stringContaining('quality: must be one of') },
    ],
    [
      'a number that is too large',
      { ...imageRequest, seed: 3e9 },
      { status: 400, param: 'seed', message: '400 seed: must be a whole number below 2147483648' },
    ],
  ])('are in the words of OpenAI for %s', async (_, body, expected) => {
    const refusal = await catchRefusal(anna.images.generate(body as never));
    expect(refusal).toMatchObject({ ...expected, type: 'invalid_request_error', retries: 'false' });
    expect(refusal.id).toMatch(/^[0-9a-f]{32}$/);
  });

  it.each([
    ['Idempotency-Key', 'x'.repeat(300)],
    ['X-Callback-Url', 'http://10.0.0.1/'],
  ])('name the header %s', async (param, value) => {
    const refusal = await catchRefusal(
      anna.images.generate({ ...imageRequest, prompt: param }, { headers: { [param]: value } }),
    );
    expect(refusal).toMatchObject({ status: 400, param, message: expect.stringContaining(param) });
  });

  it.each(['max_tokens', 'max_completion_tokens'])('name %s where a chat was sent that', async (param) => {
    const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'hi' }], [param]: 0 };
    const refusal = await catchRefusal(anna.chat.completions.create(chat as never));
    expect(refusal).toMatchObject({ status: 400, param, message: `400 ${param} must be at least 1` });
  });

  const said = { role: 'user', content: 'hello' };
  it.each([
    ['messages', 'no messages', []],
    ['messages[0]', 'a message that is none', ['hello']],
    ['messages[1].role', 'a role that there is not', [said, { ...said, role: 'constructor' }]],
    ['messages[1].role', 'a role that is no text', [said, { ...said, role: 1 }]],
    ['messages[0].content', 'a message without words', [{ role: 'user', content: ' ' }]],
    ['messages[0].content', 'content of another type', [{ role: 'user', content: 1 }]],
    ['messages[0].content[0]', 'an unknown part', [{ role: 'user', content: [{ type: 'odour' }] }]],
    [
      'messages[0].content[0]',
      'an image without an address',
      [{ role: 'user', content: [{ type: 'image_url' }] }],
    ],
    [
      'messages[0].content[0]',
      'a file that there is not',
      [{ role: 'user', content: [{ type: 'file', file: { file_id: 'none' } }] }],
    ],
    [
      'messages[1].content[1]',
      'a sound that the model does not take',
      [
        said,
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is it?' },
            { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'mp3' } },
          ],
        },
      ],
    ],
    ['messages[0].tool_calls', 'calls that are no list', [{ role: 'assistant', tool_calls: 1 }]],
    ['messages[0].tool_calls[0]', 'a call without a name', [{ role: 'assistant', tool_calls: [{}] }]],
    ['messages[0].tool_call_id', 'an id of another type', [{ ...said, role: 'tool', tool_call_id: 1 }]],
    ['messages[0].images', 'images that are no list', [{ role: 'assistant', images: 1 }]],
    ['messages[1]', 'an answer to no call', [said, { role: 'tool', tool_call_id: 'a', content: '1' }]],
  ])('name %s of a chat for %s, in its words', async (param, _, messages) => {
    const refusal = await catchRefusal(
      anna.chat.completions.create({ model: 'gpt-4o-mini', messages: messages as never }),
    );
    expect(refusal).toMatchObject({ status: 400, code: 'invalid_value', param });
    expect(refusal.message).not.toMatch(/conversation\[|parts\[/);
  });

  it('say that a credential is needed, or wrong, and what paths there are not', async () => {
    const nobody = new OpenAI({ apiKey: 'sk-of-nobody', baseURL: `${kiln.url}/v1`, maxRetries: 0 });
    const needed = await catchRefusal(nobody.images.generate(imageRequest));
    expect(needed).toMatchObject({ status: 401, code: 'invalid_api_key' });
    const wrong = new OpenAI({
      apiKey: `kiln_${'a'.repeat(64)}`,
      baseURL: `${kiln.url}/v1`,
      maxRetries: 0,
    });
    expect(await catchRefusal(wrong.models.list())).toMatchObject({ status: 401, code: 'invalid_api_key' });
    const spaced = await catchRefusal(
      nobody.images.generate(imageRequest, { headers: { authorization: 'Bearer my key' } }),
    );
    expect(spaced).toMatchObject({ status: 401, message: expect.stringContaining('header is malformed') });
    expect(await catchRefusal(anna.get('/nothing'))).toMatchObject({ status: 404, code: 'not_found' });
    expect(await catchRefusal(anna.put('/models'))).toMatchObject({ status: 405 });
    const absent = anna.embeddings.create({ model: 'any', input: 'a' });
    await expect(absent).rejects.toThrow(
      '404 Unknown request URL: POST /v1/embeddings. It is not there: ask',
    );
    await expect(anna.models.delete('gpt-6-luna')).rejects.toMatchObject({ status: 404, code: 'not_found' });
  });

  it('say that the task was cancelled, whenever it is asked for', async () => {
    await kiln.control('latency', { wire: 'midjourney', runningMs: 60_000 });
    const prompt = 'a boat that nobody wants';
    const waiting = catchRefusal(anna.images.generate({ model: 'midjourney', prompt }));
    const find = `select id from media.tasks where input->>'prompt' = $1`;
    const [task] = await until(
      async () => (await kiln.runtime.database.pool.query<{ id: string }>(find, [prompt])).rows,
      (rows) => rows.length === 1,
    );
    const cancel = 'mutation ($id: ID!) { cancelTask(id: $id) { id } }';
    await graphql(kiln.url, cancel, { id: task?.id }, { authorization: `Bearer ${secrets.anna}` });
    expect(await waiting).toMatchObject({ status: 409, code: 'cancelled', retries: 'false' });
    await kiln.control('latency', { wire: 'midjourney', runningMs: 0 });
    expect(await anna.get(`/images/generations/${task?.id}`)).toMatchObject({
      id: task?.id,
      status: 'cancelled',
      error: { code: 'cancelled' },
    });
  });

  const graph = { model: 'workflow/text-to-image', prompt: 'x' };
  const resize = { model: 'workflow/image-resize' };
  it.each([
    ['an edit by a model of words alone', 'image', '/images/edits', { model: 'fal-ai/flux/schnell' }],
    ['an edit of nothing', 'image', '/images/edits', { model: 'gpt-image-2', prompt: 'x' }],
    ['an edit of no address', 'image[0]', '/images/edits', { prompt: 'x', images: [1] }],
    ['an edit of broken data', 'mask', '/images/edits', { images: ['https://a.test/'], mask: 'data:x' }],
    ['too many parts', 'partial_images', '/images/generations', { prompt: 'x', partial_images: 4 }],
    ['a small size', 'size', '/images/generations', { ...graph, size: '8x8' }],
    ['many steps', 'options.steps', '/images/generations', { ...graph, options: { steps: 100_000 } }],
    ['an image by a link to nothing', 'image', '/images/edits', { ...resize, image: 'ftp://a.test/x' }],
    ['half an image', 'n', '/images/generations', { prompt: 'x', n: 1.5 }],
    ['an unknown voice', 'voice', '/audio/speech', { model: 'tts-1', input: 'x', voice: 'constructor' }],
    ['words of nothing', 'file', '/audio/transcriptions', { model: 'whisper-1' }],
  ])('name the field for %s', async (_, param, path, body) => {
    expect(await catchRefusal(anna.post(path, { body: { model: 'gpt-image-2', ...body } }))).toMatchObject({
      status: 400,
      param,
    });
  });

  it('tell why a task has failed, which task it was, and not to try again', async () => {
    await kiln.control('faults', { wire: 'openai', operation: 'images', fault: 'moderation', times: 1 });
    const refusal = await catchRefusal(anna.images.generate({ ...imageRequest, prompt: 'refused' }));
    expect(refusal).toMatchObject({ status: 400, code: 'moderation_blocked', retries: 'false' });
  });
});

// The last: it stops the server.
it('tells who waits that the server stops, and to send the request again', async () => {
  await kiln.control('latency', { wire: 'midjourney', runningMs: 60_000 });
  const wanted = { model: 'midjourney', prompt: 'a boat at the stop' };
  const waiting = catchRefusal(anna.images.generate(wanted, { headers: { 'x-kiln-join': 'never' } }));
  const body = { ...wanted, stream: true };
  const stream = await anna.post('/images/generations', { body }).asResponse();
  await until(
    () => taskCount(wanted.prompt),
    (count) => count === 2,
  );
  await kiln.close();
  expect(await waiting).toMatchObject({ status: 503, code: 'unavailable', retries: 'true' });
  expect(await stream.text()).toMatch(
    /^event: error\ndata: .*"code":"unavailable","message":"this server stops/m,
  );
});
