import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { catchFailure, must } from '../../../../test/providers/environment/environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { JobStatus } from '../contract/provider.ts';
import type { Exchange, ExchangeAnswer, ExchangeRequest } from '../shared/exchange.ts';
import { comfyGraph } from './comfyui.contract.ts';
import { machineFacts } from './facts.ts';
import { derivePromptId } from './handle.ts';
import { createProgress } from './progress.ts';

/** What ComfyUI servers answer, as their sources have it (fixtures/comfyui.json). */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const stage = useScriptedProvider('comfyui');

const job = () => must(stage.provider.jobs?.COMFY_WORKFLOW, 'job');
const handle = () => ({ node: stage.proxy.origin, promptId: 'p', classes: {}, size: 3 });
const idle = { queue_running: [], queue_pending: [] };

function start(answer: { readonly status?: number; readonly body: unknown }) {
  stage.proxy.respondNext('/queue', { body: idle });
  stage.proxy.respondNext('/prompt', answer);
  const request = { kind: 'COMFY_WORKFLOW', workflow: comfyGraph, files: {} } as const;
  return job().start(request, stage.context);
}

function status(entry: object): Promise<JobStatus> {
  stage.proxy.respondNext('/history/', { body: { p: { outputs: {}, ...entry } } });
  return job().status(handle(), stage.context);
}

describe('a refused graph', () => {
  it.each([
    ['missingClass', 'workflow.3.class_type', /node 3 \(FlashVSRNode\).*not be installed/],
    ['olderMissingClass', 'workflow.3.class_type', /node 3 \(KSampler\).*FlashVSRNode does not exist/],
    ['badValue', 'workflow.4.inputs.ckpt_name', /node 4 \(CheckpointLoaderSimple\): Value not in list/],
  ])('names the node, its class and its input (%s)', async (name, field, message) => {
    const error = await catchFailure(start({ status: 400, body: answers[name] }));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', retryable: false, startUnknown: false, field });
    expect(error.message).toMatch(message);
  });

  it('is refused as well when only a part of it was, and that part does not run', async () => {
    const { node_errors: errors } = must(answers['badValue'], 'answer');
    const begin = async () => {
      const error = await catchFailure(start({ body: { prompt_id: 'x', number: 1, node_errors: errors } }));
      expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'workflow.4.inputs.ckpt_name' });
      return must(stage.proxy.sent.at(-1), 'request');
    };
    stage.proxy.respondNext('/api/jobs/x/cancel', { body: { cancelled: true } });
    expect((await begin()).path).toBe('/api/jobs/x/cancel');
    // A machine without the jobs API that was idle has begun with it.
    stage.proxy.respondNext('/queue', { body: idle });
    stage.proxy.respondNext('/queue', { body: { ...idle, queue_running: [[1, 'x', {}, {}, []]] } });
    stage.proxy.respondNext('/interrupt', { status: 200 });
    stage.proxy.respondNext('/prompt', { body: { prompt_id: 'x', number: 1, node_errors: errors } });
    const { path, body } = await begin();
    expect([path, body.toString()]).toEqual(['/interrupt', '{"prompt_id":"x"}']);
  });

  it.each([null, 'odd', { errors: null }, { errors: [null], class_type: 7 }])(
    'is refused as well where what is wrong with a node is told as %j',
    async (told) => {
      const error = await catchFailure(start({ body: { prompt_id: 'x', node_errors: { 4: told } } }));
      expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'workflow.4' });
    },
  );

  it('with a machine that is not of the pool never leaves', async () => {
    const request = { kind: 'COMFY_WORKFLOW', workflow: comfyGraph, files: {}, node: 'http://x' } as const;
    const error = await catchFailure(job().start(request, stage.context));
    expect([error.field, stage.proxy.sent.length]).toEqual(['node', 0]);
  });
});

