import { createHash } from 'node:crypto';
import { request as httpRequest, type ClientRequest } from 'node:http';

import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';

import { AppError } from '../platform/errors.ts';
import { isWhole } from '../test/kit/extent.ts';
import { startRestServer, type RestReply, type RestServer } from './fixtures/rest-server.ts';

const limit = 400 * 1024 * 1024;
const image = '/api/agg/imga/sync/image?prompt=a%20cup';

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer({ settings: { uploadMaxBytes: limit } });
  server.media.tasks.startAs = 'SUCCEEDED';
});
beforeEach(() => server.media.failWith(null));
afterAll(() => server.close());

type Part = readonly [name: string, value: string | Blob, filename?: string];

function createForm(parts: readonly Part[]): FormData {
  const form = new FormData();
  for (const [name, value, filename] of parts) {
    if (typeof value === 'string') form.append(name, value);
    else form.append(name, value, filename ?? 'a.png');
  }
  return form;
}

const post = (path: string, parts: readonly Part[]): Promise<RestReply> =>
  server.send('POST', path, { body: createForm(parts) });

const createImage = (text = 'image'): Blob => new Blob([text], { type: 'image/png' });

/** The input of the latest generateImage, and the files it names. */
function lastInput(): { readonly input: unknown; readonly names: readonly unknown[] } {
  const latest = server.media.requests.findLast(({ name }) => name === 'GenerateImage');
  const input = latest?.variables['input'] as { images?: { fileId?: string; url?: string }[] };
  const names = (input.images ?? []).map(
    ({ fileId, url }) => server.media.files.get(fileId ?? '')?.name ?? url,
  );
  return { input, names };
}

describe('an optional form', () => {
  it('may be absent, empty, or of another type', async () => {
    for (const options of [{}, { body: '' }, { json: { img_url: 'https://example.com/a.png' } }]) {
      const { status, body } = await server.send('POST', image, options);
      expect(status).toBe(200);
      expect(body).toMatchObject({ status: true });
      expect(lastInput().names).toEqual([]);
    }
  });

  it.each(['multipart/form-data', 'multipart/form-data; boundary=b', 'application/x-www-form-urlencoded'])(
    'may be announced as %s and not be sent',
    async (type) => {
      const headers = { 'content-type': type };
      const reply = await server.send('POST', image, { body: '', headers });
      expect(reply).toMatchObject({ status: 200, body: { status: true } });
      const needed = await server.send('POST', '/api/file/upload', { body: '', headers });
      expect(needed).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 'file'] }] } });
    },
  );

  it('is the same urlencoded and multipart, and an empty field is no field', async () => {
    const fields = { img_url: 'https://example.com/a.png', ar: '16:9', seed: '' };
    await server.send('POST', image, { body: new URLSearchParams(fields) });
    const urlencoded = lastInput().input;
    await post(image, Object.entries(fields));
    expect(lastInput().input).toEqual(urlencoded);
    expect(urlencoded).toEqual({
      generator: 'agg/imga',
      prompt: 'a cup',
      aspectRatio: '16:9',
      speedMode: 'fast',
      images: [{ url: 'https://example.com/a.png' }],
    });
    await post(image, [
      ['img_url', ''],
      ['ar', ''],
    ]);
    expect(lastInput().input).toEqual({ generator: 'agg/imga', prompt: 'a cup', speedMode: 'fast' });
  });

  it('ignores an unknown mode and says so', async () => {
    const { body } = await server.send('POST', `${image}&mode=warp&max_wait_time=0&poll_interval=9999`);
    expect(lastInput().input).toMatchObject({ speedMode: 'fast' });
    expect(body['status']).toBe(true);
    expect(body['msg']).toContain('unknown mode ignored');
    expect(body['msg']).toContain('max_wait_time is limited to 1..3600');
    await server.send('POST', `${image}&mode=turbo`);
    expect(lastInput().input).toMatchObject({ speedMode: 'turbo' });
  });
});

