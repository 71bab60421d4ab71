import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { AppError } from '../platform/errors.ts';
import type { TaskFields } from './documents/media/task.ts';
import { results } from './fixtures/questions-in-memory.ts';
import { startRestServer, type RestReply, type RestServer } from './fixtures/rest-server.ts';
import { output } from './fixtures/tasks-in-memory.ts';

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.media.failWith(null);
  server.media.tasks.startAs = 'QUEUED';
  Object.assign(server.media.questions, { hasRoom: true, hasVoices: true });
});
afterAll(() => server.close());

type Fields = Readonly<Record<string, string | Blob>>;

function post(path: string, fields: Fields = {}): Promise<RestReply> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, value, `${name}.bin`);
  }
  return server.send('POST', path, { body });
}

const blob = (type = 'image/png'): Blob => new Blob(['bytes'], { type });
const link = 'https://example.com/a.png';

/** Variables of the latest document of that name, files by their names. */
function readLast(name: string): unknown {
  const latest = server.media.requests.findLast((request) => request.name === name);
  return JSON.parse(JSON.stringify(latest?.variables ?? null), (key, value: unknown) =>
    key === 'fileId' ? (server.media.files.get(String(value))?.name ?? value) : value,
  );
}

/** Starts a task by its id's own path and gives it a state. */
function createTask(kind: TaskFields['kind'], generator: string, change: Partial<TaskFields> = {}): string {
  const { id } = server.media.tasks.start(kind, generator);
  server.media.tasks.change(id, change);
  return id;
}

const finished = { state: 'SUCCEEDED', stage: 'finished', outputs: [output] } as const;
const isFinished = { status: true, data: { urls: [output.url] }, msg: 'finished' };
const isSubmitted = { status: true, data: expect.stringMatching(/^[0-9a-f-]{36}$/), msg: 'task submitted' };

/** What a video operation is sent, and what of it the schema is asked. */
const videoFields = {
  prompt: 'waves',
  img_url: link,
  model: 'm',
  negative_prompt: 'fog',
  ar: '16:9',
  duration: '6',
  resolution: '720p',
  seed: '7',
};
const videoInput = {
  prompt: 'waves',
  image: { url: link },
  model: 'm',
  negativePrompt: 'fog',
  aspectRatio: '16:9',
  duration: 6,
  resolution: '720p',
  seed: 7,
};