describe('what a graph made', () => {
  it('is read from every kind of node, each item by its own type', async () => {
    const done = await status({
      outputs: { ...(answers['outputs'] as object), odd: 'words', lists: [['a']] },
      status: { status_str: 'success', completed: true, messages: ['odd'] },
    });
    const outcome = must(done.state === 'finished' ? done.outcome : null, 'outcome');
    const names = outcome.files.map((file) => new URL('url' in file ? file.url : '').search);
    expect(names).toEqual([
      '?filename=a.png&subfolder=&type=output',
      '?filename=b.mp4&subfolder=video&type=output',
      '?filename=c.mp4&subfolder=&type=output',
      '?filename=d.flac&subfolder=audio&type=output',
    ]);
    expect(outcome.texts).toEqual(['a lighthouse']);
  });

  it('is read though its graph and its outputs are large', async () => {
    const prompt = [1, 'p', { 1: { class_type: 'Text', inputs: { text: 'a'.repeat(5 << 20) } } }, {}, []];
    const done = await status({ prompt, outputs: { 1: { text: ['b'.repeat(5 << 20)] } } });
    expect(done.state === 'finished' && done.outcome.texts.map(({ length }) => length)).toEqual([100_000]);
  });

  it('says which node failed', async () => {
    const failed = await status({ status: answers['executionError'] });
    const error = must(failed.state === 'failed' ? failed.error : null, 'error');
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect(error.message).toContain('node 3 (KSampler) failed: torch.OutOfMemoryError');
  });

  it('took the time between its first message and its last, where both tell the time', async () => {
    const units = async (messages: readonly unknown[]) => {
      const done = await status({
        outputs: {},
        status: { status_str: 'success', completed: true, messages },
      });
      return must(done.state === 'finished' ? done.outcome : null, 'outcome').units;
    };
    const start = ['execution_start', { prompt_id: 'p', timestamp: 1_000 }];
    const end = ['execution_success', { prompt_id: 'p', timestamp: 4_500.4 }];
    expect(await units([start, ['execution_cached', { timestamp: 1_200 }], end])).toEqual({
      gpuMilliseconds: 3_500,
    });
    // The clock went back; and times that are not told.
    expect(await units([start, ['execution_success', { timestamp: 900 }]])).toEqual({ gpuMilliseconds: 0 });
    expect([await units([start]), await units([end]), await units([['execution_start'], end])]).toEqual([
      {},
      {},
      {},
    ]);
  });

  it('may be text alone', async () => {
    const outputs = { '2': { text: ['a lighthouse'] } };
    const done = await status({ outputs, status: { status_str: 'success', completed: true } });
    expect(done).toMatchObject({ state: 'finished', outcome: { files: [], texts: ['a lighthouse'] } });
  });

  const failing = (type: string, message: string) => {
    const data = {
      node_id: '3',
      node_type: 'KSampler',
      exception_type: type,
      exception_message: message,
    };
    return status({
      status: { status_str: 'error', completed: false, messages: [['execution_error', data]] },
    });
  };
  const GPU =
    'Allocation on device \nThis error means you ran out of memory on your GPU.\n\nTIPS: a smaller batch';

  it.each([
    ['torch.OutOfMemoryError', GPU],
    ['torch.cuda.OutOfMemoryError', 'CUDA out of memory. Tried to allocate 2.00 GiB'],
    ['RuntimeError', 'CUDA error: an illegal memory access was encountered'],
    ['torch.AcceleratorError', 'CUDA error: device-side assert triggered'],
    ['requests.exceptions.ConnectionError', 'Max retries exceeded'],
    ['builtins.TimeoutError', ''],
  ])('may come another time after %s: %s', async (type, message) => {
    const failed = await failing(type, message);
    const error = must(failed.state === 'failed' ? failed.error : null, 'error');
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  it.each([
    ['RuntimeError', 'mat1 and mat2 shapes cannot be multiplied (77x768 and 1024x320)'],
    ['Exception', 'Saving image outside the output folder is not allowed.'],
    ['ValueError', 'height must be > 0'],
    ['KeyError', "'samples'"],
  ])('never comes after %s: %s', async (type, message) => {
    const failed = await failing(type, message);
    const error = must(failed.state === 'failed' ? failed.error : null, 'error');
    expect(error).toMatchObject({ code: 'INVALID_INPUT', retryable: false, field: 'workflow.3' });
    expect(error.message).toBe(`comfyui: node 3 (KSampler) failed: ${type}: ${message}`);
  });

  it.each([
    [
      "[Errno 2] No such file or directory: '/home/Ann Lee/ComfyUI/models/x.pt'",
      '[Errno 2] No such file or directory: [path]',
    ],
    ['full_output_folder: /root/ComfyUI/evil, 3/4 left', 'full_output_folder: [path], 3/4 left'],
    ['cannot open C:\\Users\\Ann Lee\\models\\x.pt', 'cannot open [path]'],
    ['File "\\\\share\\x.pt" and/or https://a.example/b/c', 'File [path] and/or https://a.example/b/c'],
  ])('is told without the paths of the machine: %s', async (message, shown) => {
    const failed = await failing('OSError', message);
    const error = must(failed.state === 'failed' ? failed.error : null, 'error');
    expect(error.message).toBe(`comfyui: node 3 (KSampler) failed: OSError: ${shown}`);
  });

  it('is not lost when it ends between the question for its history and that for the queue', async () => {
    stage.proxy.respondNext('/history/', { body: {} });
    stage.proxy.respondNext('/queue', { body: idle });
    const done = { outputs: answers['outputs'], status: { status_str: 'success', completed: true } };
    stage.proxy.respondNext('/history/', { body: { p: done } });
    expect((await job().status(handle(), stage.context)).state).toBe('finished');
  });

  it('waits by the numbers of the queue, whatever its order', async () => {
    stage.proxy.respondNext('/history/', { body: {} });
    const item = (number: number, id: string) => [number, id, {}, {}, []];
    const queue = {
      queue_running: [item(1, 'x')],
      queue_pending: [item(4, 'p'), item(2, 'y'), item(3, 'z')],
    };
    stage.proxy.respondNext('/queue', { body: queue });
    expect(await job().status(handle(), stage.context)).toEqual({ state: 'queued', position: 3 });
  });
});

describe('a prompt', () => {
  const there = () => ({ ...handle(), node: `${stage.proxy.origin}/a` });
  const pool = (closed: readonly [string, 'paused' | 'draining'][] = []) => {
    const nodes = ['/a', '/b'].map((path) => stage.proxy.origin + path);
    const closedNodes = () => new Map(closed.map(([path, how]) => [stage.proxy.origin + path, how]));
    return { ...stage.context, connection: { ...stage.context.connection, nodes, closedNodes } };
  };
  const say = (path: string, body: unknown, status = 200) => stage.proxy.respondNext(path, { status, body });
  const item = (id: string, more: object = {}) => [1, id, comfyGraph, more, []];
  const nothingAt = (path: string) => {
    say(`${path}/history/`, {});
    say(`${path}/queue`, idle);
    say(`${path}/history/`, {});
  };
  const find = (context = pool()) => must(job().find?.('task/1/1', context), 'find');
  const id = derivePromptId('task/1/1');

  it('has an id that is a UUID made of its reference', () => {
    expect(id).toBe('033a62a3-5a37-81fd-a4be-142cfe93e1bc');
  });

  it('is found where it runs, waits or has ended, with the nodes whose outputs count', async () => {
    const found = {
      node: `${stage.proxy.origin}/b`,
      promptId: id,
      classes: Object.fromEntries(Object.entries(comfyGraph).map(([name, node]) => [name, node.class_type])),
      size: 8,
    };
    const outputs = { kiln_outputs: ['9', 7] };
    nothingAt('/a');
    say('/b/history/', { [id]: { prompt: item(id, outputs), outputs: {} } });
    expect(await find()).toEqual({ ...found, outputs: ['9', '7'] });
    stage.proxy.reset();
    nothingAt('/a');
    say('/b/history/', {});
    say('/b/queue', { ...idle, queue_running: [item('own', { client_id: id })] });
    expect(await find()).toEqual({ ...found, promptId: 'own' });
    stage.proxy.reset();
    nothingAt('/a');
    say('/b/history/', {});
    say('/b/queue', { ...idle, queue_pending: [item('x'), item(id)] });
    expect(await find()).toEqual(found);
    stage.proxy.reset();
    nothingAt('/a');
    say('/b/history/', {});
    say('/b/queue', idle);
    say('/b/history/', { [id]: { prompt: item(id) } });
    expect(await find()).toEqual(found);
  });

  it('is absent where every machine says so, and not known where one does not answer', async () => {
    nothingAt('/a');
    nothingAt('/b');
    expect(await find()).toBe('absent');
    nothingAt('/a');
    say('/b/history/', {}, 401);
    expect(await find()).toBe('unknowable');
    say('/history/', {}, 401);
    expect(await catchFailure(Promise.resolve(find(stage.context as never)))).toMatchObject({
      refusedCredentials: true,
    });
  });

  it('runs, waits, or is not known', async () => {
    say('/a/history/', {});
    say('/a/queue', { queue_running: [item('p')], queue_pending: [item('x')] });
    expect(await job().status(there(), pool())).toEqual({ state: 'running', progress: null });
    nothingAt('/a');
    expect(await catchFailure(job().status(there(), pool()))).toMatchObject({
      code: 'LOST',
      message: 'comfyui: the machine does not know the prompt any more',
    });
    for (const lost of [{ promptId: 'p' }, { node: there().node }, { ...there(), node: 'http://gone' }]) {
      expect(await catchFailure(job().status(lost, pool()))).toMatchObject({ code: 'LOST' });
    }
  });

  it.each<[string, Parameters<typeof pool>[0]]>([
    [
      'as all are',
      [
        ['/a', 'paused'],
        ['/b', 'draining'],
      ],
    ],
    ['and only finishes', [['/a', 'draining']]],
  ])('waits on at a machine that gets no new work, %s', async (_how, closed) => {
    say('/a/history/', {});
    say('/a/queue', { ...idle, queue_pending: [item('p')] });
    expect(await job().status(there(), pool(closed))).toEqual({ state: 'queued', position: 1 });
    expect(stage.proxy.sent).toHaveLength(2);
  });

  it('is taken back from a machine that is paused, unless it has begun there', async () => {
    const waiting = { ...idle, queue_pending: [item('p')] };
    const ask = () => job().status(there(), pool([['/a', 'paused']]));
    say('/a/history/', {});
    say('/a/queue', waiting);
    say('/a/queue', '');
    say('/a/queue', idle);
    say('/a/history/', {});
    expect(await catchFailure(ask())).toMatchObject({
      code: 'LOST',
      message: expect.stringContaining('paused'),
    });
    const [, , taken] = stage.proxy.sent;
    expect([taken?.method, taken?.path, String(taken?.body)]).toEqual([
      'POST',
      '/a/queue',
      '{"delete":["p"]}',
    ]);
    // It has begun meanwhile, the machine takes nothing back, or it has ended.
    const after: readonly (readonly [object, object])[] = [
      [{ ...idle, queue_running: [item('p')] }, {}],
      [waiting, {}],
      [idle, { p: { outputs: {} } }],
    ];
    for (const [queue, history] of after) {
      stage.proxy.reset();
      say('/a/history/', {});
      say('/a/queue', waiting);
      say('/a/queue', '');
      say('/a/queue', queue);
      say('/a/history/', history);
      expect(await ask()).toEqual({ state: 'queued', position: 1 });
    }
  });

  it('that was interrupted is not tried again, and one that the server does not explain may be', async () => {
    const failed = async (messages: readonly unknown[]) => {
      const now = await status({ status: { status_str: 'error', messages } });
      return must(now.state === 'failed' ? now.error : null, 'error');
    };
    expect(await failed([['execution_interrupted', { node_id: '3', node_type: 'KSampler' }]])).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: false,
      message: 'comfyui: interrupted at node 3 (KSampler)',
    });
    expect(await failed([['execution_start', {}]])).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
    expect(await status({ status: { status_str: 'a_new_word' } })).toEqual({
      state: 'running',
      progress: null,
    });
  });

  it('gets its files in a folder of ours, under a name that its start alone has', async () => {
    const sound = (change: object) => ({
      name: 'a',
      contentType: 'audio/mpeg',
      bytes: 2,
      publicUrl: null,
      uploaded: null,
      open: async () => Readable.from([Buffer.from('hi')]),
      ...change,
    });
    const files = {
      '10.image': sound({ name: 'A.PNG', contentType: 'image/png' }),
      '6.text': sound({ contentType: 'image/jpeg' }),
      '7.text': sound({ contentType: 'odd' }),
      '3.cfg': sound({}),
    };
    stage.proxy.respondNext('/queue', { body: idle });
    for (const stored of [
      { name: 'x.png' },
      { name: 'y.jpg', subfolder: 'kiln', type: 'input' },
      { name: 'z', subfolder: 'kiln', type: 'temp' },
      { name: 'w', type: null },
    ])
      stage.proxy.respondNext('/upload/image', { body: stored });
    stage.proxy.respondNext('/prompt', { body: { prompt_id: 'own', node_errors: {} } });
    const request = { kind: 'COMFY_WORKFLOW', workflow: comfyGraph, files, outputs: ['9'] } as const;
    expect(await job().start(request as never, stage.context)).toMatchObject({
      promptId: 'own',
      outputs: ['9'],
    });
    const uploads = stage.proxy.sent.filter(({ path }) => path === '/upload/image');
    const forms = await Promise.all(
      uploads.map(({ body, headers }) => new Response(new Uint8Array(body), { headers }).formData()),
    );
    const names = ['.png', '.jpg', '', '.mpeg'].map((extension, index) => `${id}-${index}${extension}`);
    expect(forms.map((form) => (form.get('image') as File).name)).toEqual(names);
    for (const form of forms) {
      expect([form.get('type'), form.get('subfolder'), form.get('overwrite')]).toEqual([
        'input',
        'kiln',
        'true',
      ]);
      expect(await (form.get('image') as File).text()).toBe('hi');
    }
    const sent = JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as { prompt: typeof comfyGraph };
    expect(sent).toMatchObject({ client_id: id, prompt_id: id, extra_data: { kiln_outputs: ['9'] } });
    const { prompt } = sent;
    expect([
      prompt['10'].inputs.image,
      prompt['6'].inputs.text,
      prompt['7'].inputs.text,
      prompt['3'].inputs.cfg,
    ]).toEqual(['x.png', 'kiln/y.jpg', 'kiln/z [temp]', 'w']);
    stage.proxy.reset();
    for (const target of ['99.image', 'image']) {
      stage.proxy.respondNext('/queue', { body: idle });
      const wrong = { ...request, files: { [target]: sound({}) } };
      expect(await catchFailure(job().start(wrong as never, stage.context))).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'inputs',
      });
    }
  });

  it.each([
    [{ cancelled: true }, 'cancelled'],
    [{ cancelled: false }, 'too-late'],
  ])('is cancelled by the jobs API, which says %j', async (body, verdict) => {
    say('/api/jobs/p/cancel', body);
    expect(await job().cancel?.(handle(), stage.context)).toBe(verdict);
  });

  it('is not said to be cancelled by an answer that says nothing', async () => {
    for (const body of ['[]', 'null', '"x"', '{}']) {
      stage.proxy.respondNext('/cancel', { body });
      expect(await catchFailure(must(job().cancel?.(handle(), stage.context), 'cancel'))).toMatchObject({
        code: 'UNAVAILABLE',
      });
    }
    stage.proxy.respondNext('/cancel', { status: 405, body: '' });
    say('/queue', { ...idle, queue_running: [item('x')] });
    expect(await job().cancel?.(handle(), stage.context)).toBe('too-late');
    expect(stage.proxy.sent.at(-1)?.method).toBe('GET');
  });
});

