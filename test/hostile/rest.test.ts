import { connect } from 'node:net';
import { Readable } from 'node:stream';

import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** Requests that nobody means well with: each gets an answer that says what is wrong, none a 500, and the server goes on. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true, settings: { REST_AUTH: 'open' } });
});
afterAll(() => kiln.close());

interface Answer {
  readonly status: number;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the operation's; tests assert it
  readonly body: any;
}

async function send(
  method: string,
  path: string,
  body?: string | Uint8Array | (() => Generator<string>),
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const answer = await request(`${kiln.url}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: typeof body === 'function' ? Readable.from(body()) : body }),
  });
  const text = await answer.body.text();
  return { status: answer.statusCode, body: text.startsWith('{') ? JSON.parse(text) : text };
}

const json = (value: unknown, headers: Record<string, string> = {}) =>
  send('POST', '/api/task/create/task', typeof value === 'string' ? value : JSON.stringify(value), headers);
const form = (body: string, type = 'application/x-www-form-urlencoded') =>
  send('POST', '/api/agg/imga/sync/image?prompt=a%20boat&max_wait_time=1', body, { 'content-type': type });
const types = ({ body }: Answer): string[] => body.detail.map(({ type }: { type: string }) => type);

/** Whether a request was turned down in one of the two ways that the documents know. */
const refused = ({ status, body }: Answer): boolean =>
  status === 422 || (status === 200 && body.status === false && body.data === null);

const tea = { task_type: 'tea', prompt: 'a cup' };
const lone = '{"task_type":"tea","prompt":"\\ud800"}';

describe('texts', () => {
  it.each([
    ['a NUL byte in the query', () => send('GET', '/api/template/default?task_type=a%00b'), 'value_error'],
    ['a NUL byte in the path', () => send('GET', '/api/task/status/%00'), 'value_error'],
    ['half a character in the path', () => send('GET', '/api/task/status/%ff%fe'), 'string_type'],
    ['a NUL character in JSON', () => json({ ...tea, prompt: 'a\0b' }), 'value_error'],
    ['a NUL character in the name of a field', () => json({ ...tea, 'a\0b': 1 }), 'value_error'],
    ['half a character in JSON', () => json(lone), 'value_error'],
    ['a NUL byte in a form', () => form('ar=%00'), 'value_error'],
  ])('%s', async (_, ask, type) => {
    const answer = await ask();
    expect([answer.status, types(answer)]).toEqual([422, [type]]);
  });

  it('of megabytes, and in every script, are taken or refused in words', async () => {
    const long = await json({ ...tea, prompt: 'x'.repeat(900_000) });
    expect([long.status, long.body.status, long.body.msg]).toEqual([
      200,
      false,
      expect.stringContaining('1500'),
    ]);
    const scripts = await json({ ...tea, prompt: '茶 ☕ 𝒳 \u202e \u0001 <script> "; drop table tasks; --' });
    expect(scripts.body.status).toBe(true);
    const halved = await send('GET', '/api/template/check/task_type?task_type=%ff');
    expect(halved.body.data).toEqual({ task_type: '\ufffd', available: true });
    const taskType = await send('GET', `/api/template/check/task_type?task_type=${'y'.repeat(10_000)}`);
    expect([taskType.status, taskType.body.status]).toEqual([200, false]);
  });
});

describe('numbers', () => {
  it.each([
    '2147483648',
    '-1',
    '0',
    '9223372036854775808',
    '1e999',
    '99999999999999999999999999',
    '0x10',
    '١',
  ])('an id of %s is refused, or names nothing', async (id) => {
    const removed = await send('DELETE', `/api/template/delete/${encodeURIComponent(id)}`);
    expect(refused(removed)).toBe(true);
    const changed = await send('PUT', '/api/template/update', `{"id":${JSON.stringify(id)},"prompt":"x"}`);
    expect(refused(changed)).toBe(true);
  });

  it('beyond what JSON numbers hold are no ids either', async () => {
    for (const id of ['1e400', '-0', '1.5', '123456789012345678901234567890', '[1]', 'true', 'null']) {
      const answer = await send('PUT', '/api/template/update', `{"id":${id},"prompt":"x"}`);
      expect([id, refused(answer)]).toEqual([id, true]);
    }
    const page = await send('GET', '/api/template/default?page=99999999999999999999&page_size=1000');
    expect([page.status, page.body.data]).toEqual([200, []]);
  });
});

describe('parameters', () => {
  it('that are repeated count by their last value', async () => {
    const many = `${'page=x&'.repeat(2_000)}page=2&page_size=1`;
    const { status, body } = await send('GET', `/api/template/default?${many}`);
    expect([status, body.page, body.page_size]).toEqual([200, 2, 1]);
    const brackets = await send(
      'GET',
      '/api/template/default?page[]=x&page[a][b]=1&__proto__[x]=1&constructor=1',
    );
    expect([brackets.status, brackets.body.page]).toEqual([200, 1]);
  });

  it('may be as long as the longest prompt, and beyond the limit are refused, not a fault of the server', async () => {
    const prompt = encodeURIComponent('猫'.repeat(4_000));
    const { status, body } = await send('GET', `/api/imga/prompt/check?prompt=${prompt}`);
    expect([status, body.status]).toEqual([200, true]);
    // The server may close before the last byte is out.
    const beyond = send('GET', `/api/template/default?task_type=${'z'.repeat(100_000)}`);
    expect([431, 'cut off']).toContain(await beyond.then((answer) => answer.status).catch(() => 'cut off'));
  });

  it('that say nothing sensible are no fault of the server', async () => {
    expect((await send('GET', '/%%%%?%%%=%&&&===')).status).toBe(404);
    expect((await send('GET', '//evil.example.org/..%2f..%2fetc/passwd')).status).toBe(404);
    expect((await send('GET', '/api/task/status/..%2f..%2fhealth')).body.status).toBe(false);
  });
});

describe('JSON bodies', () => {
  it.each([
    ['an array', '[{"task_type":"tea","prompt":"x"}]', ['body'], 'dict_type'],
    ['a text', '"tea"', ['body'], 'dict_type'],
    ['a number', '42', ['body'], 'dict_type'],
    ['null', 'null', ['body'], 'missing'],
    ['nothing', '', ['body'], 'missing'],
    ['half of it', '{"task_type":"tea",', ['body', 19], 'json_invalid'],
    ['a comment', '{"a":1 /* b */}', ['body', 7], 'json_invalid'],
    ['500,000 brackets', '['.repeat(500_000), ['body', 500_000], 'json_invalid'],
    [
      'a depth of 10,000',
      `{"task_type":"tea","prompt":"x","a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      ['body'],
      'value_error',
    ],
    ['bytes that are no text', '\u00ff\u00fe\u0000', ['body', 0], 'json_invalid'],
  ])('of %s are a 422 that says where', async (_, body, loc, type) => {
    const answer = await json(body);
    expect([answer.status, answer.body.detail?.[0]]).toMatchObject([422, { loc, type }]);
  });

  it('of wrong encodings are refused in words', async () => {
    const utf16 = await send('POST', '/api/task/create/task', Buffer.from(JSON.stringify(tea), 'utf16le'));
    expect([utf16.status, types(utf16)]).toEqual([422, ['json_invalid']]);
    const gzip = await json(tea, { 'content-encoding': 'gzip' });
    expect([gzip.status, types(gzip)]).toEqual([422, ['value_error']]);
    expect((await json(tea, { 'content-type': 'text/xml; charset=klingon' })).body.status).toBe(true);
  });

  it('do not reach into objects, however their fields are named', async () => {
    const body =
      '{"task_type":"proto","__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}';
    const { status } = await send('POST', '/api/template/create', body);
    expect(status).toBe(200);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    const deep = { task_type: 'deep', tree: {} };
    let at: Record<string, unknown> = deep.tree;
    for (let level = 0; level < 60; level += 1) at = at['b'] = {};
    const answer = await send('POST', '/api/template/create', JSON.stringify(deep));
    expect(refused(answer)).toBe(true);
  });

  it('larger than a megabyte are too large', async () => {
    const { status, body } = await json({ ...tea, prompt: 'x'.repeat(1_100_000) });
    expect([status, body]).toMatchObject([413, { status: false, data: null }]);
    const wide = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`field${index}`, index]));
    expect((await json({ ...tea, ...wide })).body.status).toBe(true);
  });
});