describe('the operations that start a video', () => {
  it.each([
    ['/api/vidb/generate-video', 'vidb'],
    ['/api/vidb/async/generate/video', 'vidb'],
    ['/api/agg/vidb/async/generate/video', 'agg/vidb'],
    ['/api/agg/imga/video/async/submit', 'agg/imga'],
    ['/api/agg/vidc/video/async/submit', 'agg/vidc'],
    ['/api/union/video/async/generate/video', 'union'],
  ])('%s answers the id of the task', async (path, generator) => {
    expect((await post(path, videoFields)).body).toEqual(isSubmitted);
    expect(readLast('GenerateVideo')).toEqual({ input: { generator, ...videoInput } });
  });

  it.each([
    ['/api/vidb/sync/generate/video', 'vidb'],
    ['/api/agg/vidb/sync/generate/video', 'agg/vidb'],
    ['/api/agg/imga/video/sync/generate/video', 'agg/imga'],
    ['/api/agg/vidc/video/sync/generate/video', 'agg/vidc'],
    ['/api/imga/video/sync/gen?prompt=waves', 'imga'],
  ])('%s waits for the video', async (path, generator) => {
    server.media.tasks.startAs = 'SUCCEEDED';
    const prompt: Record<string, string> = path.includes('prompt=') ? {} : { prompt: 'waves' };
    expect((await post(path, { ...prompt, img_file: blob() })).body).toMatchObject(isFinished);
    const input = { generator, prompt: 'waves', image: { fileId: 'img_file.bin' } };
    expect(readLast('GenerateVideo')).toEqual({ input });
  });

  it('use the file when a link is sent too, and say so', async () => {
    const { body } = await post('/api/agg/vidb/async/generate/video', {
      prompt: 'waves',
      img_url: link,
      image: blob(),
    });
    expect(body['msg']).toBe('task submitted (img_url ignored, img_file is used)');
    expect(readLast('GenerateVideo')).toMatchObject({ input: { image: { fileId: 'image.bin' } } });
  });

  it('do without an image, unless the document asks for one', async () => {
    expect((await post('/api/vidb/async/generate/video', { prompt: 'waves' })).body).toEqual(isSubmitted);
    expect(readLast('GenerateVideo')).toEqual({ input: { generator: 'vidb', prompt: 'waves' } });
    const started = server.media.tasks.all.size;
    const path = '/api/agg/imga/video/sync/generate/video';
    const { status, body } = await post(path, { prompt: 'waves' });
    expect(status).toBe(200);
    expect(body).toEqual({ status: false, data: null, msg: 'send one of img_file, img_url' });
    expect(server.media.tasks.all.size).toBe(started);
  });

  it('take a last frame at generator C, as a file or as a link', async () => {
    const path = '/api/agg/vidc/video/async/submit';
    await post(path, { prompt: 'waves', img_file: blob(), tail_img_file: blob() });
    expect(readLast('GenerateVideo')).toMatchObject({
      input: { image: { fileId: 'img_file.bin' }, lastFrame: { fileId: 'tail_img_file.bin' } },
    });
    await post(path, { prompt: 'waves', img_url: link, tail_img_url: `${link}?tail` });
    expect(readLast('GenerateVideo')).toMatchObject({
      input: { image: { url: link }, lastFrame: { url: `${link}?tail` } },
    });
  });

  it('take images to go by, and whether there is sound', async () => {
    const reference_urls = `${link}?one\n${link}?two`;
    await post('/api/vidb/async/generate/video', { prompt: 'waves', reference_urls, generate_audio: 'no' });
    expect(readLast('GenerateVideo')).toMatchObject({
      input: { references: [{ url: `${link}?one` }, { url: `${link}?two` }], generateAudio: false },
    });
  });

  it('take prompt and link from the query in the older group, and an empty link for none', async () => {
    const path = `/api/imga/video/async/submit?prompt=waves&img_url=`;
    const old = await server.send('POST', `${path}${encodeURIComponent(link)}`);
    expect(old.body).toEqual(isSubmitted);
    expect(old.headers.get('deprecation')).toMatch(/^@\d+$/);
    expect(readLast('GenerateVideo')).toEqual({
      input: { generator: 'imga', prompt: 'waves', image: { url: link } },
    });
    await server.send('POST', path);
    expect(readLast('GenerateVideo')).toEqual({ input: { generator: 'imga', prompt: 'waves' } });
  });

  it('name every field that is not as documented', async () => {
    const { status, body } = await post('/api/vidb/async/generate/video', { duration: 'long', seed: '1.5' });
    expect(status).toBe(422);
    expect(body['detail']).toMatchObject([
      { loc: ['body', 'prompt'], type: 'missing' },
      { loc: ['body', 'duration'], type: 'int_parsing' },
      { loc: ['body', 'seed'], type: 'int_parsing' },
    ]);
  });
});

