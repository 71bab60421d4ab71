import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { type HttpClient, HttpFailure, type HttpRequest } from '../../../../platform/http/http-client.ts';
import { catchFailure, createImage } from '../../../../test/providers/environment/environment.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext } from '../contract/provider.ts';
import {
  beforeStart,
  createByteExchange,
  createExchange,
  dataUri,
  errorOfStatus,
  toRemoteFile,
  readRetryAfter,
  throwStatus,
} from './exchange.ts';
import { inputIn } from './model-fields.ts';
import { percentOfLogs, parseDetail } from './reader.ts';
import { chooseRatio, contentItems, formValue, withVendorOptions } from './request-body.ts';
import { createSignatureCheck, isRecent } from './signed-webhook.ts';
import { putFile } from './upload-address.ts';

/** The rules that the requests of every provider share, over a client that answers as the test says. */

const { signal } = new AbortController();
const context = {
  signal,
  connection: {
    baseUrl: 'https://api.example//',
    pathPrefix: '/v1',
    headers: { authorization: 'Bearer k' },
    endpoints: { upload: 'https://up.example/x' },
    resultOrigins: ['https://cdn.example'],
  },
} as unknown as CallContext;

function createClient(answer: { status?: number; headers?: Record<string, string>; text?: string } | Error) {
  const sent: HttpRequest[] = [];
  const http = {
    async request(request: HttpRequest) {
      sent.push(request);
      if (answer instanceof Error) throw answer;
      const { status = 200, headers = {}, text = '{}' } = answer;
      return { status, headers, body: Buffer.from(text) };
    },
  } as unknown as HttpClient;
  return { http, sent };
}

const file = (bytes: number, stream = Readable.from([Buffer.from('abc')])) =>
  ({ bytes, contentType: 'image/png', open: async () => stream }) as unknown as InputFile;
const catchError = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

describe('a request to a provider', () => {
  it('goes to its address with the headers of the connection, within limits, and is not repeated', async () => {
    const { http, sent } = createClient({});
    const exchange = createExchange(http);
    await exchange(context, { method: 'POST', path: '/a', json: { b: 1 }, headers: { accept: 'x/y' } });
    await exchange(context, { method: 'GET', path: '/b', retry: 'safe', timeoutMs: 7, maxBytes: 8 });
    const trustedOrigins = ['https://api.example', 'https://up.example', 'https://cdn.example'];
    expect(sent).toEqual([
      {
        method: 'POST',
        url: 'https://api.example/v1/a',
        headers: { accept: 'x/y', 'content-type': 'application/json', authorization: 'Bearer k' },
        body: '{"b":1}',
        timeoutMs: 30_000,
        maxBytes: 4 * 1024 * 1024,
        signal,
        retry: 'never',
        trustedOrigins,
      },
      {
        method: 'GET',
        url: 'https://api.example/v1/b',
        headers: { accept: 'application/json', authorization: 'Bearer k' },
        timeoutMs: 7,
        maxBytes: 8,
        signal,
        retry: 'safe',
        trustedOrigins,
      },
    ]);
  });

  it('has an answer of JSON, of nothing, or of a page where one may come; a success of something else is none', async () => {
    const ask = (answer: Parameters<typeof createClient>[0], more: object = {}) =>
      catchError(createExchange(createClient(answer).http)(context, { method: 'GET', path: '/', ...more }));
    const page = { headers: { 'content-type': 'text/html; charset=utf-8' }, text: '<html>' };
    expect(await ask({ text: '{"a":1}' })).toMatchObject({ status: 200, json: { a: 1 } });
    expect(await ask({ text: '' })).toMatchObject({ json: undefined });
    expect(await ask(page, { mayBePage: true })).toMatchObject({ json: undefined });
    expect(await ask({ ...page, status: 502 })).toMatchObject({ status: 502, json: undefined });
    for (const wrong of [page, { text: 'soon' }])
      expect(await ask(wrong)).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
  });

  it('for a file has its bytes, and the words of an error', async () => {
    const ask = (answer: Parameters<typeof createClient>[0]) =>
      createByteExchange(createClient(answer).http)(context, { method: 'GET', path: '/' });
    expect(await ask({ text: 'bytes' })).toMatchObject({ body: Buffer.from('bytes'), json: undefined });
    expect(await ask({ status: 400, text: '{"a":1}' })).toMatchObject({ status: 400, json: { a: 1 } });
  });

  it('that fails on its way is told by whether it can have arrived', async () => {
    const ask = (error: Error) =>
      catchError(createExchange(createClient(error).http)(context, { method: 'GET', path: '/' }));
    const failure = (code: HttpFailure['code'], sent: boolean) => new HttpFailure(code, 'x', { sent });
    expect(await ask(failure('TIMED_OUT', true))).toMatchObject({
      code: 'TIMED_OUT',
      message: 'the provider did not answer (timed out)',
      startUnknown: true,
    });
    expect(await ask(failure('CONNECT', false))).toMatchObject({ code: 'UNAVAILABLE', startUnknown: false });
    expect(await ask(new TypeError('ours'))).toBeInstanceOf(TypeError);
  });
});