describe('cancelling at a machine without the jobs API', () => {
  it.each([
    ['pending', '/queue', '{"delete":["p"]}'],
    ['running', '/interrupt', '{"prompt_id":"p"}'],
  ])('works for what is %s', async (where, path, body) => {
    stage.proxy.respondNext('/cancel', { status: 404, body: '404: Not Found' });
    stage.proxy.respondNext('/queue', { body: { ...idle, [`queue_${where}`]: [[1, 'p', {}, {}, []]] } });
    stage.proxy.respondNext(path, { status: 200 });
    stage.proxy.respondNext('/queue', { body: idle });
    expect(await job().cancel?.(handle(), stage.context)).toBe('cancelled');
    const last = must(
      stage.proxy.sent.findLast(({ method }) => method === 'POST'),
      'request',
    );
    expect([last.path, last.body.toString()]).toEqual([path, body]);
  });

  it('interrupts what has begun before it was taken from the queue', async () => {
    const item = [1, 'p', {}, {}, []];
    stage.proxy.respondNext('/cancel', { status: 405, body: '' });
    stage.proxy.respondNext('/queue', { body: { ...idle, queue_pending: [item] } });
    stage.proxy.respondNext('/queue', { status: 200 });
    stage.proxy.respondNext('/queue', { body: { ...idle, queue_running: [item] } });
    stage.proxy.respondNext('/interrupt', { status: 200 });
    expect(await job().cancel?.(handle(), stage.context)).toBe('cancelled');
    const last = must(stage.proxy.sent.at(-1), 'request');
    expect([last.path, last.body.toString()]).toEqual(['/interrupt', '{"prompt_id":"p"}']);
  });
});