describe('the operations that make or describe images', () => {
  it.each([
    ['/api/agg/imga/async/generate/image?prompt=tea', 'agg/imga'],
    ['/api/imga/async/generate/image?prompt=tea', 'imga'],
    ['/api/imga/generate-image', 'imga'],
  ])('%s answers the id of the task', async (path, generator) => {
    const prompt: Record<string, string> = path.includes('prompt=') ? {} : { prompt: 'tea' };
    const sent = { ...prompt, img_file: blob(), img_url: link, ar: '1:1' };
    expect((await post(path, sent)).body).toEqual(isSubmitted);
    const images = [{ fileId: 'img_file.bin' }, { url: link }];
    expect(readLast('GenerateImage')).toEqual({
      input: { generator, prompt: 'tea', images, aspectRatio: '1:1' },
    });
  });

  it('keep to max_wait_time in the older group', async () => {
    const { body } = await post('/api/imga/sync/image?prompt=tea&max_wait_time=1');
    expect(body).toMatchObject({ status: 'queued', data: { state: 'queued', queue_position: 1 } });
    server.media.tasks.startAs = 'SUCCEEDED';
    expect((await post('/api/imga/sync/image?prompt=tea')).body).toMatchObject(isFinished);
  });

  it('take every limit of a chosen model', async () => {
    server.media.tasks.startAs = 'SUCCEEDED';
    const { ar, model, negative_prompt, resolution, seed } = videoFields;
    const sent = { prompt: 'tea', ar, model, negative_prompt, resolution, seed, n: '2', img_file: blob() };
    expect((await post('/api/union/img/sync/generate/image', sent)).body).toMatchObject(isFinished);
    expect(readLast('GenerateImage')).toEqual({
      input: {
        generator: 'union',
        prompt: 'tea',
        model: 'm',
        negativePrompt: 'fog',
        images: [{ fileId: 'img_file.bin' }],
        aspectRatio: '16:9',
        resolution: '720p',
        count: 2,
        seed: 7,
      },
    });
  });

  it.each(['agg/imga', 'imga'])('wait for the prompts of %s', async (generator) => {
    const byLink = post(`/api/${generator}/sync/img/describe`, { img_url: link });
    await vi.waitUntil(() => server.media.tasks.watchers() === 1);
    expect(readLast('DescribeImage')).toEqual({ generator, image: { url: link } });
    const [id = ''] = [...server.media.tasks.all.keys()].slice(-1);
    const described = { state: 'SUCCEEDED', text: 'a cup', result: results.description } as const;
    server.media.tasks.change(id, described);
    expect((await byLink).body['data']).toEqual({
      task_id: id,
      provider: 'midjourney',
      model: 'midjourney',
      prompt: 'a cup',
      prompts: ['a cup', 'tea'],
    });

    server.media.tasks.startAs = 'SUCCEEDED';
    await post(`/api/${generator}/sync/file/img/describe`, { upload: blob() });
    expect(readLast('DescribeImage')).toEqual({ generator, image: { fileId: 'upload.bin' } });
  });

  it('check a prompt beforehand', async () => {
    const fine = await server.send('GET', '/api/imga/prompt/check?prompt=tea');
    expect(fine.body).toMatchObject({ status: true, data: { allowed: true, reasons: [] } });
    const refused = await server.send('GET', '/api/imga/prompt/check?prompt=gore');
    expect(refused.body).toMatchObject({
      status: true,
      data: { allowed: false, reasons: ['the word "gore" is commonly refused'] },
    });
  });

  it('name a refused field as the caller does', async () => {
    const field = 'aspectRatio';
    server.media.failWith(new AppError('BAD_USER_INPUT', `${field}: must be W:H`, { field }));
    const { body } = await post('/api/imga/generate-image', { prompt: 'tea', ar: 'wide' });
    expect(body).toEqual({ status: false, data: null, msg: 'ar: must be W:H' });
    server.media.failWith(null);
    const seed = await post('/api/union/img/sync/generate/image', { prompt: 'tea', seed: '4294967295' });
    expect(seed.status).toBe(200);
    expect(seed.body['msg']).toMatch(/^seed: must be a whole number/);
  });
});

