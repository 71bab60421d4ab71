import { crc32 } from 'node:zlib';

import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { postForm, rest, taskEnd } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { silence } from '../../kit/samples/wav.ts';

/** Options of generators over REST: none is dropped without a word, and none moves a request to a model that ignores it. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
});
afterAll(() => kiln?.close());

/** The body of the reply to a form. */
async function post(path: string, fields: Readonly<Record<string, string | Blob>>) {
  const { status, body } = await postForm(kiln.url, path, fields);
  expect(status).toBe(200);
  return body;
}

const union = '/api/union/img/sync/generate/image';
const custom = '/api/custom/image/submit/task';

describe('an option', () => {
  it.each(['8k', '9x9', '1080p'])('that no model has (resolution=%s) is refused', async (resolution) => {
    expect(await post(union, { prompt: 'a fox', resolution })).toEqual({
      status: false,
      data: null,
      msg: expect.stringMatching(
        /^resolution: must be one of 1024x1024, .* \(gpt-image-2\); must be one of 1K, 2K, 4K \(gemini-3.1-flash-image\)$/,
      ),
    });
  });

  it('that another model has names that model', async () => {
    const { status, msg } = await post(custom, { prompt: 'a fox', resolution: '1024x1024' });
    expect([status, msg]).toEqual([
      false,
      'resolution: is not taken by this model; models that take this request: gpt-image-2 (union), gpt-image-2.5-flare (union), ' +
        'gpt-image-2.5-sunburst (union), gpt-image-2.6-flare (union), gpt-image-2.6-sunburst (union), gpt-image-1.5 (union), gpt-image-1-mini (union), gpt-image-1 (union)',
    ]);
  });

  it('decides about the model where several are behind a path, and the answer names that model', async () => {
    const answers = [{}, { seed: '7' }].map((option) => post(union, { prompt: 'a fox', ...option }));
    expect((await Promise.all(answers)).map(({ data }) => [data.provider, data.model])).toEqual([
      ['openai', 'gpt-image-2'],
      ['gemini', 'gemini-3.1-flash-image'],
    ]);
  });

  it('that does not go with another one is refused in the words of both', async () => {
    const grey = { width: 64, height: 64, channels: 3, background: '#888' } as const;
    const image = new Blob([new Uint8Array(await sharp({ create: grey }).png().toBuffer())]);
    const path = '/api/agg/vidc/video/async/submit';
    const frames = { prompt: 'a fox', model: 'kling-v2-5-turbo', img_file: image, tail_img_file: image };
    const { status, msg } = await post(path, { ...frames, resolution: '720p' });
    expect([status, msg]).toEqual([
      false,
      expect.stringContaining('resolution: must be 1080p for a video with a last frame'),
    ]);
    expect(await post(path, { ...frames, resolution: '1080p' })).toMatchObject({ status: true });
  });

  it('that is met only approximately says so', async () => {
    const { status, msg } = await post(union, { prompt: 'a fox', ar: '16:9', model: 'gpt-image-1' });
    expect([status, msg]).toEqual([
      true,
      'finished; aspect ratio 16:9 was met by 3:2, the nearest that this model makes',
    ]);
  });
});

it('the reply of a status operation names provider and model', async () => {
  const { data: taskId } = await post(custom, { prompt: 'a fox', n: '2' });
  expect((await taskEnd(kiln.url, taskId)).body).toMatchObject({
    status: true,
    data: { task_id: taskId, provider: 'fal', model: 'fal-ai/flux/schnell' },
  });
});

/** Where the models of a list are used: its operations start their work. */
const lists: readonly (readonly [list: string, ...operations: string[]])[] = [
  ['/api/union/img/model/list', '/api/union/img/sync/generate/image'],
  ['/api/union/video/model/list', '/api/union/video/async/generate/video'],
  ['/api/custom/model/list?category=image', '/api/custom/image/submit/task'],
  ['/api/custom/model/list?category=video', '/api/custom/video/submit/task'],
  [
    '/api/custom/extend/model/list',
    '/api/custom/extend/charv/create/character',
    '/api/custom/extend/charv/submit/task',
    '/api/custom/extend/frame/submit/task',
  ],
  ['/api/llm/model/list', '/api/llm/chat', '/api/llm/altllm/sync/media/analysis'],
];