describe('the status of an answer', () => {
  const answer = (status: number, headers = {}, json: unknown = {}) => ({ status, headers, json });

  it.each([
    [200, undefined, false],
    [399, undefined, false],
    [400, 'INVALID_INPUT', false],
    [401, 'UNAVAILABLE', false],
    [402, 'OUT_OF_CREDIT', false],
    [403, 'UNAVAILABLE', false],
    [404, 'LOST', false],
    [405, 'UNAVAILABLE', false],
    [408, 'UNAVAILABLE', true],
    [410, 'LOST', false],
    [429, 'RATE_LIMITED', false],
    [500, 'UNAVAILABLE', true],
    [503, 'UNAVAILABLE', true],
  ])('%i is %s', (status, code, startUnknown) => {
    const error = errorOfStatus(answer(status, { 'retry-after': '7' }), 'its words');
    expect([error?.code, error?.startUnknown ?? false]).toEqual([code, startUnknown]);
    const isRefused = status === 401 || status === 403;
    expect(error?.refusedCredentials ?? false).toBe(isRefused);
    const comesAgain = status === 408 || status === 429 || status >= 500;
    expect(error?.retryAfter).toBe(comesAgain ? 7 : undefined);
  });

  it('is about work, about the model, or about the address', () => {
    const code = (status: number, message: string, more: object) => {
      try {
        throwStatus(answer(status), { message, isAboutWork: false, ...more });
        return null;
      } catch (error) {
        return (error as UpstreamError).code;
      }
    };
    expect(code(200, 'x', {})).toBeNull();
    expect(code(404, 'nothing', { isAboutWork: true })).toBe('LOST');
    expect(code(404, 'nothing', {})).toBe('UNAVAILABLE');
    expect(code(404, 'nothing', { start: 'path' })).toBe('MODEL_GONE');
    expect(code(404, 'no such file', { start: 'path' })).toBe('UNAVAILABLE');
    expect(code(404, 'nothing', { start: 'body' })).toBe('UNAVAILABLE');
    expect(code(400, 'unknown model x', { start: 'body' })).toBe('MODEL_GONE');
    expect(code(500, 'unknown model x', { start: 'body' })).toBe('UNAVAILABLE');
    expect(code(400, 'unknown model x', {})).toBe('INVALID_INPUT');
  });

  it('says when to come again: in seconds, by a date, and within an hour', () => {
    const after = (value?: string) =>
      readRetryAfter(answer(429, value === undefined ? {} : { 'retry-after': value }));
    expect(['1.2', '0', '99999', 'soon', undefined].map(after)).toEqual([2, 0, 3_600, undefined, undefined]);
    const inHalfAMinute = after(new Date(Date.now() + 30_000).toUTCString());
    expect(inHalfAMinute).toBeGreaterThan(25);
    expect(inHalfAMinute).toBeLessThanOrEqual(30);
    expect(after(new Date(0).toUTCString())).toBe(0);
  });
});

