import { once } from 'node:events';

import sharp from 'sharp';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';

import type { Sandbox } from '../../sandbox.ts';
import { getJson, plan, postJson, startSandbox } from '../../test-kit.ts';

/** What a ComfyUI server's socket does that nobody expects (docs/sandbox.md). */

let sandbox: Sandbox;
let stop: () => Promise<void>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
});
afterAll(() => stop?.());
beforeEach(async () => {
  await fetch(`${sandbox.url}/_control`, { method: 'DELETE' });
  await latency(300);
});

const GRAPH = {
  '1': { class_type: 'EmptyLatentImage', inputs: { width: 64, height: 64, batch_size: 1 } },
  '2': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'v1-5-pruned-emaonly.safetensors' } },
  '3': { class_type: 'CLIPTextEncode', inputs: { clip: ['2', 1], text: 'a lighthouse' } },
  '4': {
    class_type: 'KSampler',
    inputs: {
      cfg: 8,
      denoise: 1,
      latent_image: ['1', 0],
      model: ['2', 0],
      negative: ['3', 0],
      positive: ['3', 0],
      sampler_name: 'euler',
      scheduler: 'normal',
      seed: 7,
      steps: 20,
    },
  },
  '5': { class_type: 'VAEDecode', inputs: { samples: ['4', 0], vae: ['2', 2] } },
  '6': { class_type: 'SaveImage', inputs: { filename_prefix: 'ComfyUI', images: ['5', 0] } },
};