it.each(lists)(
  'every input that %s names is a field of the operations that it is about',
  async (list, ...paths) => {
    const { body: document } = await rest(kiln.url, 'GET', '/openapi.json');
    const listFields = (path: string) => {
      const [content] = Object.values<any>(document.paths[path].post.requestBody.content); // oxlint-disable-line typescript/no-explicit-any -- read as it is
      return Object.keys(content.schema.properties);
    };
    const fields = paths.flatMap(listFields);
    const { body } = await rest(kiln.url, 'GET', list);
    const inputs: readonly string[] = body.data.flatMap((model: { inputs: string[] }) => model.inputs);
    expect(inputs.length).toBeGreaterThan(0);
    expect(inputs.filter((input) => !fields.includes(input))).toEqual([]);
  },
);

it('a video of words alone starts where the model makes one', async () => {
  expect(await post('/api/agg/imga/video/async/submit', { prompt: 'waves' })).toMatchObject({
    status: true,
    msg: 'task submitted',
  });
});

describe('a fault that can be known before', () => {
  it.each([
    ['http://169.254.169.254/a.png', /^img_url can't be fetched: /],
    ['http://10.0.0.1/a.png', /^img_url can't be fetched: /],
    ['http://localhost/a.png', /^img_url can't be fetched: localhost is not a public address$/],
  ])('such as the private address %s is told in place of a task', async (img_url, words) => {
    const { status, data, msg } = await post('/api/agg/imga/video/async/submit', {
      prompt: 'a fox',
      img_url,
    });
    expect([status, data, msg]).toEqual([false, null, expect.stringMatching(words)]);
  });

  it('such as a number of results that the model does not make is told in place of a task', async () => {
    const { status, msg } = await post('/api/custom/extend/charv/submit/task', { prompt: 'a fox', n: '2' });
    expect([status, msg]).toEqual([false, expect.stringMatching(/^n: must be one of 1, 4/)]);
  });

  it('such as a number that no field holds is told in the words of this API', async () => {
    const { msg } = await post(custom, { prompt: 'a fox', n: '99999999999' });
    expect(msg).toBe('n: must be a whole number below 2147483648');
  });

  it.each([
    [
      '/api/agg/vidc/video/async/submit',
      { prompt: 'a fox', tail_img_url: 'https://example.com/a.png' },
      'tail_img_url: needs img_file or img_url too, what the video begins with',
    ],
    [
      '/api/agg/vidc/video/async/submit',
      { prompt: 'a fox', img_file: new Blob([]) },
      'img_file is empty: it has 0 bytes',
    ],
    [
      '/api/comfy/async/submit/task',
      { workflow_name: 'text-to-image', inputs: '{"prompt":"a fox"}', node: 'http://10.9.9.9' },
      'node: there is no such machine',
    ],
    [
      '/api/agg/speech_router/sync/voice/clone',
      { file: new Blob([silence(1)], { type: 'audio/wav' }), voice_id: 'short' },
      'voice_id: use 8 to 256 letters, digits, - and _, with a letter first and a letter or digit last',
    ],
  ])('at %s with %o is told in place of a task', async (path, fields, msg) => {
    expect(await post(path, fields)).toEqual({ status: false, data: null, msg });
  });

  it('such as an empty file is told at its upload', async () => {
    const form = new FormData();
    form.set('file', new Blob([]), 'empty.png');
    const { status, body } = await rest(kiln.url, 'POST', '/api/file/upload', form);
    expect([status, body]).toEqual([
      200,
      { status: false, data: null, msg: 'file is empty: it has 0 bytes' },
    ]);
  });

  it('such as an image that claims 60,000 x 60,000 pixels is told at its upload', async () => {
    const form = new FormData();
    form.set('file', new Blob([pngOfSize(60_000, 60_000)]), 'large.png');
    const { status, body } = await rest(kiln.url, 'POST', '/api/file/upload', form);
    expect([status, body]).toEqual([
      200,
      {
        status: false,
        data: null,
        msg: 'file has 60000 x 60000 pixels: at most 268402689 are taken, make it smaller',
      },
    ]);
  });
});

/** A PNG whose header claims this size, with ten megabytes behind it. */
function pngOfSize(width: number, height: number): Uint8Array<ArrayBuffer> {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  const all = [signature, chunk('IHDR', header), chunk('IDAT', Buffer.alloc(10_000_000))];
  return new Uint8Array(Buffer.concat(all));
}