describe('file parts', () => {
  it.each([
    ['img_file', [['img_file', createImage(), 'named.png']]],
    ['an alias', [['image', createImage(), 'named.png']]],
    [
      'file',
      [
        ['other', createImage('o'), 'other.png'],
        ['file', createImage(), 'named.png'],
      ],
    ],
    ['the only file part', [['whatever', createImage(), 'named.png']]],
    [
      'the documented name before any other',
      [
        ['img_file', createImage(), 'named.png'],
        ['file', createImage('o'), 'o.png'],
      ],
    ],
    [
      'the last of several',
      [
        ['img_file', createImage('o'), 'o.png'],
        ['img_file', createImage(), 'named.png'],
      ],
    ],
  ] satisfies [string, Part[]][])('are found by %s', async (_, parts) => {
    await post(image, parts);
    expect(lastInput().names).toEqual(['named.png']);
  });

  it('are temporary until work claims them, whatever the order of the parts', async () => {
    await post(image, [
      ['ar', '1:1'],
      ['img_file', createImage('first'), 'ü.png'],
    ]);
    const first = lastInput();
    await post(image, [
      ['img_file', createImage('second'), 'ü.png'],
      ['ar', '1:1'],
      ['img_url', 'https://example.com/'],
    ]);
    const second = lastInput();
    expect(first).toMatchObject({ input: { aspectRatio: '1:1' }, names: ['ü.png'] });
    expect(second).toMatchObject({ input: { aspectRatio: '1:1' }, names: ['ü.png', 'https://example.com/'] });
    for (const { temporary, bytes, requestBytes } of server.media.files.values()) {
      expect(temporary).toBe(true);
      expect(requestBytes).toBeGreaterThan(bytes);
    }
  });

  it("leave out a browser's empty file input", async () => {
    const before = server.media.files.size;
    const body =
      '--b\r\nContent-Disposition: form-data; name="img_file"; filename=""\r\n' +
      'Content-Type: application/octet-stream\r\n\r\n\r\n--b--\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const reply = await server.send('POST', image, { body, headers });
    expect(reply).toMatchObject({ status: 200, body: { status: true } });
    expect(lastInput().names).toEqual([]);
    expect(server.media.files.size).toBe(before);
  });

  it('may come without a file name', async () => {
    const body =
      '--b\r\nContent-Disposition: form-data; name="img_file"; filename=""\r\n' +
      'Content-Type: application/octet-stream\r\n\r\nimage\r\n--b--\r\n';
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await server.send('POST', image, { body, headers })).status).toBe(200);
    const sha256 = createHash('sha256').update('image').digest('hex');
    expect([...server.media.files.values()].at(-1)).toMatchObject({ bytes: 5, sha256 });
  });

  it('are not stored when the request is refused anyway', async () => {
    const before = server.media.files.size;
    const { status, body } = await post('/api/agg/imga/sync/image?max_wait_time=soon', [
      ['img_file', createImage()],
    ]);
    expect(status).toBe(422);
    expect(body['detail']).toHaveLength(2);
    expect(server.media.files.size).toBe(before);
  });

  it('are refused only when nothing is wrong with the request itself', async () => {
    server.media.failWith(new AppError('BAD_USER_INPUT', 'the file is unfit'));
    const refused = await post(image, [['img_file', createImage()]]);
    expect(refused).toMatchObject({ status: 200, body: { status: false, msg: 'the file is unfit' } });
    const wrong = await post(image, [
      ['img_file', createImage()],
      ['ar', '1:1\0'],
    ]);
    expect(wrong.status).toBe(422);
    expect(wrong.body['detail']).toMatchObject([{ loc: ['body', 'ar'], type: 'value_error' }]);
  });

  it('are not even stored when a field before them is wrong', async () => {
    const before = server.media.requests.length;
    const reply = await post(image, [
      ['ar', '1:1\0'],
      ['img_file', createImage()],
    ]);
    expect(reply.status).toBe(422);
    expect(reply.body['detail']).toMatchObject([{ loc: ['body', 'ar'], type: 'value_error' }]);
    expect(server.media.requests).toHaveLength(before);
  });

  it('are missed where a field before them was wrong and came right afterwards', async () => {
    const reply = await post(image, [
      ['ar', '1:1\0'],
      ['img_file', createImage()],
      ['ar', '1:1'],
    ]);
    expect([reply.status, reply.body['detail']]).toMatchObject([422, [{ loc: ['body', 'ar'] }]]);
  });

  it('may not be text', async () => {
    const { status, body } = await post(image, [['img_file', 'https://example.com/a.png']]);
    expect(status).toBe(422);
    expect(body['detail']).toMatchObject([{ loc: ['body', 'img_file'], type: 'value_error' }]);
  });
});