describe('the status operations', () => {
  const paths = [
    ['GET', '/api/vidb/async/query/status?task_id=', 'VIDEO', 'vidb'],
    ['GET', '/api/agg/vidb/async/query/status?task_id=', 'VIDEO', 'agg/vidb'],
    ['POST', '/api/agg/imga/video/async/task/status?task_id=', 'VIDEO', 'agg/imga'],
    ['GET', '/api/agg/imga/async/query/status?task_id=', 'DESCRIPTION', 'agg/imga'],
    ['GET', '/api/comfy/async/task/status?task_id=', 'COMFY_WORKFLOW', 'comfy'],
    ['GET', '/api/llm/task/status?task_id=', 'ANALYSIS', 'llm/altllm'],
    ['POST', '/api/imga/video/async/task/status?task_id=', 'VIDEO', 'imga'],
    ['GET', '/api/imga/async/query/status?task_id=', 'IMAGE', 'imga'],
    ['GET', '/api/agg/vidc/video/task/', 'VIDEO', 'agg/vidc'],
    ['GET', '/api/union/video/async/', 'VIDEO', 'union'],
  ] as const;
  const tail = (path: string): string => (path.includes('/union/') ? '/status' : '');

  it.each(paths)('%s %s reports its own tasks only', async (method, path, kind, generator) => {
    const ask = (id: string) => server.send(method, `${path}${id}${tail(path)}`);
    const own = createTask(kind, generator, { state: 'RUNNING', stage: 'rendering', progress: 4 });
    expect((await ask(own)).body).toMatchObject({ status: 'running', data: { task_id: own, progress: 4 } });
    for (const other of [createTask(kind, 'elsewhere'), createTask('SPEECH', generator)]) {
      const { status, body } = await ask(other);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: false, data: null });
      expect(body['msg']).toContain(`ask GET /api/task/status/${other}`);
      expect((await server.send('GET', `/api/task/status/${other}`)).body).toMatchObject({
        status: 'queued',
      });
    }
    expect((await ask('unknown')).body).toMatchObject({ status: false, msg: 'no task "unknown"' });
  });

  it('answer the truth whatever the hints say', async () => {
    const image = createTask('IMAGE', 'agg/imga', finished);
    const path = `/api/agg/imga/async/query/status?task_id=${image}`;
    expect((await server.send('GET', `${path}&task_type=describe&mode=turbo`)).body).toMatchObject(
      isFinished,
    );
    const unknown = await server.send('GET', `${path}&task_type=video&mode=warp`);
    expect(unknown.body).toMatchObject({ status: true });
    expect(unknown.body['msg']).toContain('unknown task_type ignored');
    const video = createTask('VIDEO', 'agg/vidc', finished);
    const hinted = await server.send('GET', `/api/agg/vidc/video/task/${video}?img_mode=yes`);
    expect(hinted.body).toMatchObject(isFinished);
  });

  it('give the addresses of the CDN when asked to', async () => {
    const id = createTask('IMAGE', 'agg/imga', finished);
    const path = `/api/agg/imga/async/query/status?task_id=${id}`;
    const { body } = await server.send('GET', `${path}&cdn_flag=true`);
    expect(body['data']).toMatchObject({ urls: [output.url.replace('kiln', 'cdn')] });
    expect((await server.send('GET', path)).body).toMatchObject(isFinished);
  });
});

describe('cancelling', () => {
  const cancel = async (id: string) =>
    (await server.send('POST', `/api/agg/imga/task/cancel?task_id=${id}`)).body;

  it.each([
    ['cancelled', 'IMAGE', {}],
    ['canceling', 'VIDEO', { state: 'RUNNING' }],
    ['too_late', 'DESCRIPTION', finished],
  ] as const)('answers %s', async (outcome, kind, change) => {
    const id = createTask(kind, 'agg/imga', change);
    expect(await cancel(id)).toMatchObject({ status: true, data: { task_id: id, outcome } });
  });

  it('leaves alone what is unknown or belongs to another generator', async () => {
    expect(await cancel('unknown')).toMatchObject({ status: false, data: null });
    const id = createTask('IMAGE', 'union');
    expect(await cancel(id)).toMatchObject({ status: false, data: null });
    expect(server.media.tasks.all.get(id)?.state).toBe('QUEUED');
  });
});