interface Frame {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A client's socket with what it has heard. */
async function connect(client: string): Promise<{ socket: WebSocket; frames: Frame[] }> {
  const url = `${sandbox.url.replace(/^http/, 'ws')}/comfyui-a/ws?clientId=${client}`;
  const socket = new WebSocket(url);
  const frames: Frame[] = [];
  socket.on('message', (data: Buffer, isPreview) => {
    if (!isPreview) frames.push(JSON.parse(data.toString('utf8')) as Frame);
  });
  onTestFinished(() => socket.terminate());
  await once(socket, 'message');
  return { socket, frames };
}

const latency = (runningMs: number) =>
  postJson(`${sandbox.url}/_control/latency`, { wire: 'comfyui', runningMs, progressSteps: 6 });

async function prompt(client: string): Promise<string> {
  const { body } = await postJson(`${sandbox.url}/comfyui-a/prompt`, { prompt: GRAPH, client_id: client });
  return body['prompt_id'] as string;
}

const history = (id: string) =>
  getJson<Record<string, { status: { completed: boolean; messages: unknown[][] } }>>(
    `${sandbox.url}/comfyui-a/history/${id}`,
  );
const isOver = (id: string) => expect.poll(async () => Object.keys(await history(id))).toEqual([id]);
const heard = (frames: readonly Frame[], id: string) =>
  frames.filter(({ data }) => data['prompt_id'] === id).map(({ type }) => type);
const hears = (frames: readonly Frame[], type: string) =>
  expect.poll(() => frames.some((frame) => frame.type === type)).toBe(true);

it('an uploaded image is kept, and another of its name gets a number', async () => {
  const upload = async (background: string) => {
    const image = await sharp({ create: { width: 8, height: 8, channels: 3, background } })
      .png()
      .toBuffer();
    const form = new FormData();
    form.set('image', new Blob([new Uint8Array(image)], { type: 'image/png' }), 'colour.png');
    const answer = await fetch(`${sandbox.url}/comfyui-a/upload/image`, { method: 'POST', body: form });
    const { name, type } = (await answer.json()) as { readonly name: string; readonly type: string };
    const query = new URLSearchParams({ filename: name, type, subfolder: '' });
    const view = await fetch(`${sandbox.url}/comfyui-a/view?${query.toString()}`);
    return { name, isKept: image.equals(new Uint8Array(await view.arrayBuffer())) };
  };
  expect(await upload('red')).toEqual({ name: 'colour.png', isKept: true });
  expect(await upload('blue')).toEqual({ name: 'colour (1).png', isKept: true });
  expect(await upload('red')).toEqual({ name: 'colour.png', isKept: true });
});

describe('the socket of a ComfyUI machine', () => {
  it('greets with the length of the line and the id of the client', async () => {
    const { frames } = await connect('me');
    expect(frames[0]).toEqual({
      type: 'status',
      data: { status: { exec_info: { queue_remaining: 0 } }, sid: 'me' },
    });
  });

  it('answers feature flags with its own', async () => {
    const { socket, frames } = await connect('me');
    socket.send(JSON.stringify({ type: 'feature_flags', data: { supports_preview_metadata: true } }));
    await hears(frames, 'feature_flags');
    expect(frames.at(-1)?.data).toHaveProperty('max_upload_size');
  });

  it('tells a prompt to the client that started it, from its start to `executing` without a node', async () => {
    const { frames } = await connect('me');
    const id = await prompt('me');
    await hears(frames, 'execution_success');
    await expect.poll(() => heard(frames, id).at(-1)).toBe('executing');
    const types = heard(frames, id);
    expect(types.slice(0, 3)).toEqual(['execution_start', 'execution_cached', 'executing']);
    expect(types.slice(-3)).toEqual(['executed', 'execution_success', 'executing']);
    expect(types).toContain('progress_state');
    expect(frames.findLast(({ type }) => type === 'executing')?.data['node']).toBeNull();
  });

  it('tells nothing of it to another client but how long the line is', async () => {
    const { frames } = await connect('somebody');
    const id = await prompt('me');
    await isOver(id);
    await expect.poll(() => frames.length).toBeGreaterThan(1);
    expect(new Set(frames.map(({ type }) => type))).toEqual(new Set(['status']));
  });

  it('throws the old socket out when its client comes again, and replays only what runs now', async () => {
    await latency(20_000);
    const first = await connect('me');
    const gone = once(first.socket, 'close');
    const id = await prompt('me');
    await hears(first.frames, 'progress');
    const second = await connect('me');
    await gone;
    await hears(second.frames, 'executing');
    expect(second.frames.slice(0, 2).map(({ type }) => type)).toEqual(['status', 'executing']);
    expect(second.frames[1]?.data).toEqual({ node: expect.any(String) });
    expect(heard(second.frames, id)).not.toContain('execution_start');
    expect(await history(id)).toEqual({});
  });

  it('ends an error without the frame that official clients wait for', async () => {
    await plan(sandbox, { wire: 'comfyui-a', operation: 'prompt', fault: 'upstream-error' });
    const { frames } = await connect('me');
    const id = await prompt('me');
    await isOver(id);
    await hears(frames, 'execution_error');
    expect(heard(frames, id).at(-1)).toBe('execution_error');
    expect(frames.filter(({ type, data }) => type === 'executing' && data['node'] === null)).toEqual([]);
    expect((await history(id))[id]?.status).toMatchObject({ status_str: 'error', completed: false });
  });

  it('tells an interruption to everybody, and the history calls it an error too', async () => {
    await latency(20_000);
    const [mine, other] = [await connect('me'), await connect('somebody')];
    const id = await prompt('me');
    await hears(mine.frames, 'progress');
    await postJson(`${sandbox.url}/comfyui-a/interrupt`, { prompt_id: id });
    await hears(other.frames, 'execution_interrupted');
    const { status } = (await history(id))[id] ?? {};
    expect(status).toMatchObject({ status_str: 'error', completed: false });
    expect(status?.messages.at(-1)?.[0]).toBe('execution_interrupted');
  });

  it('is not there for other paths', async () => {
    const socket = new WebSocket(`${sandbox.url.replace(/^http/, 'ws')}/comfyui-a/elsewhere`);
    const [error] = (await once(socket, 'error')) as [Error];
    expect(error.message).toContain('404');
  });
});

/** Runs a graph to its end. */
async function run(graph: object) {
  await latency(10);
  const { body } = await postJson(`${sandbox.url}/comfyui-a/prompt`, { prompt: graph, client_id: 'me' });
  const id = body['prompt_id'] as string;
  await isOver(id);
  const entry = (await history(id))[id];
  return { ...entry, id } as {
    id: string;
    outputs: Record<string, { text?: string[]; images?: { filename: string }[] }>;
    status: { completed: boolean; messages: [string, Record<string, unknown>][] };
  };
}

const save = (images: readonly [string, number], filename_prefix = 'out') => ({
  class_type: 'SaveImage',
  inputs: { images, filename_prefix },
});
const empty = (width = 32) => ({
  class_type: 'EmptyImage',
  inputs: { width, height: 16, batch_size: 1, color: 0xff0000 },
});

describe('a graph', () => {
  it('shows a text by PreviewAny, without any file', async () => {
    const { outputs } = await run({
      '1': { class_type: 'PrimitiveString', inputs: { value: 'a lighthouse' } },
      '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
    });
    expect(outputs).toEqual({ '2': { text: ['a lighthouse'] } });
  });

  it('needs no model for an image of one colour', async () => {
    const { outputs } = await run({ '1': empty(), '2': save(['1', 0]) });
    const name = outputs['2']?.images?.[0]?.filename ?? '';
    const answer = await fetch(`${sandbox.url}/comfyui-a/view?filename=${name}&type=output`);
    const image = sharp(Buffer.from(await answer.arrayBuffer()));
    expect(await image.metadata()).toMatchObject({ width: 32, height: 16 });
    expect((await image.stats()).dominant).toMatchObject({ b: 8 });
  });

  it('fails with the exception of its node, which says where files lie', async () => {
    const { status } = await run({ '1': empty(), '2': save(['1', 0], '../../evil/x') });
    const [name, data] = status.messages.at(-1) ?? [];
    expect(name).toBe('execution_error');
    expect(data).toMatchObject({ node_id: '2', node_type: 'SaveImage', exception_type: 'Exception' });
    expect(data?.['exception_message']).toContain('full_output_folder: /home/comfy');
  });

  it('fails where a sampler and its conditioning belong to different models', async () => {
    const clip = {
      class_type: 'CLIPLoader',
      inputs: { clip_name: 't5xxl_fp8_e4m3fn.safetensors', type: 'sd3' },
    };
    const { status } = await run({
      ...GRAPH,
      '7': clip,
      '3': { class_type: 'CLIPTextEncode', inputs: { clip: ['7', 0], text: 'x' } },
    });
    expect(status.messages.at(-1)?.[1]).toMatchObject({ node_id: '4', exception_type: 'RuntimeError' });
  });

  it.each([
    [
      'value_not_in_list',
      { '2': { ckpt_name: 'x.safetensors' } },
      "ckpt_name: 'x.safetensors' not in ['v1-5",
    ],
    [
      'return_type_mismatch',
      { '3': { clip: ['2', 0], text: 'x' } },
      'clip, received_type(MODEL) mismatch input_type(CLIP)',
    ],
    ['value_bigger_than_max', { '4': { ...GRAPH['4'].inputs, denoise: 2 } }, 'denoise'],
  ])('is refused with %s', async (type, inputs, details) => {
    const graph = Object.fromEntries(
      Object.entries(GRAPH).map(([id, node]) => [
        id,
        { ...node, ...(id in inputs && { inputs: inputs[id as keyof typeof inputs] }) },
      ]),
    );
    const { status, body } = await postJson(`${sandbox.url}/comfyui-a/prompt`, { prompt: graph });
    const [id = ''] = Object.keys(inputs);
    const errors = (body['node_errors'] as Record<string, { errors: { type: string; details: string }[] }>)[
      id
    ]?.errors;
    expect([status, errors?.[0]?.type]).toEqual([400, type]);
    expect(errors?.[0]?.details).toContain(details);
  });

  it('may be made of what /object_info names', async () => {
    const all = await getJson<Record<string, { output_node: boolean }>>(
      `${sandbox.url}/comfyui-a/object_info`,
    );
    expect(all['SaveImage']?.output_node).toBe(true);
    const one = await getJson<object>(`${sandbox.url}/comfyui-a/object_info/KSampler`);
    expect(one).toHaveProperty('KSampler.input.required.sampler_name.0', expect.arrayContaining(['euler']));
    expect(await getJson(`${sandbox.url}/comfyui-a/object_info/Nothing`)).toEqual({});
  });
});