describe('the messages of the socket', () => {
  const message = (type: string, data: object) => JSON.stringify({ type, data: { prompt_id: 'p', ...data } });
  const progress = () =>
    createProgress({ node: 'http://a', promptId: 'p', classes: { 3: 'KSampler' }, size: 4 });

  it('add up to a progress by node', () => {
    const { take } = progress();
    expect(take(message('execution_start', {}))).toBeNull();
    take(message('execution_cached', { nodes: ['4', '6'] }));
    expect(take(message('executing', { node: '3' }))).toEqual({ progress: 50, stage: 'node 3 (KSampler)' });
    const half = take(message('progress', { node: '3', value: 10, max: 20 }));
    expect(half).toEqual({ progress: 62, stage: 'node 3 (KSampler) 10/20' });
    const nodes = { 3: { state: 'finished' }, 9: { state: 'running', value: 0, max: 1 } };
    expect(take(message('progress_state', { nodes }))).toEqual({ progress: 75, stage: 'node 9' });
  });

  it('count a node that has run, and begin anew with the next', () => {
    const { take } = progress();
    take(message('progress', { node: '3', value: 3, max: 4 }));
    expect(take(message('progress', { node: '3', value: 5, max: 4 }))).toMatchObject({ progress: 25 });
    for (const odd of [
      { value: 'x', max: 4 },
      { value: 1, max: 'x' },
      { value: 1, max: 0 },
    ]) {
      expect(take(message('progress', { node: '3', ...odd }))).toMatchObject({ progress: 25 });
    }
    expect(take(message('executing', { node: '9' }))).toEqual({ progress: 25, stage: 'node 9' });
    expect(take(message('progress', { value: 1, max: 1 }))).toEqual({ progress: 50, stage: 'node 9' });
    expect(take(message('executing', { node: '9' }))).toEqual({ progress: 50, stage: 'node 9' });
    expect(take(message('executed', { node: '9' }))).toEqual({ progress: 50, stage: 'node 9' });
    expect(take(message('executed', { node: '8' }))).toEqual({ progress: 75, stage: 'node 9' });
    for (const node of ['10', '11', '12']) take(message('executing', { node }));
    expect(take(message('progress', { value: 1, max: 1 }))).toMatchObject({ progress: 99 });
    expect(take(message('executing', { node: null }))).toBe('ended');
    expect(take(message('progress_state', { nodes: 7 }))).toMatchObject({ progress: 99 });
    const nodes = { 20: { state: 'running', value: 1, max: 2 }, 21: { state: 'pending' } };
    expect(take(message('progress_state', { nodes }))).toMatchObject({ stage: 'node 20 1/2' });
  });

  it('come with images while a node runs', () => {
    const { take, takeImage } = progress();
    const frame = (kind: number, format: number, image = 'x') => {
      const head = Buffer.alloc(8);
      head.writeUInt32BE(kind, 0);
      head.writeUInt32BE(format, 4);
      return Buffer.concat([head, Buffer.from(image)]);
    };
    expect(takeImage(frame(1, 1))).toBeNull();
    take(message('executing', { node: '3' }));
    for (const format of [1, 2])
      expect(takeImage(frame(1, format))).toEqual({
        progress: 0,
        stage: 'node 3 (KSampler)',
        image: Buffer.from('x'),
      });
    for (const none of [frame(2, 1), frame(1, 3), frame(1, 1, ''), Buffer.alloc(3)])
      expect(takeImage(none)).toBeNull();
  });

  it.each(['execution_success', 'execution_error', 'execution_interrupted'])('end with %s', (type) => {
    expect(progress().take(message(type, {}))).toBe('ended');
  });

  it('name the running node without its prompt to a socket that comes late', () => {
    const frame = JSON.stringify({ type: 'executing', data: { node: '3' } });
    expect(progress().take(frame)).toEqual({ progress: 0, stage: 'node 3 (KSampler)' });
  });

  it('of other prompts, unknown ones and half ones change nothing', () => {
    const { take } = progress();
    expect(take(message('execution_success', { prompt_id: 'other' }))).toBeNull();
    expect(take(message('a_new_word', {}))).toBeNull();
    expect(take('{"type":')).toBeNull();
  });
});