describe('speech', () => {
  const generator = 'agg/speech_router';
  const say = (fields: Fields) => post('/api/agg/speech_router/sync/generate/speech', fields);

  it('is made in the named voice, or in the first one of the provider', async () => {
    server.media.tasks.startAs = 'SUCCEEDED';
    const named = {
      text: 'hello',
      voice_id: 'mine',
      speed: '1.5',
      pitch: '-2',
      emotion: 'happy',
      format: 'wav',
    };
    expect((await say(named)).body).toMatchObject(isFinished);
    expect(readLast('SynthesizeSpeech')).toEqual({
      input: {
        generator,
        text: 'hello',
        voiceId: 'mine',
        speed: 1.5,
        pitch: -2,
        emotion: 'happy',
        format: 'wav',
      },
    });
    await say({ text: 'hello' });
    expect(readLast('SynthesizeSpeech')).toEqual({ input: { generator, text: 'hello', voiceId: 'calm' } });
    server.media.questions.hasVoices = false;
    expect((await say({ text: 'hello' })).body).toMatchObject({
      status: false,
      data: null,
      msg: expect.stringContaining('voice_id'),
    });
  });

  it('lists the cloned voices, with what the provider said', async () => {
    const { body } = await server.send('GET', '/api/agg/speech_router/sync/get/voices');
    expect(body).toEqual({
      status: true,
      data: ['mine'],
      msg: 'cloned voices: 1',
      extra: {
        voices: [{ voice_id: 'mine', name: 'Mine', language: null }],
        provider: { base_resp: { status_code: 0 } },
      },
    });
  });

  it('takes a sample, and clones it by its id or as a file', async () => {
    const upload = await post('/api/agg/speech_router/sync/file/upload', { file: blob('audio/mpeg') });
    const id = String(upload.body['data']);
    expect(server.media.files.get(id)).toMatchObject({ name: 'file.bin', temporary: false });
    expect(upload.body['extra']).toMatchObject({
      content_type: 'audio/mpeg',
      bytes: 5,
      provider: { file_id: 7 },
    });

    const path = '/api/agg/speech_router/sync/voice/clone';
    const reply = post(path, { voice_id: 'mine', file_id: id, text: 'hello' });
    await vi.waitUntil(() => server.media.tasks.watchers() === 1);
    const [task = ''] = [...server.media.tasks.all.keys()].slice(-1);
    server.media.tasks.change(task, { state: 'SUCCEEDED', stage: 'finished', result: results.clonedVoice });
    expect((await reply).body).toEqual({
      status: true,
      data: {
        provider: 'midjourney',
        model: 'midjourney',
        voice_id: 'mine',
        demo_url: 'http://kiln.test/files/1/demo.mp3',
      },
      msg: 'finished',
    });
    const latest = server.media.requests.findLast(({ name }) => name === 'CloneVoice');
    expect(latest?.variables).toMatchObject({ input: { sample: { fileId: id }, text: 'hello' } });

    server.media.tasks.startAs = 'SUCCEEDED';
    await post(path, { voice_id: 'mine', file: blob('audio/mpeg') });
    expect(readLast('CloneVoice')).toMatchObject({ input: { generator, sample: { fileId: 'file.bin' } } });
    const none = await post(path, { voice_id: 'mine' });
    expect(none.body).toEqual({ status: false, data: null, msg: 'send one of file_id, file' });
  });
});

