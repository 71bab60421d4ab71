import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startRestServer, type RestServer } from './fixtures/rest-server.ts';

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
afterAll(() => server.close());

/** `loc` and `type` of every problem of a 422 body. */
async function problems(method: string, path: string, options = {}): Promise<unknown> {
  const { status, body } = await server.send(method, path, options);
  expect(status).toBe(422);
  expect(Object.keys(body)).toEqual(['detail']);
  const detail = body['detail'] as { loc: unknown[]; msg: string; type: string }[];
  for (const each of detail) expect(Object.keys(each).toSorted()).toEqual(['loc', 'msg', 'type']);
  return detail.map(({ loc, type }) => [loc, type]);
}

describe('a query that is not as documented', () => {
  it('is answered with every problem at once', async () => {
    expect(await problems('GET', '/api/template/default?page=0&page_size=1001')).toEqual([
      [['query', 'page'], 'greater_than_equal'],
      [['query', 'page_size'], 'less_than_equal'],
    ]);
    expect(await problems('GET', '/api/template/default?page=&page_size=ten&category=%00')).toEqual([
      [['query', 'page'], 'int_parsing'],
      [['query', 'page_size'], 'int_parsing'],
      [['query', 'category'], 'value_error'],
    ]);
  });

  it('is taken where the document leaves room', async () => {
    const reply = await server.send(
      'GET',
      '/api/template/default?page=zero&page=%201.0%20&page_size=1.0&nobody=1',
    );
    expect(reply).toMatchObject({ status: 200, body: { page: 1, page_size: 1 } });
  });

  it('names what was received when something is missing', async () => {
    const { body } = await server.send('GET', '/api/template/check/task_type?type=tea');
    expect(body).toEqual({
      detail: [{ loc: ['query', 'task_type'], msg: 'Field required (received: type)', type: 'missing' }],
      ignored: ['type'],
    });
  });

  it('bounds the list of received names', async () => {
    const many = Array.from({ length: 300 }, (_, index) => `${'n'.repeat(30)}${index}=1`).join('&');
    const { status, body } = await server.send('GET', `/api/template/check/task_type?${many}`);
    expect(status).toBe(422);
    expect(JSON.stringify(body).length).toBeLessThan(2_000);
  });
});

describe('a path that is not as documented', () => {
  it('is answered with the name of its parameter', async () => {
    expect(await problems('DELETE', '/api/template/delete/seven')).toEqual([
      [['path', 'template_id'], 'int_parsing'],
    ]);
    expect(await problems('GET', '/api/task/status/%00')).toEqual([[['path', 'task_id'], 'value_error']]);
    expect(await problems('GET', '/api/task/status/%E0%A4')).toEqual([[['path', 'task_id'], 'string_type']]);
  });
});

describe('a JSON body that is not as documented', () => {
  const path = '/api/task/create/task';

  it('is answered with every problem at once', async () => {
    const json = { task_type: 'cake', img_url: 7, ar: null };
    expect(await problems('POST', path, { json })).toEqual([
      [['body', 'task_type'], 'literal_error'],
      [['body', 'prompt'], 'missing'],
      [['body', 'img_url'], 'string_type'],
      [['body', 'ar'], 'string_type'],
    ]);
  });

  it('is located at the body when there is none, or when it is not an object', async () => {
    expect(await problems('POST', path)).toEqual([[['body'], 'missing']]);
    expect(await problems('POST', path, { body: 'null' })).toEqual([[['body'], 'missing']]);
    expect(await problems('POST', path, { json: [1] })).toEqual([[['body'], 'dict_type']]);
    expect(await problems('POST', path, { json: 'text' })).toEqual([[['body'], 'dict_type']]);
  });

  it('is located at the offset where it stops being JSON', async () => {
    expect(await problems('POST', path, { body: '{"a": x}' })).toEqual([[['body', 6], 'json_invalid']]);
    expect(await problems('POST', path, { body: '{"a": 1' })).toEqual([[['body', 7], 'json_invalid']]);
  });

  it('is refused when it holds what nobody can store, or is compressed', async () => {
    expect(await problems('POST', path, { json: { task_type: 'tea', prompt: 'a', more: ['\0'] } })).toEqual([
      [['body'], 'value_error'],
    ]);
    const headers = { 'content-encoding': 'gzip' };
    expect(await problems('POST', path, { body: '{}', headers })).toEqual([[['body'], 'value_error']]);
  });

  it('is taken whatever its content type says, with a byte order mark too', async () => {
    const body = '\ufeff{"task_type":"tea","prompt":"a cup"}';
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
    ]) {
      const reply = await server.send('POST', path, { body, headers: { 'content-type': type } });
      expect(reply).toMatchObject({ status: 200, body: { status: true } });
    }
  });

  it('has its named fields checked where it may hold others', async () => {
    const json = { id: '1.5', task_type: 1, title_zh: null, prompt: null, mood: { any: 'thing' } };
    expect(await problems('PUT', '/api/template/update', { json })).toEqual([
      [['body', 'id'], 'int_parsing'],
      [['body', 'task_type'], 'string_type'],
      [['body', 'prompt'], 'string_type'],
    ]);
    expect(await problems('POST', '/api/template/create', { json: { id: 1.5 } })).toEqual([
      [['body', 'id'], 'int_type'],
      [['body', 'task_type'], 'missing'],
    ]);
  });

  it('is refused with 413 above a mebibyte', async () => {
    const json = { task_type: 'tea', prompt: 'x'.repeat(1024 * 1024) };
    const { status, body } = await server.send('POST', path, { json });
    expect(status).toBe(413);
    expect(body).toMatchObject({ status: false, data: null });
  });
});
