import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startRestServer, type RestReply, type RestServer } from './fixtures/rest-server.ts';

/** Fields that an operation does not read, and fields under other names than the documented one. */

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
afterAll(() => server.close());

const custom = '/api/custom/image/submit/task';

function post(path: string, fields: Readonly<Record<string, string | Blob>>): Promise<RestReply> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string') body.append(name, value);
    else body.append(name, value, 'a.png');
  }
  return server.send('POST', path, { body });
}

const image = new Blob(['image'], { type: 'image/png' });

/** The input of the latest generateImage. */
const latest = () =>
  server.media.requests.findLast(({ name }) => name === 'GenerateImage')?.variables['input'];

describe('a field that no operation reads', () => {
  it('is named in msg and in a header', async () => {
    const { body, headers } = await post(custom, { prompt: 'a cup', quality: 'high', größe: '1' });
    expect(body).toMatchObject({ status: true, msg: 'task submitted (ignored: quality, größe)' });
    expect(headers.get('x-ignored-fields')).toBe('quality, gr%C3%B6%C3%9Fe');
  });

  it('is named where the prompt belongs into the query, and of JSON', async () => {
    const path = '/api/agg/imga/async/generate/image?prompt=a%20cup';
    expect((await post(path, { prompt: 'a dog', n: '2' })).body['msg']).toContain('(ignored: prompt, n)');
    const json = { task_type: 'tea', prompt: 'a cup', seed: 7 };
    const { body } = await server.send('POST', '/api/task/create/task', { json });
    expect(body['msg']).toBe('task submitted (ignored: seed)');
  });

  it('is named of the query', async () => {
    const { body } = await post(`${custom}?quality=high&prompt=x`, { prompt: 'a cup' });
    expect(body['msg']).toBe('task submitted (ignored: quality, prompt)');
    const read = await server.send('GET', '/api/custom/model/list?page=2');
    expect(read.body['msg']).toContain('(ignored: page)');
    expect(read.headers.get('x-ignored-fields')).toBe('page');
  });

  it('is named by a refusal too', async () => {
    const invalid = await server.send('POST', '/api/task/create/task', {
      json: { prmopt: 'a cup', seed: 7 },
    });
    expect([invalid.status, invalid.headers.get('x-ignored-fields')]).toEqual([422, 'prmopt, seed']);
    expect(invalid.body).toMatchObject({ ignored: ['prmopt', 'seed'] });
    const refused = await post(custom, {
      prompt: 'a cup',
      ar: '16:9',
      aspect_ratio: '9:16',
      quality: 'high',
    });
    expect(refused.body).toMatchObject({ status: false, msg: expect.stringContaining('(ignored: quality)') });
    const template = await server.send('POST', '/templates?dry=1', { json: { title: 'Poster' } });
    expect([template.status, template.headers.get('x-ignored-fields')]).toEqual([400, 'dry, title']);
  });

  it('is a file beside the one that is used', async () => {
    const { body } = await post(custom, { prompt: 'a cup', img_file: image, mask: image });
    expect(body['msg']).toBe('task submitted (ignored: mask)');
  });

  it('keeps the message short, whatever is sent', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`${index}${'x'.repeat(90)}`, '1']),
    );
    const { body } = await post(custom, { prompt: 'a cup', ...many });
    expect(String(body['msg']).length).toBeLessThan(1_200);
  });

  it('is not told of fields that are all read, nor of a JSON body that may have any', async () => {
    const { body, headers } = await post(custom, { prompt: 'a cup', seed: '7' });
    expect([body['msg'], headers.get('x-ignored-fields')]).toEqual(['task submitted', null]);
    const json = { task_type: 'unread', own: 1 };
    const created = await server.send('POST', '/api/template/create', { json });
    expect(created.headers.get('x-ignored-fields')).toBeNull();
  });
});

describe('a field under another name', () => {
  it.each([
    [{ ar: '16:9' }, { aspectRatio: '16:9' }],
    [{ aspect_ratio: '16:9' }, { aspectRatio: '16:9' }],
    [{ num: '2' }, { count: 2 }],
    [{ count: '2', n: '2' }, { count: 2 }],
    [{ size: '1024x1024' }, { resolution: '1024x1024' }],
    [{ img: 'https://example.com/a.png' }, { images: [{ url: 'https://example.com/a.png' }] }],
    [{ image_url: 'https://example.com/a.png' }, { images: [{ url: 'https://example.com/a.png' }] }],
    [{ image: image }, { images: [{ fileId: expect.any(String) }] }],
    [{ image_url: image }, { images: [{ fileId: expect.any(String) }] }],
  ])('%j is read', async (fields, input) => {
    const { body } = await post(custom, { prompt: 'a cup', ...fields });
    expect(body).toMatchObject({ status: true, msg: 'task submitted' });
    expect(latest()).toEqual({ generator: 'custom', prompt: 'a cup', ...input });
  });

  it.each([
    [{ ar: '16:9', aspect_ratio: '9:16' }, 'ar and aspect_ratio are the same and differ: send one of them'],
    [{ n: '1', count: '2' }, 'n and count are the same and differ: send one of them'],
    [{ size: '8k', resolution: '4k' }, 'resolution and size are the same and differ: send one of them'],
  ])('is refused when two names differ: %j', async (fields, msg) => {
    const before = server.media.requests.length;
    const reply = await post(custom, { prompt: 'a cup', ...fields });
    expect([reply.status, reply.body]).toEqual([200, { status: false, data: null, msg }]);
    expect(server.media.requests).toHaveLength(before);
  });

  it('is refused when another file came under it, and taken with the same one', async () => {
    const other = new Blob(['another image'], { type: 'image/png' });
    const differing = await post(custom, { prompt: 'a cup', img_file: image, image: other });
    expect(differing.body).toEqual({
      status: false,
      data: null,
      msg: 'img_file and image are the same and differ: send one of them',
    });
    const same = await post(custom, { prompt: 'a cup', img_file: image, image: image });
    expect(same.body).toMatchObject({ status: true, msg: 'task submitted' });
  });

  it('is told by the OpenAPI document', async () => {
    const { body } = await server.send('GET', '/openapi.json');
    const { paths } = body as any; // oxlint-disable-line typescript/no-explicit-any -- read as it is
    const { properties } = paths[custom].post.requestBody.content['multipart/form-data'].schema;
    expect(properties.ar['x-aliases']).toEqual(['aspect_ratio']);
    expect(properties.n['x-aliases']).toEqual(['num', 'count']);
    expect(properties.img_file['x-aliases']).toEqual(['image_file', 'img', 'image', 'img_url', 'image_url']);
    expect(properties.img_url['x-aliases']).toEqual(['image_url', 'img', 'image']);
    const frames = paths['/api/custom/extend/frame/submit/task'].post.requestBody.content;
    expect(frames['application/x-www-form-urlencoded'].schema.properties.first_img_url['x-aliases']).toEqual([
      'first_image_url',
      'first_img',
      'first_image',
    ]);
    const detection =
      paths['/api/cloud/humanvid/video/submit/task'].post.requestBody.content['multipart/form-data'];
    expect(detection.schema.properties.img_input['x-aliases']).toContain('image_url');
  });
});