describe('what a machine is', () => {
  const asked: ExchangeRequest[] = [];
  const graph = (file: string) => ({
    1: { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: file } },
  });
  const failed = (timestamp: unknown, node: unknown, text: string) => ({
    prompt: [1, 'p', {}],
    status: {
      status_str: 'error',
      messages: [['execution_error', { timestamp, node_type: node, node_id: '1', exception_message: text }]],
    },
  });
  const answers: Record<string, unknown> = {
    '/system_stats': {
      system: { comfyui_version: '0.3.1', python_version: '3.12.1 (main, Dec)', pytorch_version: null },
      devices: [{ name: 'cuda:0', type: 'cuda', vram_total: 8, vram_free: 0 }, { vram_total: 'x' }],
    },
    '/queue': { queue_running: [], queue_pending: [] },
    '/history?max_items=40': {
      a: { prompt: [1, 'a', graph('old.safetensors')], status: { status_str: 'success', messages: [] } },
      b: { prompt: [2, 'b', graph('new.safetensors')], status: null },
      c: failed(1_700_000_000_000, 'KSampler', 'out of memory'),
      d: failed('soon', 7, 'broken'),
      e: { prompt: [1, 'p', {}], status: { status_str: 'error', messages: [['execution_start', {}]] } },
    },
  };
  const exchange: Exchange = async (_, request) => {
    asked.push(request);
    return { status: 200, headers: {}, json: answers[request.path] };
  };
  const inventory = new Map([
    ['UpscaleModelLoader', new Map([['model_name', new Set(['b.pth', 'b.pth', 'none'])]])],
    ['KSampler', new Map([['sampler_name', new Set(['euler'])]])],
  ]);
  const facts = (known: unknown = inventory, ask = exchange) => {
    const read = async (...given: unknown[]) => (inventories.push(given[1]), known);
    return machineFacts({ exchange: ask, inventories: { read } as never }, stage.context);
  };
  const inventories: unknown[] = [];

  it('is its versions, devices and models, what it has loaded last, and its newest failures', async () => {
    expect(await facts()).toEqual({
      versions: { ComfyUI: '0.3.1', Python: '3.12.1' },
      devices: [
        { name: 'cuda:0', type: 'cuda', totalBytes: 8, freeBytes: 0 },
        { name: '', type: '', totalBytes: null, freeBytes: null },
      ],
      classes: ['KSampler', 'UpscaleModelLoader'],
      models: [{ loader: 'UpscaleModelLoader', files: ['b.pth'] }],
      loaded: ['new.safetensors'],
      errors: [
        { at: null, node: null, message: expect.stringContaining('broken') },
        {
          at: new Date(1_700_000_000_000),
          node: 'KSampler',
          message: expect.stringContaining('out of memory'),
        },
      ],
    });
    expect(asked.map(({ path, timeoutMs, maxBytes }) => [path, timeoutMs, maxBytes])).toEqual(
      expect.arrayContaining([
        ['/system_stats', 5_000, undefined],
        ['/history?max_items=40', 5_000, 32 << 20],
      ]),
    );
    expect(inventories).toEqual([30_000]);
  });

  it('is told without what it does not say, and not at all when it refuses', async () => {
    answers['/history?max_items=40'] = Object.fromEntries(
      Array.from({ length: 7 }, (_, at) => [String(at), failed(at, 'KSampler', `failure ${at}`)]),
    );
    const { classes, models, loaded, errors } = await facts(null);
    expect({ classes, models, loaded }).toEqual({ classes: [], models: [], loaded: [] });
    expect(errors.map(({ at }) => at?.getTime())).toEqual([6, 5, 4, 3, 2]);
    const refusing: Exchange = async (context, request) => {
      const answer: ExchangeAnswer = await exchange(context, request);
      return request.path === '/system_stats' ? { ...answer, status: 401 } : answer;
    };
    expect(await catchFailure(facts(inventory, refusing))).toMatchObject({ name: 'UpstreamError' });
  });
});
