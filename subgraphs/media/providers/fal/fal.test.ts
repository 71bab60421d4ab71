import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { imageRequest, videoRequest, REFERENCE } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  picture,
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
      'pictures that were all flagged',
      { body: answers['withheld'] },
      { code: 'MODERATION_REFUSED', retryable: false },
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

  it('gives its pictures or its video', async () => {
    const [image, video] = [
      await statusWith({ body: answers['picture'] }),
      await statusWith({ body: answers['video'] }),
    ];
    expect(image).toMatchObject({ outcome: { files: [{ url: 'https://v3.fal.media/files/x/y.png' }] } });
    expect(video).toMatchObject({ outcome: { files: [{ url: 'https://v3.fal.media/files/x/y.mp4' }] } });
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
    return picture({ bytes: bytes.length, open: async () => Readable.from([bytes]) });
  };

  it('takes a small picture inside the request and a large one from its storage', async () => {
    const context = contextFor('fal-ai/nano-banana');
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    await job.start(imageRequest({ images: [picture(), large()] }), context);
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

  it('makes a video of a first and a last frame at the endpoint for pictures', async () => {
    const context = contextFor('fal-ai/kling-video/v2.5-turbo/pro');
    const job = must(world().providers['fal']?.jobs?.VIDEO, 'job');
    await job.start(
      videoRequest({ firstFrame: picture(), lastFrame: picture(), aspectRatio: '9:16' }),
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
    const failing = describeModel(answering({ status: 500, json: {} }), 'fal-ai/paper', contextAt());
    expect(await catchFailure(failing)).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('are found by words, with their names where they have some', async () => {
    const json = {
      models: [
        { endpoint_id: 'fal-ai/one', metadata: { display_name: 'One', description: 'draws' } },
        { endpoint_id: 'fal-ai/two', metadata: { display_name: '', description: '' } },
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
      answering({ status: 503, json: {} }),
      'x',
      contextAt({ api: 'https://api.example' }),
    );
    expect(await catchFailure(failing)).toMatchObject({ code: 'UNAVAILABLE' });
    expect(asked.at(-1)).toMatchObject({ base: 'https://api.example' });
  });
});