describe('graphs', () => {
  const path = '/api/comfy/async/submit/task';

  it('are run by name or as they are sent', async () => {
    const inputs = JSON.stringify({ prompt: 'tea', image: link });
    expect(
      (await post(path, { workflow_name: 'text-to-image', inputs, node: 'http://a.test' })).body,
    ).toEqual(isSubmitted);
    expect(readLast('RunComfyWorkflow')).toEqual({
      input: {
        workflowName: 'text-to-image',
        inputs: { prompt: 'tea', image: link },
        node: 'http://a.test',
      },
    });
    server.media.tasks.startAs = 'SUCCEEDED';
    const graph = { 1: { class_type: 'SaveImage', inputs: {} } };
    const sync = await post('/api/comfy/sync/execute/workflow', {
      workflow: JSON.stringify(graph),
      workflow_name: 'other',
    });
    expect(sync.body).toMatchObject({
      status: true,
      msg: 'finished (workflow_name ignored, workflow is used)',
    });
    expect(readLast('RunComfyWorkflow')).toEqual({ input: { workflow: graph } });
  });

  it('are refused when none is sent, or when it is not JSON', async () => {
    expect((await post(path, { node: 'http://a.test' })).body).toEqual({
      status: false,
      data: null,
      msg: 'send one of workflow, workflow_name',
    });
    const broken = await post(path, { workflow: '{', inputs: '{"a":"\\u0000"}' });
    expect(broken.status).toBe(422);
    expect(broken.body['detail']).toMatchObject([
      { loc: ['body', 'workflow'], type: 'json_invalid' },
      { loc: ['body', 'inputs'], type: 'value_error' },
    ]);
  });

  it('find a machine with room for that many', async () => {
    const ask = async (count: string) =>
      (await server.send('GET', `/api/comfy/fetch/running/node${count}`)).body;
    const node = { node: 'http://a.test', queue_running: 1, queue_pending: 2, capacity: 6 };
    expect(await ask('')).toMatchObject({ status: true, data: node });
    expect(await ask('?task_count=-5')).toMatchObject({ status: true, data: node });
    // No more than the question can hold: it is answered, and not refused by the schema.
    const tooMany = await ask('?task_count=99999999999');
    expect(tooMany).toMatchObject({ status: false, data: null });
    expect(server.media.requests.at(-1)?.variables).toMatchObject({ taskCount: 2_147_483_647 });
    server.media.questions.hasRoom = false;
    expect(await ask('')).toMatchObject({ status: false, msg: 'no node has room for 1 more now' });
  });
});

describe('the readable page', () => {
  it('says which fields stand for each other, and which hold JSON', async () => {
    const page = await (await fetch(`${server.url}/docs`)).text();
    expect(page).toMatch(
      /<code>workflow<\/code><\/th><td>.*urlencoded<\/td><td>JSON as text<\/td><td>one of workflow, workflow_name/,
    );
  });
});

describe('models', () => {
  const readIds = async (path: string) => {
    const { body } = await server.send('GET', path);
    return (body['data'] as { id: string }[]).map(({ id }) => id);
  };

  it('are listed with their limits, each group its own', async () => {
    const images = await server.send('GET', '/api/union/img/model/list');
    expect(images.body['data']).toEqual([
      {
        id: 'a',
        name: 'A model',
        category: 'image',
        provider: 'paper',
        generator: 'union',
        inputs: ['prompt', 'img_file', 'img_url', 'ar'],
        sizes: null,
        durations: [5],
        max_prompt: 100,
        sandbox: true,
      },
    ]);
    expect(await readIds('/api/union/video/model/list')).toEqual(['c']);
    expect(await readIds('/api/llm/model/list')).toEqual(['d', 'e']);
  });
});