describe('files', () => {
  it('are sent within a request up to a size', async () => {
    expect(await dataUri(file(20 * 1024 * 1024), 'image')).toBe('data:image/png;base64,YWJj');
    await expect(dataUri(file(20 * 1024 * 1024 + 1), 'image')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      field: 'image',
    });
  });

  it('are results by their address, or are in it', () => {
    expect(toRemoteFile('https://x/a.png')).toEqual({ url: 'https://x/a.png' });
    expect(toRemoteFile('data:image/svg+xml;base64,YWJj')).toEqual({
      content: Buffer.from('abc'),
      contentType: 'image/svg+xml',
    });
  });

  it('are put at an address of their own without credentials, and closed whatever happens', async () => {
    const { http, sent } = createClient({ status: 201, headers: { etag: 'x' } });
    const stream = Readable.from([Buffer.from('abc')]);
    const headers = {
      'X-Signed': 'yes',
      Authorization: 'theirs',
      Host: 'evil',
      'Content-Type': 'image/webp',
    };
    const upload = { file: file(3, stream), url: 'https://put.example/y', context, headers };
    expect(await putFile(http, upload)).toEqual({ status: 201, headers: { etag: 'x' }, json: undefined });
    expect(sent[0]).toMatchObject({
      method: 'PUT',
      url: 'https://put.example/y',
      retry: 'never',
      timeoutMs: 300_000,
    });
    expect(sent[0]?.headers).toEqual({
      'content-type': 'image/webp',
      'x-signed': 'yes',
      'content-length': '3',
    });
    expect(stream.destroyed).toBe(true);
    const other = Readable.from([Buffer.from('abc')]);
    const away = createClient(new HttpFailure('CONNECT', 'x', { sent: false })).http;
    await expect(putFile(away, { ...upload, file: file(3, other) })).rejects.toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(other.destroyed).toBe(true);
    const unread = new UpstreamError('INVALID_INPUT', 'image: the file is gone', { field: 'image' });
    const cut = createClient(new HttpFailure('CUT', 'x', { sent: true, cause: unread })).http;
    await expect(putFile(cut, upload)).rejects.toBe(unread);
  });

  it('are not there where their address sends them elsewhere, which is not followed', async () => {
    const moved = createClient({ status: 307, headers: { location: 'https://other.example/y' } });
    const upload = {
      file: file(3, Readable.from([Buffer.from('abc')])),
      url: 'https://put.example/y',
      context,
    };
    await expect(putFile(moved.http, upload)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the file was not taken (HTTP 307)',
      startUnknown: false,
    });
  });

  it('that can not be uploaded leave nothing begun', async () => {
    const error = new UpstreamError('UNAVAILABLE', 'away', { startUnknown: true, retryAfter: 9 });
    await expect(beforeStart(Promise.reject(error))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'away',
      retryAfter: 9,
      startUnknown: false,
    });
    const known = new UpstreamError('INVALID_INPUT', 'no');
    await expect(beforeStart(Promise.reject(known))).rejects.toBe(known);
    expect(await beforeStart(Promise.resolve(1))).toBe(1);
  });
});

describe('a signed webhook', () => {
  it('is of the last five minutes', () => {
    const seconds = Math.floor(Date.now() / 1_000);
    const isRecentBy = (ago: number) => isRecent(String(seconds - ago));
    expect([0, 290, -290].map(isRecentBy)).toEqual([true, true, true]);
    expect([310, -310].map(isRecentBy)).toEqual([false, false]);
    expect([undefined, 'now', ''].map(isRecent)).toEqual([false, false, false]);
  });

  it('is looked at with the keys that are known, and with fresh ones where they are old enough', async () => {
    const check = createSignatureCheck<{ readonly key: number }>();
    let fetched = 0;
    const ask = (account: string, wanted: number) =>
      check({
        account,
        fetch: async () => ({ key: (fetched += 1) }),
        matches: ({ key }) => key === wanted,
      });
    expect([await ask('a', 1), await ask('a', 1), fetched]).toEqual([true, true, 1]);
    // Forged ones do not flood the vendor.
    expect([await ask('a', 2), await ask('a', 2), fetched]).toEqual([false, false, 1]);
    expect([await ask('b', 2), fetched]).toEqual([true, 2]);
  });
});

it("options are put among a body's fields, objects into objects, and replace none that Kiln sends", () => {
  const fields = { model: 'm', image: { size: 1 }, left: undefined };
  expect(
    withVendorOptions({ options: { seed: 2, image: { style: 'x' }, left: 3 } }, fields, { seed: 9, top: 4 }),
  ).toEqual({
    model: 'm',
    image: { size: 1, style: 'x' },
    left: 3,
    seed: 2,
    top: 4,
  });
  expect(withVendorOptions({}, fields)).toEqual(fields);
  for (const [options, field] of [
    [{ model: 'n' }, 'options.model'],
    [{ image: { size: 2 } }, 'options.image.size'],
    [{ image: 'x' }, 'options.image'],
  ] as const)
    expect(() => withVendorOptions({ options }, fields)).toThrow(field);
  expect([formValue('a'), formValue({ a: 1 }), formValue(true)]).toEqual(['a', '{"a":1}', 'true']);
});