describe('the upload operations', () => {
  it('keep the file and answer its address and facts', async () => {
    const sha256 = createHash('sha256').update('image').digest('hex');
    for (const [path, host] of [
      ['/api/file/upload', 'kiln'],
      ['/api/file/upload/s3', 'cdn'],
    ] as const) {
      const { body } = await post(path, [['file', createImage(), 'a.png']]);
      const [id, file] = [...server.media.files].at(-1) ?? [];
      expect(file).toMatchObject({ temporary: false, sha256 });
      expect(body).toEqual({
        status: true,
        data: `http://${host}.test/files/${id}/a.png`,
        msg: 'file stored',
        extra: { key: id, content_type: 'image/png', bytes: 5, sha256 },
      });
    }
  });

  it('keep only the best named part', async () => {
    const before = server.media.files.size;
    const { body } = await post('/api/file/upload', [
      ['drawing', createImage('other'), 'other.png'],
      ['file', createImage(), 'kept.png'],
    ]);
    expect(body['data']).toContain('kept.png');
    expect(server.media.files.size).toBe(before + 1);
  });

  it('keep nothing of a form that turns out to be broken after its file', async () => {
    const before = server.media.files.size;
    const body =
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nabc\r\n' +
      '--b\r\nContent-Disposition: form-data; name="more"\r\n\r\ncut';
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect((await server.send('POST', '/api/file/upload', { body, headers })).status).toBe(422);
    expect(server.media.requests.map(({ name }) => name).slice(-2)).toEqual(['UploadFile', 'RemoveFile']);
    expect(server.media.files.size).toBe(before);
  });

  it('name what arrived when the file is missing', async () => {
    const wrongName = await post('/api/file/upload', [['files', 'text']]);
    expect(wrongName.body).toEqual({
      detail: [{ loc: ['body', 'file'], msg: 'Field required (received: files)', type: 'missing' }],
      ignored: ['files'],
    });
    const nothing = await server.send('POST', '/api/file/upload');
    expect(nothing.body).toMatchObject({ detail: [{ loc: ['body', 'file'], type: 'missing' }] });
    const noForm = await server.send('POST', '/api/file/upload', { json: { file: 'x' } });
    expect(noForm.body['detail']).toMatchObject([{ msg: 'Field required (received: no form)' }]);
  });

  it('tell a required text that is empty', async () => {
    const { body } = await post('/api/vidb/async/generate/video', [['prompt', '']]);
    expect(body['detail']).toMatchObject([{ msg: 'Field required (received: prompt: empty)' }]);
  });

  it('answer what the schema says when it refuses the file unread', async () => {
    server.media.failWith(new AppError('UNAUTHENTICATED', 'sign in'));
    const big = new Blob([new Uint8Array(8 * 1024 * 1024)]);
    const { status, body } = await post('/api/file/upload', [['file', big, 'big.bin']]);
    expect(status).toBe(401);
    expect(body).toMatchObject({ status: false, msg: 'sign in' });
  });
});