describe('forms', () => {
  it('of 10,000 fields are too large', async () => {
    const urlencoded = Array.from({ length: 10_000 }, (_, index) => `f${index}=${index}`).join('&');
    const parts = Array.from(
      { length: 10_000 },
      (_, index) => `--x\r\nContent-Disposition: form-data; name="f${index}"\r\n\r\n${index}\r\n`,
    ).join('');
    for (const answer of [
      await form(urlencoded),
      await form(`${parts}--x--\r\n`, 'multipart/form-data; boundary=x'),
    ]) {
      expect([answer.status, answer.body]).toMatchObject([
        413,
        { status: false, msg: expect.stringContaining('too many') },
      ]);
    }
  });

  it.each([
    ['without a boundary', 'x', 'multipart/form-data'],
    ['that never begin', 'no part at all', 'multipart/form-data; boundary=x'],
    [
      'that never end',
      '--x\r\nContent-Disposition: form-data; name="ar"\r\n\r\n1:1',
      'multipart/form-data; boundary=x',
    ],
    [
      'whose header never ends',
      `--x\r\nContent-Disposition: ${'y'.repeat(100_000)}`,
      'multipart/form-data; boundary=x',
    ],
  ])('%s are explained', async (_, body, type) => {
    const answer = await form(body, type);
    expect([answer.status, answer.body.detail]).toMatchObject([
      422,
      [{ loc: ['body'], msg: expect.stringMatching(/\w/), type: 'value_error' }],
    ]);
  });

  it('with files of odd names and types store them under safe ones', async () => {
    for (const [name, type] of [
      ['../../../etc/passwd', 'text/plain'],
      ['a\\"b.html', 'text/html'],
      ['%00.png', 'image/png; charset=\\u0000'],
      ['x'.repeat(5_000), '*/*'],
      ['猫'.repeat(80), 'application/x-msdownload'],
    ] as const) {
      const body = `--x\r\nContent-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n<script>alert(1)</script>\r\n--x--\r\n`;
      const headers = { 'content-type': 'multipart/form-data; boundary=x' };
      const { status, body: answer } = await send('POST', '/api/file/upload', body, headers);
      expect([status, answer.status]).toEqual([200, true]);
      const stored = await request(answer.data);
      expect(await stored.body.text()).toBe('<script>alert(1)</script>');
      expect(stored.headers['x-content-type-options']).toBe('nosniff');
      expect(
        `${String(stored.headers['content-type'])} ${String(stored.headers['content-disposition'])}`,
      ).not.toMatch(/text\/html.*inline/);
    }
  });
});

describe('addresses to fetch', () => {
  it.each([
    'file:///etc/passwd',
    'http://user:secret@example.org/a.png',
    'javascript:alert(1)',
    'not an address',
    'http://',
  ])('%s is refused before a task is made', async (img_url) => {
    const { status, body } = await json({ ...tea, img_url });
    expect([status, body.status, body.data]).toEqual([200, false, null]);
    expect(body.msg).not.toContain('secret');
  });
});

it('bytes that are no HTTP get 400, and the server goes on', async () => {
  const { hostname, port } = new URL(kiln.url);
  for (const bytes of [
    '\x16\x03\x01\x02\x00\x01',
    'GET / HTTP/9.9\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n',
  ]) {
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    const answer: Buffer[] = [];
    socket.on('data', (data) => answer.push(data));
    socket.write(bytes);
    await new Promise((resolve) => socket.once('close', resolve));
    expect(Buffer.concat(answer).toString()).toMatch(/^(HTTP\/1\.1 (400|505) |$)/);
  }
  expect((await send('GET', '/')).body.status).toBe(true);
});