describe('language models', () => {
  it.each([
    ['/api/llm/chat', 'llm'],
    ['/api/llm/altllm/chat', 'llm/altllm'],
  ])('%s answers the text, and what it took', async (path, generator) => {
    const { body } = await post(path, {
      prompt: 'hi',
      system: 'be brief',
      temperature: '0.5',
      max_tokens: '9',
    });
    expect(body).toEqual({
      status: true,
      data: 'you said hi',
      msg: 'success',
      extra: { model: 'd', provider: 'paper', usage: { input_tokens: 3, output_tokens: 4 } },
    });
    const messages = [{ role: 'user', content: 'hi' }];
    expect(readLast('Chat')).toEqual({
      input: { generator, messages, system: 'be brief', temperature: 0.5, maxTokens: 9 },
    });
  });

  it('answer the addresses of images that they make beside the text', async () => {
    const { body } = await post('/api/llm/altllm/chat', { prompt: 'a fox', model: 'draws' });
    expect(body).toMatchObject({
      data: 'you said a fox',
      extra: { model: 'draws', images: ['http://kiln.test/files/1/a.png'] },
    });
  });

  it('take tools and forms of answers as OpenAI writes them, and answer calls so', async () => {
    const parameters = { type: 'object' };
    const schema = { type: 'string' };
    const { body } = await post('/api/llm/chat', {
      prompt: 'weather',
      tools: JSON.stringify([{ type: 'function', function: { name: 'weather', parameters, strict: true } }]),
      tool_choice: '{"type":"function","function":{"name":"weather"}}',
      response_format: JSON.stringify({ type: 'json_schema', json_schema: { name: 'sky', schema } }),
      reasoning_effort: 'low',
    });
    const called = { name: 'weather', arguments: '{"a":1}' };
    expect(body).toMatchObject({
      extra: { tool_calls: [{ id: 'call_1', type: 'function', function: called }] },
    });
    expect(readLast('Chat')).toMatchObject({
      input: {
        tools: [{ name: 'weather', parameters, strict: true }],
        toolChoice: 'weather',
        responseFormat: { type: 'JSON_SCHEMA', name: 'sky', schema },
        reasoningEffort: 'LOW',
      },
    });
  });

  it.each<[Record<string, string>, RegExp]>([
    [{ tools: '{}' }, /^tools: tools must be a list|^tools must be a list/],
    [{ tools: '[{"name":"weather"}]' }, /tools\[0\] must be/],
    [{ tool_choice: '{"name":"weather"}' }, /tool_choice must be/],
    [{ response_format: '"json"' }, /response_format.type must be one of text, json_object, json_schema/],
    [{ reasoning_effort: 'extreme' }, /reasoning_effort must be one of none, minimal/],
  ])('say what is wrong with %j', async (fields, msg) => {
    const { status, body } = await post('/api/llm/chat', { prompt: 'x', ...fields });
    expect([status, body]).toMatchObject([
      200,
      { status: false, data: null, msg: expect.stringMatching(msg) },
    ]);
  });

  it('take a conversation, and one of both', async () => {
    const messages = JSON.stringify([{ role: 'user', content: 'again' }]);
    expect((await post('/api/llm/chat', { messages, model: 'x' })).body).toMatchObject({
      data: 'you said again',
      extra: { model: 'x' },
    });
    const none = await post('/api/llm/chat', { model: 'x' });
    expect(none.body).toEqual({ status: false, data: null, msg: 'send one of prompt, messages' });
    expect((await post('/api/llm/chat')).status).toBe(422);
  });

  it('analyse media at once or as a task', async () => {
    const fields = { prompt: 'what is it', media_url: 'https://store.test/7', system: 'be brief' };
    const sync = post('/api/llm/altllm/sync/media/analysis', fields);
    await vi.waitUntil(() => server.media.tasks.watchers() === 1);
    const [id = ''] = [...server.media.tasks.all.keys()].slice(-1);
    const done = { state: 'SUCCEEDED', stage: 'finished', text: 'a cup', result: results.analysis } as const;
    server.media.tasks.change(id, done);
    const ran = { model: 'e', provider: 'paper', usage: { input_tokens: 5, output_tokens: 6 } };
    const answer = { status: true, data: 'a cup', msg: 'finished' };
    expect((await sync).body).toEqual({ ...answer, extra: { task_id: id, ...ran } });
    expect(readLast('AnalyzeMedia')).toEqual({
      input: {
        generator: 'llm/altllm',
        prompt: 'what is it',
        media: { url: 'https://store.test/7' },
        system: 'be brief',
      },
    });

    const submitted = await post('/api/llm/altllm/async/media/analysis', fields);
    const task = String(submitted.body['data']);
    server.media.tasks.change(task, done);
    const { body } = await server.send('GET', `/api/llm/task/status?task_id=${task}`);
    expect(body).toEqual({ ...answer, extra: { task_id: task, ...ran } });
  });

  it('store images, sound and videos with their provider, and nothing else', async () => {
    const path = '/api/llm/altllm/cloudstore/upload';
    const { body } = await post(path, { local_file: blob('video/mp4') });
    const [id] = [...server.media.files.keys()].slice(-1);
    expect(body).toEqual({
      status: true,
      data: `https://store.test/${id}`,
      msg: 'file stored',
      extra: { name: 'files/7' },
    });
    const before = server.media.files.size;
    const refused = await post(path, { local_file: blob('text/plain') });
    expect(refused.status).toBe(200);
    expect(refused.body).toMatchObject({
      status: false,
      data: null,
      msg: 'local_file must be a recording, a video or an image',
    });
    expect(server.media.files.size).toBe(before);
  });
});