describe('a form that breaks its framing or its bounds', () => {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };

  it.each([
    ['ends too early', '--b\r\nContent-Disposition: form-data; name="ar"\r\n\r\n1:1', headers],
    [
      'ends within a file',
      '--b\r\nContent-Disposition: form-data; name="img_file"; filename="a"\r\n\r\nabc',
      headers,
    ],
    ['has no boundary', 'x', { 'content-type': 'multipart/form-data' }],
    ['is compressed', 'x', { ...headers, 'content-encoding': 'gzip' }],
  ])('is one problem of the body when it %s', async (_, body, headers) => {
    const before = server.media.files.size;
    const reply = await server.send('POST', image, { body, headers });
    expect(reply.status).toBe(422);
    expect(reply.body['detail']).toMatchObject([{ loc: ['body'], type: 'value_error' }]);
    expect(server.media.files.size).toBe(before);
  });

  it.each([
    ['too many fields', Array.from({ length: 201 }, (_, index): Part => [`f${index}`, 'x'])],
    ['too many files', Array.from({ length: 21 }, (_, index): Part => [`f${index}`, createImage()])],
    ['a field too long', [['ar', 'x'.repeat(1024 * 1024 + 1)]]],
    ['too much text', Array.from({ length: 9 }, (_, index): Part => [`f${index}`, 'x'.repeat(500 * 1024)])],
  ] satisfies [string, Part[]][])('is 413 with %s', async (_, parts) => {
    const { status, body } = await post(image, parts);
    expect(status).toBe(413);
    expect(body).toMatchObject({ status: false, data: null });
  });
});

/** Writes a multipart body of one file chunk by chunk, with text before and after it. */
async function stream(request: ClientRequest, bytes: number, chunk: Buffer): Promise<void> {
  const text = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n1:1\r\n`;
  const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n';
  request.write(`${text('before')}${head}`);
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    const part = chunk.subarray(0, Math.min(chunk.length, bytes - sent));
    if (!request.write(part)) await new Promise((resolve) => request.once('drain', resolve));
  }
  request.end(`\r\n${text('after')}--b--\r\n`);
}

async function uploadStreamed(bytes: number, chunk: Buffer): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const request = httpRequest(`${server.url}/api/file/upload`, { method: 'POST', headers }, (response) => {
    let body = '';
    response.setEncoding('utf8').on('data', (text: string) => (body += text));
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
  });
  request.on('error', reject);
  await stream(request, bytes, chunk);
  return promise;
}

describe('a large file', () => {
  // In `npm test` by test/rest/media/uploads.test.ts, at a whole Kiln.
  it.runIf(isWhole)('streams through without being held, and arrives whole', async () => {
    const bytes = 300 * 1024 * 1024;
    const chunk = Buffer.alloc(1024 * 1024, 7);
    let highest = 0;
    const sampler = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage().rss);
    }, 20);
    const before = process.memoryUsage().rss;
    try {
      const { status, body } = await uploadStreamed(bytes, chunk);
      const hash = createHash('sha256');
      for (let index = 0; index < 300; index += 1) hash.update(chunk);
      expect(status).toBe(200);
      expect(JSON.parse(body)).toMatchObject({ status: true, extra: { bytes, sha256: hash.digest('hex') } });
    } finally {
      clearInterval(sampler);
    }
    // Client and server share this process; a held file would show as twice this.
    expect(highest - before).toBeLessThan(bytes / 2);
  });

  it('is 413 one byte over the limit, with nothing stored, and whole at the limit', async () => {
    const small = await startRestServer({ settings: { uploadMaxBytes: 100_000 } });
    try {
      const send = (bytes: number): Promise<RestReply> =>
        small.send('POST', '/api/file/upload', {
          body: createForm([['file', new Blob([new Uint8Array(bytes)])]]),
        });
      expect(await send(100_001)).toMatchObject({ status: 413, body: { status: false, data: null } });
      expect(small.media.files.size).toBe(0);
      expect(await send(100_000)).toMatchObject({ status: 200, body: { extra: { bytes: 100_000 } } });
    } finally {
      await small.close();
    }
  });

  it('leaves nothing behind when its sender hangs up', async () => {
    const before = server.media.files.size;
    const asked = server.media.requests.length;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const request = httpRequest(`${server.url}/api/file/upload`, { method: 'POST', headers });
    const failed = new Promise((resolve) => request.on('error', resolve));
    request.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n');
    request.write(Buffer.alloc(200_000));
    await vi.waitUntil(() => server.media.requests.length > asked);
    request.destroy();
    await failed;
    expect((await server.send('GET', '/')).status).toBe(200);
    expect(server.media.files.size).toBe(before);
    expect(server.errors).toEqual([]);
  });
});
