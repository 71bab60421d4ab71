import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { imageRequest, videoRequest, REFERENCE } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import { findWire } from '../../../../test/providers/environment/find-wire.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { Exchange, ExchangeAnswer, ExchangeRequest } from '../shared/exchange.ts';
import { describeModel, findModels } from './describe.ts';

/** What is fal's own: its errors, its storage, its stream, its paths. The rest is in the contract suite. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const HANDLE = { requestId: '1', path: '/fal-ai/flux/requests/1' };

const wrong = (change: object) => ({
  detail: [{ loc: ['body', 'prompt'], msg: null, type: null, ...change }],
});

describe('a completed request of fal', () => {
  const stage = useScriptedProvider('fal');

  const job = () => must(stage.provider.jobs?.IMAGE, 'job');
  function statusWith(result: ScriptedResponse) {
    stage.proxy.reset();
    stage.proxy.respondNext('/status', { body: answers['completed'] });
    // A 504 is asked for again before it is believed.
    for (let asked = 0; asked < 4; asked += 1) stage.proxy.respondNext('/requests/1', result);
    return job().status(HANDLE, stage.context);
  }

  it.each([
    [
      'a content policy',
      { status: 422, body: answers['contentPolicy'] },
      { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
    ],
    [
      'a wrong input',
      { status: 422, body: answers['wrongInput'] },
      { code: 'INVALID_INPUT', retryable: false, field: 'image' },
    ],
    [
      'a model that took too long',
      { status: 504, body: answers['generationTimeout'] },
      { code: 'UNAVAILABLE', retryable: true },
    ],
    [
      'a runner that broke',
      { status: 500, body: answers['runnerError'] },
      { code: 'UNAVAILABLE', retryable: true },
    ],
    [
      'a time limit of ours',
      { status: 504, headers: { 'x-fal-request-timeout-type': 'user' }, body: answers['timedOut'] },
      { code: 'TIMED_OUT', retryable: false },
    ],
    [
      'a cancelling',
      { status: 499, body: { detail: 'x', error_type: 'client_cancelled' } },
      { code: 'LOST', retryable: false },
    ],
    [
      'images that were all flagged',
      { body: answers['withheld'] },
      { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
    ],
    ['a cancelling by its status', { status: 499, body: {} }, { code: 'LOST', retryable: false }],
    [
      'a cancelling by its type',
      { status: 400, headers: { 'x-fal-error-type': 'client_cancelled' }, body: { error_type: 'other' } },
      { code: 'LOST', retryable: false },
    ],
    [
      'a model that has ended',
      { status: 400, body: { detail: 'The model has been retired.' } },
      { code: 'MODEL_GONE', message: 'fal: The model has been retired.' },
    ],
    ['a refusal', { status: 400, body: {} }, { code: 'INVALID_INPUT', message: 'fal: refused the input' }],
    [
      'a refusal in words',
      { status: 422, body: { detail: 'no' } },
      { code: 'INVALID_INPUT', message: 'fal: no' },
    ],
    [
      'a refusal by its type',
      { status: 409, body: { detail: 'no', error_type: 'bad_request' } },
      { code: 'INVALID_INPUT', message: 'fal: no' },
    ],
    [
      'a type and no words',
      { status: 500, body: { detail: '', error_type: 'startup_error' } },
      { code: 'UNAVAILABLE', retryable: true, message: 'fal failed: startup_error' },
    ],
    [
      'an error of the model itself',
      {
        status: 422,
        headers: { 'x-fal-retryable': 'false' },
        body: wrong({ msg: 'broke', type: 'internal_server_error' }),
      },
      { code: 'UNAVAILABLE', retryable: false, message: 'fal: broke', field: undefined },
    ],
    [
      'an error at its side',
      { status: 500, body: wrong({}) },
      { code: 'UNAVAILABLE', message: 'fal: refused' },
    ],
    [
      'a field without words',
      { status: 422, body: wrong({ loc: ['body', 'odd'], type: 'odd_type' }) },
      { code: 'INVALID_INPUT', message: 'fal: odd_type', field: 'odd' },
    ],
    [
      'no field',
      { status: 422, body: wrong({ loc: ['body', 0], msg: 'no' }) },
      { code: 'INVALID_INPUT', field: undefined },
    ],
    [
      'an object of the model’s own',
      { status: 422, body: { detail: { error: 'a', message: 'b' } } },
      { code: 'INVALID_INPUT', message: 'fal: a: b' },
    ],
  ])('has failed with %s', async (_what, result, error) => {
    expect(await statusWith(result)).toMatchObject({ state: 'failed', error });
  });

  it('runs while its result says that it is in progress', async () => {
    expect(await statusWith({ status: 400, body: answers['stillRunning'] })).toMatchObject({
      state: 'running',
    });
  });

  it('is asked about again when only the asking failed', async () => {
    expect(await catchFailure(statusWith({ status: 500, body: { detail: 'oops' } }))).toMatchObject({
      retryable: true,
    });
  });

  it('gives its images or its video', async () => {
    const [image, video] = [
      await statusWith({ body: answers['picture'] }),
      await statusWith({ body: answers['video'] }),
    ];
    expect(image).toMatchObject({ outcome: { files: [{ url: 'https://v3.fal.media/files/x/y.png' }] } });
    expect(video).toMatchObject({ outcome: { files: [{ url: 'https://v3.fal.media/files/x/y.mp4' }] } });
  });

  it('has the images that were not flagged, and every video', async () => {
    const [one, two, three] = ['one', 'two', 'three'].map((name) => ({ url: `https://fal.example/${name}` }));
    const flagged = { images: [one, two], has_nsfw_concepts: [true, false], image: three };
    expect(await statusWith({ body: flagged })).toMatchObject({
      outcome: { files: [two, three], texts: [] },
    });
    expect(await statusWith({ body: { ...flagged, has_nsfw_concepts: [true, null] } })).toMatchObject({
      outcome: { files: [two, three] },
    });
    const videos = { images: [], videos: [one, null, three], video: two };
    expect(await statusWith({ body: videos })).toMatchObject({ outcome: { files: [two, one, three] } });
    // The first of a list may be told by itself as well.
    const twice = { images: [one, two], image: one, video: three, videos: [three] };
    expect(await statusWith({ body: twice })).toMatchObject({ outcome: { files: [one, two, three] } });
    expect(await catchFailure(statusWith({ body: {} }))).toMatchObject({
      code: 'UNAVAILABLE',
      message: "fal answered a result that can't be read",
    });
    expect(await catchFailure(statusWith({ status: 404, body: {} }))).toMatchObject({ code: 'LOST' });
  });

  it.each([
    [undefined, 'fal-ai/flux/schnell', '/fal-ai/flux/requests/1'],
    ['no address', 'fal-ai/flux/schnell', '/fal-ai/flux/requests/1'],
    ['https://fal.example/other/requests/2', 'fal-ai/flux/schnell', '/fal-ai/flux/requests/1'],
    ['https://fal.example/a%20b/requests/1', 'fal-ai/flux/schnell', '/fal-ai/flux/requests/1'],
    ['https://fal.example/a..b/requests/1', 'fal-ai/flux/schnell', '/fal-ai/flux/requests/1'],
    ['https://fal.example/mine/requests/1', 'fal-ai/flux/schnell', '/mine/requests/1'],
    [undefined, 'workflows/me/mine', '/workflows/me/mine/requests/1'],
    [undefined, 'comfy/me/mine', '/comfy/me/mine/requests/1'],
  ])('whose start answers %j for %s is asked for at %s', async (url, model, path) => {
    const { connection } = stage.context;
    stage.proxy.respondNext('/', { body: { request_id: '1', response_url: url } });
    const context = { ...stage.context, connection: { ...connection, model } };
    expect(await job().start(imageRequest(), context)).toEqual({ requestId: '1', path });
  });

  it('is lost when its handle names none', async () => {
    expect(await catchFailure((async () => job().status({}, stage.context))())).toMatchObject({
      code: 'LOST',
    });
  });

  it.each([
    [200, 'cancelled'],
    [400, 'too-late'],
    [404, 'too-late'],
  ])('is cancelled, or has ended: HTTP %i', async (status, verdict) => {
    stage.proxy.respondNext('/cancel', { status, body: {} });
    expect(await job().cancel?.(HANDLE, stage.context)).toBe(verdict);
  });

  it.each([
    [422, wrong({ loc: ['body', 'image_url'], msg: 'too small' }), { code: 'INVALID_INPUT', field: 'image' }],
    [500, wrong({ msg: 'broke' }), { code: 'UNAVAILABLE', startUnknown: true, message: 'fal: broke' }],
    [404, {}, { code: 'MODEL_GONE', message: 'fal: HTTP 404' }],
  ])('can not be started: HTTP %i with %j', async (status, body, error) => {
    stage.proxy.respondNext('/fal-ai', { status, body });
    expect(await catchFailure(job().start(imageRequest(), stage.context))).toMatchObject(error);
  });

  it('tells its progress over a stream until it is completed', async () => {
    const event = (status: string, line: string | null) =>
      `data: ${JSON.stringify({ status, logs: line === null ? null : [{ message: line }] })}\n\n`;
    const events = [
      event('IN_QUEUE', '10%|#'),
      event('IN_PROGRESS', null),
      'data: {\n\n',
      'data: {"status":7}\n\n',
      event('IN_PROGRESS', '45%|#'),
      event('COMPLETED', '99%|#'),
      event('IN_PROGRESS', '50%|#'),
    ];
    const headers = { 'content-type': 'text/event-stream' };
    stage.proxy.respondNext('/status/stream', { headers, body: events.join('') });
    const seen: unknown[] = [];
    await job().watch?.(HANDLE, stage.context, (progress) => seen.push(progress));
    expect(seen).toEqual([{ progress: 45, stage: 'rendering' }]);
  });

  it('takes a public image by its address, and none that is large where there is no storage', async () => {
    const images = [createImage({ publicUrl: 'https://example.com/a.png' })];
    stage.proxy.respondNext('/fal-ai', { body: answers['queued'] });
    await job().start(imageRequest({ images }), stage.context);
    expect(JSON.parse(String(stage.proxy.sent[0]?.body))).toEqual({
      prompt: 'a lighthouse',
      image_url: 'https://example.com/a.png',
    });
    const sized = (bytes: number) => imageRequest({ images: [createImage({ bytes })] });
    expect(await catchFailure(job().start(sized(256 * 1024 + 1), stage.context))).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'the address of fal’s storage is not configured',
    });
    stage.proxy.respondNext('/fal-ai', { body: answers['queued'] });
    await job().start(sized(256 * 1024), stage.context);
    stage.proxy.respondNext('/initiate', { status: 401, body: {} });
    const endpoints = { rest: stage.proxy.origin };
    const context = { ...stage.context, connection: { ...stage.context.connection, endpoints } };
    expect(await catchFailure(job().start(sized(256 * 1024 + 1), context))).toMatchObject({
      refusedCredentials: true,
    });
  });

  it('is asked about at our own address, whatever host its addresses name', async () => {
    const url = 'https://elsewhere.example/fal-ai/flux/requests/764cabcf-b745-4b3e-ae38-1200304cf45b';
    const body = { ...(answers['queued'] as object), response_url: url, status_url: `${url}/status` };
    stage.proxy.respondNext('/fal-ai/flux/schnell', { body });
    const handle = await job().start(imageRequest(), stage.context);
    expect(handle['path']).toBe('/fal-ai/flux/requests/764cabcf-b745-4b3e-ae38-1200304cf45b');
    stage.proxy.respondNext('/status', { status: 202, body: answers['queued'] });
    expect(await job().status(handle, stage.context)).toEqual({ state: 'queued', position: 3 });
  });

  it('is out of credit, not refused, when the balance is exhausted', async () => {
    stage.proxy.respondNext('/fal-ai', { status: 403, body: answers['exhausted'] });
    expect(await catchFailure(job().start(imageRequest(), stage.context))).toMatchObject({
      code: 'OUT_OF_CREDIT',
    });
  });
});

describe('fal’s stand-in', () => {
  const world = useEnvironment({ wire: 'fal', queuedMs: 0, runningMs: 100, progressSteps: 3 });
  const contextFor = (model: string) => {
    const connection = world().connection('/fal', { authorization: `Key ${SECRET}` });
    const endpoints = { rest: `${world().sandbox.url}/fal-rest` };
    const wire = findWire('fal', model);
    return { ...makeContext({ ...connection, model, endpoints, ...wire }), reference: REFERENCE };
  };
  const large = () => {
    const bytes = Buffer.alloc(300 * 1024, 7);
    return createImage({ bytes: bytes.length, open: async () => Readable.from([bytes]) });
  };

  it('takes a small image inside the request and a large one from its storage', async () => {
    const context = contextFor('fal-ai/nano-banana');
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    await job.start(imageRequest({ images: [createImage(), large()] }), context);
    const sent = must(
      world().proxy.sent.find(({ path }) => path === '/fal/fal-ai/nano-banana/edit'),
      'start',
    );
    const { image_urls: urls } = JSON.parse(sent.body.toString('utf8')) as { image_urls: string[] };
    expect(urls[0]).toMatch(/^data:image\/png;base64,/);
    expect(urls[1]).toMatch(/\/fal-rest\/files\/[\w-]+$/);
    const stored = await fetch(urls[1] ?? '');
    expect([stored.headers.get('content-type'), (await stored.arrayBuffer()).byteLength]).toEqual([
      'image/png',
      300 * 1024,
    ]);
  });

  it('whose storage refuses a file has started nothing', async () => {
    await world().injectFault({ wire: 'fal-rest', operation: 'initiate', fault: 'malformed' });
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    const started = job.start(imageRequest({ images: [large()] }), contextFor('fal-ai/nano-banana'));
    expect(await catchFailure(started)).toMatchObject({ code: 'UNAVAILABLE', startUnknown: false });
  });

  it('makes a video of a first and a last frame at the endpoint for images', async () => {
    const context = contextFor('fal-ai/kling-video/v2.5-turbo/pro');
    const job = must(world().providers['fal']?.jobs?.VIDEO, 'job');
    await job.start(
      videoRequest({ firstFrame: createImage(), lastFrame: createImage(), aspectRatio: '9:16' }),
      context,
    );
    const sent = must(world().proxy.sent.at(-1), 'start');
    expect(sent.path).toBe('/fal/fal-ai/kling-video/v2.5-turbo/pro/image-to-video');
    expect(Object.keys(JSON.parse(sent.body.toString('utf8')) as object)).toEqual([
      'prompt',
      'image_url',
      'tail_image_url',
    ]);
  });

  it('can be followed over its stream until the end', async () => {
    const context = contextFor('fal-ai/flux/schnell');
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    await world().setLatency({ wire: 'fal', runningMs: 600 });
    const handle = await job.start(imageRequest(), context);
    const seen: number[] = [];
    await job.watch?.(handle, context, ({ progress }) => seen.push(progress));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(await job.status(handle, context)).toMatchObject({ state: 'finished' });
  });

  it.each([
    ['fal-ai/flux/schnell', imageRequest({ count: 9 }), 'count'],
    ['fal-ai/nano-banana', imageRequest({ aspectRatio: '7:1' }), 'aspectRatio'],
  ])('refuses what %s does not take, naming it', async (model, request, field) => {
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    expect(await catchFailure(job.start(request, contextFor(model)))).toMatchObject({
      code: 'INVALID_INPUT',
      field,
    });
  });
});

describe('the models of fal', () => {
  const asked: (ExchangeRequest & { readonly base: string; readonly headers: object })[] = [];
  const answering =
    (answer: Partial<ExchangeAnswer>): Exchange =>
    async ({ connection: { baseUrl, pathPrefix, headers } }, request) => {
      asked.push({ ...request, base: baseUrl + pathPrefix, headers });
      return { status: 200, headers: {}, json: undefined, ...answer };
    };
  const connection = {
    baseUrl: 'https://queue.fal.run',
    pathPrefix: '/x',
    headers: { authorization: SECRET },
  };
  const contextAt = (endpoints = {}) =>
    ({
      connection: { ...connection, endpoints },
      signal: new AbortController().signal,
    }) as unknown as Parameters<typeof describeModel>[2];

  it('are described by a public document, which is asked for without a key', async () => {
    const content = (schema: object) => ({ content: { 'application/json': { schema } } });
    const json = {
      info: { title: 'Queue OpenAPI for fal-ai/paper' },
      paths: {
        '/fal-ai/paper': { post: { requestBody: content({ in: 1 }) } },
        '/fal-ai/paper/requests/{request_id}': { get: { responses: { 200: content({ out: 1 }) } } },
      },
    };
    asked.length = 0;
    expect(await describeModel(answering({ json }), 'fal-ai/paper', contextAt())).toEqual({
      name: 'fal-ai/paper',
      document: json,
      input: { in: 1 },
      output: { out: 1 },
      example: null,
      source: 'fal.ai/api/openapi/queue/openapi.json?endpoint_id=fal-ai/paper',
    });
    expect(asked).toEqual([
      {
        base: 'https://fal.ai',
        headers: {},
        method: 'GET',
        path: '/api/openapi/queue/openapi.json?endpoint_id=fal-ai%2Fpaper',
        retry: 'safe',
        timeoutMs: 15_000,
        maxBytes: 2 << 20,
        mayBePage: true,
      },
    ]);
    const bare = { info: {}, paths: { '/fal-ai/paper': { post: null } } };
    const elsewhere = contextAt({ schema: 'https://schemas.example' });
    expect(await describeModel(answering({ json: bare }), 'fal-ai/paper', elsewhere)).toMatchObject({
      name: 'fal-ai/paper',
      input: undefined,
      output: undefined,
    });
    expect(asked.at(-1)).toMatchObject({ base: 'https://schemas.example' });
  });

  it('are none where there is no document, and not asked for under a name that is none', async () => {
    for (const answer of [{ status: 404, json: {} }, { status: 422, json: {} }, { status: 200 }])
      expect(await describeModel(answering(answer), 'fal-ai/paper', contextAt())).toBeNull();
    asked.length = 0;
    for (const name of ['paper', '../paper/x', 'fal-ai//paper', 'a/b/c/d/e/f/g/h'])
      expect(await describeModel(answering({}), name, contextAt())).toBeNull();
    expect(asked).toEqual([]);
    const failing = describeModel(answering({ status: 401, json: {} }), 'fal-ai/paper', contextAt());
    expect(await catchFailure(failing)).toMatchObject({ refusedCredentials: true });
  });

  it('are found by words, with their names where they have some', async () => {
    const json = {
      models: [
        { endpoint_id: 'fal-ai/one', metadata: { display_name: 'One', description: 'draws' } },
        { endpoint_id: 'fal-ai/two', metadata: { display_name: '', description: '' } },
        null,
        { endpoint_id: 7 },
        { endpoint_id: 'fal-ai/three' },
      ],
    };
    asked.length = 0;
    expect(await findModels(answering({ json }), 'paper & scissors', contextAt())).toEqual([
      { model: 'fal-ai/one', name: 'One', description: 'draws' },
      { model: 'fal-ai/two', name: 'fal-ai/two', description: null },
      { model: 'fal-ai/three', name: 'fal-ai/three', description: null },
    ]);
    expect(asked).toEqual([
      {
        base: 'https://api.fal.ai',
        headers: {},
        method: 'GET',
        path: '/v1/models?q=paper+%26+scissors&status=active&limit=20',
        retry: 'safe',
        timeoutMs: 10_000,
        maxBytes: 2 << 20,
      },
    ]);
    const failing = findModels(
      answering({ status: 401, json: {} }),
      'x',
      contextAt({ api: 'https://api.example' }),
    );
    expect(await catchFailure(failing)).toMatchObject({ refusedCredentials: true });
    expect(asked.at(-1)).toMatchObject({ base: 'https://api.example' });
  });
});

describe('a webhook of fal', () => {
  const stage = useScriptedProvider('fal');

  it('is checked by its key though others of the published ones can not be read', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const own = publicKey.export({ format: 'jwk' });
    const keys = [null, { kty: 7 }, { ...own, x: 'short' }, { ...own, x: 7 }, own];
    stage.proxy.respondNext('/jwks.json', { body: { keys } });
    const body = Buffer.from('{}');
    const at = String(Math.floor(Date.now() / 1000));
    const signed = ['1', 'user', at, createHash('sha256').update(body).digest('hex')].join('\n');
    const headers = {
      'x-fal-webhook-request-id': '1',
      'x-fal-webhook-user-id': 'user',
      'x-fal-webhook-timestamp': at,
      'x-fal-webhook-signature': sign(null, Buffer.from(signed), privateKey).toString('hex'),
    };
    const { connection } = stage.context;
    const endpoints = { rest: connection.baseUrl };
    const context = { ...stage.context, connection: { ...connection, endpoints } };
    expect(await stage.provider.verifyWebhook?.({ headers, body }, context)).toBe(true);
  });
});