it.each([
  [{ detail: 'no' }, { message: 'no', field: null, type: null }],
  [
    {
      detail: [
        { loc: ['body', 'inputs', 0, 'size'], msg: 'too large' },
        { loc: ['body', 'x'], msg: 'y' },
      ],
    },
    { message: 'too large', field: 'size', type: null },
  ],
  [{ detail: [{ loc: ['body', 0], msg: 7 }] }, { message: null, field: null, type: null }],
  [{ detail: [] }, { message: null, field: null, type: null }],
  [{ detail: { message: 'no', type: 'odd' } }, { message: 'no', field: null, type: 'odd' }],
  [{ detail: {} }, { message: null, field: null, type: null }],
  [null, { message: null, field: null, type: null }],
])('the details of %j are %j', (json, detail) => {
  expect(parseDetail(json)).toEqual(detail);
});

it.each([
  [' 45%|####  | 9/20\n 60%|######', 60],
  ['250%|#', 100],
  ['45% of it', null],
  ['', null],
])('the progress in %j is %j', (logs, percent) => {
  expect(percentOfLogs(logs)).toBe(percent);
});

describe('the fields of a model', () => {
  const file = (name: string) => ({ name }) as unknown as InputFile;
  const wire = {
    prompt: { name: 'text' },
    aspectRatio: { name: 'size', as: 'size' },
    duration: { name: 'seconds', as: 'seconds' },
    count: { name: 'number', as: 'text' },
    images: { name: 'urls', as: 'list' },
    firstFrame: { name: 'first' },
    lastFrame: { name: 'last' },
    seed: { name: 'seeds', as: 'list' },
    references: { name: 'one' },
  } as const;
  const sent = (request: object) =>
    inputIn({ fields: wire }, { kind: 'VIDEO', ...request } as never, async ({ name }) => `at ${name}`);

  it('get each value in their own form, and nothing that was left open', async () => {
    expect(await sent({})).toEqual({});
    const files = [file('a'), file('b')];
    expect(
      await sent({ prompt: 'x', duration: 5, count: 2, seed: 7, images: files, references: files }),
    ).toEqual({ text: 'x', seconds: '5s', number: '2', seeds: [7], urls: ['at a', 'at b'], one: 'at a' });
    expect(await sent({ images: [] })).toEqual({});
    expect(await sent({ firstFrame: file('a'), lastFrame: file('b'), aspectRatio: '1:1' })).toEqual({
      first: 'at a',
      last: 'at b',
    });
  });

  it.each([
    [{ aspectRatio: '16:9' }, 'landscape_16_9'],
    [
      { aspectRatio: '9:16', resolution: '640x480' },
      { width: 640, height: 480 },
    ],
    [{ aspectRatio: '3:4', resolution: '1080p' }, 'portrait_4_3'],
    [{ aspectRatio: '1:1' }, 'square_hd'],
    [{ aspectRatio: '4:3' }, 'landscape_4_3'],
    [{ aspectRatio: '9:16' }, 'portrait_16_9'],
  ])('say of %j %j', async (request, size) => {
    expect(await sent(request)).toEqual({ size });
  });

  it.each([
    [{ aspectRatio: '7:1' }, 'aspectRatio'],
    [{ lastFrame: file('b') }, 'firstFrame'],
  ])('do not take %j', async (request, field) => {
    expect(await catchFailure(sent(request))).toMatchObject({ code: 'INVALID_INPUT', field });
  });
});

describe('the content of a video', () => {
  const at = (url: string) => createImage({ publicUrl: url });

  it('is its words, then its frames and references, by their addresses or inline', async () => {
    const request = {
      kind: 'VIDEO',
      prompt: 'a fox',
      firstFrame: at('https://a.example'),
      lastFrame: createImage(),
      references: [at('https://b.example'), at('https://c.example')],
    } as const;
    const image = (url: unknown, role: string) => ({ type: 'image_url', image_url: { url }, role });
    expect(await contentItems(request)).toEqual([
      { type: 'text', text: 'a fox' },
      image('https://a.example', 'first_frame'),
      image(expect.stringMatching(/^data:image\/png;base64,/), 'last_frame'),
      image('https://b.example', 'reference_image'),
      image('https://c.example', 'reference_image'),
    ]);
    expect(await contentItems({ kind: 'VIDEO' } as never)).toEqual([]);
  });

  it.each([
    [{}, '16:9'],
    [{ aspectRatio: '1:1', firstFrame: createImage() }, '1:1'],
    [{ firstFrame: createImage() }, 'adaptive'],
    [{ lastFrame: createImage() }, 'adaptive'],
    [{ references: [createImage()] }, 'adaptive'],
    [{ references: [] }, '16:9'],
  ])('has a shape of its own or of its images: %#', (request, ratio) => {
    expect(chooseRatio({ kind: 'VIDEO', ...request } as never)).toBe(ratio);
  });
});
