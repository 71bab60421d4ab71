import { Readable } from 'node:stream';

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { imageRequest, videoRequest, REFERENCE } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  openEnvironment,
  createImage,
  SECRET,
  type Environment,
} from '../../../../test/providers/environment/environment.ts';
import { findWire } from '../../../../test/providers/environment/find-wire.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { Exchange, ExchangeAnswer, ExchangeRequest } from '../shared/exchange.ts';
import { describeModel, findModels } from './describe.ts';

/** What is Replicate's own: states, deletion, deadlines, versions, files. The rest is in the contract suite. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const IMAGE: unknown = expect.stringMatching(/^data:image\/png;base64,/);

describe('a prediction of Replicate', () => {
  const stage = useScriptedProvider('replicate');
  const job = () => must(stage.provider.jobs?.IMAGE, 'job');

  it.each([
    ['starting', { state: 'queued' }],
    ['processing', { state: 'running', progress: 50 }],
    [
      'succeeded',
      { state: 'finished', outcome: { files: [{ url: 'https://replicate.delivery/xezq/out-0.webp' }] } },
    ],
    [
      'succeededOne',
      { state: 'finished', outcome: { files: [{ url: 'https://replicate.delivery/xezq/tmp.mp4' }] } },
    ],
    ['removed', { state: 'failed', error: { code: 'LOST', retryable: true } }],
    ['sensitive', { state: 'failed', error: { code: 'MODERATION_REFUSED', retryable: false } }],
    ['aborted', { state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } }],
  ])('that is told as %s is read as that', async (name, expected) => {
    stage.proxy.respondNext('/predictions/1', { body: answers[name] });
    expect(await job().status({ id: '1' }, stage.context)).toMatchObject(expected);
  });

  it.each([
    [{ status: 'canceled' }, { state: 'failed', error: { code: 'LOST', retryable: false } }],
    [{ status: 'failed', error: { why: 'x' } }, { error: { message: 'replicate failed: {"why":"x"}' } }],
    [{ status: 'failed', error: null }, { error: { message: 'replicate failed: no reason given' } }],
    [{ status: 'failed', error: '' }, { error: { message: 'replicate failed: no reason given' } }],
    [
      { status: 'failed', error: 'out' },
      { error: { code: 'UNAVAILABLE', message: 'replicate failed: out' } },
    ],
    [
      { status: 'succeeded', output: ['https://r.example/1', 7, 'text', 'data:image/png;base64,aGk='] },
      {
        outcome: {
          files: [{ url: 'https://r.example/1' }, { content: Buffer.from('hi'), contentType: 'image/png' }],
          texts: [],
        },
      },
    ],
    [{ status: 'starting' }, { state: 'queued', stage: 'starting upstream' }],
  ])('that is told as %j is %j', async (change, expected) => {
    stage.proxy.respondNext('/predictions/1', { body: { id: '1', output: null, error: null, ...change } });
    expect(await job().status({ id: '1' }, stage.context)).toMatchObject(expected);
  });

  it('is read though it repeats the images that were sent in it', async () => {
    const input = { image_input: ['a', 'b'].map((letter) => letter.repeat(5 << 19)) };
    stage.proxy.respondNext('/predictions', { status: 201, body: { id: '1', status: 'starting', input } });
    expect(await job().start(imageRequest(), { ...stage.context, reference: REFERENCE })).toEqual({
      id: '1',
    });
    stage.proxy.respondNext('/predictions/1', { body: { id: '1', status: 'processing', input } });
    expect(await job().status({ id: '1' }, stage.context)).toMatchObject({ state: 'running' });
    stage.proxy.respondNext('/cancel', { body: { id: '1', status: 'canceled', input } });
    expect(await job().cancel?.({ id: '1' }, stage.context)).toBe('cancelled');
  });

  it('without a file is not understood, and one without an id is lost', async () => {
    stage.proxy.respondNext('/predictions/1', {
      body: { id: '1', status: 'succeeded', output: ['text'], error: null },
    });
    expect(await catchFailure(job().status({ id: '1' }, stage.context))).toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(await catchFailure((async () => job().status({}, stage.context))())).toMatchObject({
      code: 'LOST',
    });
    stage.proxy.respondNext('/predictions/1', { status: 404, body: {} });
    expect(await catchFailure(job().status({ id: '1' }, stage.context))).toMatchObject({ code: 'LOST' });
  });

  it.each([
    [200, { id: '1', status: 'canceled' }, 'cancelled'],
    [200, { id: '1', status: 'succeeded' }, 'too-late'],
    [200, { id: '1', status: 'failed' }, 'too-late'],
    [404, {}, 'too-late'],
  ])('is cancelled, or has ended: HTTP %i, %j', async (status, body, verdict) => {
    stage.proxy.respondNext('/cancel', { status, body: { output: null, error: null, ...body } });
    expect(await job().cancel?.({ id: '1' }, stage.context)).toBe(verdict);
  });

  it.each([
    [422, { title: 'Invalid version or not permitted' }, { code: 'MODEL_GONE' }],
    [
      422,
      { title: 'Input validation failed', detail: '- input.num_outputs: too many' },
      { code: 'INVALID_INPUT', field: 'count', message: 'replicate: - input.num_outputs: too many' },
    ],
    [422, { invalid_fields: [{ field: 'input.odd' }] }, { code: 'INVALID_INPUT', field: 'odd' }],
    [422, {}, { code: 'INVALID_INPUT', field: undefined, message: 'replicate: HTTP 422' }],
    [400, { title: 'no' }, { code: 'INVALID_INPUT', message: 'replicate: no' }],
    [404, {}, { code: 'MODEL_GONE' }],
  ])('can not be started: HTTP %i with %j', async (status, body, error) => {
    stage.proxy.respondNext('/predictions', { status, body });
    expect(await catchFailure(job().start(imageRequest(), stage.context))).toMatchObject(error);
  });

  it('takes a public image by its address, and a large one only where files are taken', async () => {
    const sent = async (change: Parameters<typeof createImage>[0]) => {
      stage.proxy.respondNext('/predictions', { status: 201, body: answers['starting'] });
      await job().start(imageRequest({ images: [createImage(change)] }), stage.context);
      return (JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as { input: object }).input;
    };
    const publicUrl = 'https://example.com/a.png';
    expect(Object.values(await sent({ publicUrl }))).toContain(publicUrl);
    expect(Object.values(await sent({ bytes: 256 * 1024 }))).toContainEqual(IMAGE);
    stage.proxy.reset();
    stage.proxy.respondNext('/files', { status: 401, body: {} });
    const large = imageRequest({ images: [createImage({ bytes: 256 * 1024 + 1 })] });
    expect(await catchFailure(job().start(large, stage.context))).toMatchObject({ refusedCredentials: true });
  });

  it('is started by its name or by its version, with a deadline, and where to report its end', async () => {
    const start = async (model: string, webhookUrl?: string) => {
      stage.proxy.respondNext('/predictions', { status: 201, body: answers['starting'] });
      const { connection } = stage.context;
      const context = { ...stage.context, connection: { ...connection, model } };
      await job().start(imageRequest(), { ...context, ...(webhookUrl === undefined ? {} : { webhookUrl }) });
      const { path, headers, body } = must(stage.proxy.sent.at(-1), 'start');
      return { path, after: headers['cancel-after'], body: JSON.parse(body.toString('utf8')) as object };
    };
    const input = { prompt: 'a lighthouse' };
    expect(await start('black-forest-labs/flux-schnell', 'https://kiln.example.com/hooks/replicate')).toEqual(
      {
        path: '/models/black-forest-labs/flux-schnell/predictions',
        after: '30m',
        body: {
          input,
          webhook: 'https://kiln.example.com/hooks/replicate',
          webhook_events_filter: ['completed'],
        },
      },
    );
    const version = `stability-ai/sdxl:${'a'.repeat(64)}`;
    expect(await start(version)).toEqual({ path: '/predictions', after: '30m', body: { version, input } });
  });

  it('is started by its id alone, whatever is told of its state', async () => {
    stage.proxy.respondNext('/predictions', { status: 201, body: { id: '1', status: null } });
    expect(await job().start(imageRequest(), { ...stage.context, reference: REFERENCE })).toEqual({
      id: '1',
    });
  });

  it('whose input is refused names the field in our words', async () => {
    stage.proxy.respondNext('/predictions', { status: 422, body: answers['invalidInput'] });
    expect(await catchFailure(job().start(imageRequest(), stage.context))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'count',
      startUnknown: false,
    });
  });

  it('that can not be paid for is out of credit', async () => {
    stage.proxy.respondNext('/predictions', {
      status: 402,
      body: { title: 'Insufficient credit', detail: 'x' },
    });
    expect(await catchFailure(job().start(imageRequest(), stage.context))).toMatchObject({
      code: 'OUT_OF_CREDIT',
    });
  });
});

describe('Replicate’s stand-in', () => {
  let world: Environment;
  beforeAll(async () => {
    world = await openEnvironment();
  });
  afterAll(() => world.close());
  beforeEach(() => world.reset());
  const contextFor = (model: string) => {
    const connection = world.connection('/replicate/v1', { authorization: `Bearer ${SECRET}` });
    return {
      ...makeContext({ ...connection, model, ...findWire('replicate', model) }),
      reference: REFERENCE,
    };
  };

  it('takes a small image inside the input and a large one as a file', async () => {
    const bytes = Buffer.alloc(300 * 1024, 7);
    const large = createImage({ bytes: bytes.length, open: async () => Readable.from([bytes]) });
    const job = must(world.providers['replicate']?.jobs?.VIDEO, 'job');
    const request = videoRequest({ firstFrame: createImage(), lastFrame: large });
    await job.start(request, contextFor('kwaivgi/kling-v2.5-turbo-pro'));
    const sent = must(world.proxy.sent.at(-1), 'start');
    const { input } = JSON.parse(sent.body.toString('utf8')) as { input: Record<string, string> };
    expect(input['start_image']).toMatch(/^data:image\/png;base64,/);
    expect(input['end_image']).toMatch(/\/replicate\/v1\/files\/[\w-]+$/);
  });

  it.each([
    ['black-forest-labs/flux-fill-pro', { image: IMAGE, mask: IMAGE }],
    ['black-forest-labs/flux-kontext-pro', { input_image: IMAGE }],
    ['google/nano-banana', { image_input: [IMAGE] }],
    ['openai/gpt-image-2.5-flare', { input_images: [IMAGE] }],
  ])('gets the images of %s as that has them', async (model, images) => {
    const job = must(world.providers['replicate']?.jobs?.IMAGE, 'job');
    const mask = 'mask' in images ? { mask: createImage() } : {};
    await job.start(imageRequest({ images: [createImage()], ...mask }), contextFor(model));
    const sent = must(world.proxy.sent.at(-1), 'start');
    expect(JSON.parse(sent.body.toString('utf8'))).toMatchObject({ input: images });
  });

  it('whose files can not be had has started nothing', async () => {
    await world.injectFault({ wire: 'replicate', operation: 'upload', fault: 'cut' });
    const bytes = Buffer.alloc(300 * 1024, 7);
    const large = createImage({ bytes: bytes.length, open: async () => Readable.from([bytes]) });
    const job = must(world.providers['replicate']?.jobs?.IMAGE, 'job');
    const started = job.start(imageRequest({ images: [large] }), contextFor('google/nano-banana'));
    expect(await catchFailure(started)).toMatchObject({ code: 'UNAVAILABLE', startUnknown: false });
  });
});

describe('the models of Replicate', () => {
  const asked: ExchangeRequest[] = [];
  const context = {} as Parameters<typeof describeModel>[2];
  const answering =
    (...answers: readonly Partial<ExchangeAnswer>[]): Exchange =>
    async (_, request) => ({
      status: 200,
      headers: {},
      json: undefined,
      ...answers[asked.push(request) - 1],
    });
  const described = async (name: string, ...answers: readonly object[]) => {
    asked.length = 0;
    return describeModel(answering(...answers), name, context);
  };
  const schema = (input: object) => ({ components: { schemas: { Input: input, Output: { out: 1 } } } });
  const newest = { id: 'v9', openapi_schema: schema({ newest: 1 }) };
  const paper = { name: 'paper', latest_version: newest };

  it('are described by their newest version, or by the one that is named', async () => {
    const official = { ...paper, is_official: true, default_example: { output: 'https://x.example/a.png' } };
    const found = {
      name: 'paper at Replicate',
      document: newest.openapi_schema,
      input: { newest: 1 },
      output: { out: 1 },
      example: 'https://x.example/a.png',
      source: 'api.replicate.com/v1/models/lab/paper',
    };
    expect(await described('lab/paper', { json: official })).toEqual(found);
    expect(asked).toEqual([
      { method: 'GET', path: '/models/lab/paper', retry: 'safe', timeoutMs: 15_000, maxBytes: 2 << 20 },
    ]);
    // Those of the community run by their version only.
    const ofCommunity = { ...paper, is_official: false };
    expect(await described('lab/paper', { json: ofCommunity })).toEqual({
      ...found,
      example: null,
      version: 'v9',
    });
    const version = 'a'.repeat(64);
    const other = { id: version, openapi_schema: schema({ other: 1 }) };
    expect(await described(`lab/paper:${version}`, { json: official }, { json: other })).toMatchObject({
      input: { other: 1 },
      document: other.openapi_schema,
      version,
    });
    expect(asked[1]?.path).toBe(`/models/lab/paper/versions/${version}`);
    expect(await described('lab/paper', { json: { name: 'paper' } })).toMatchObject({ input: undefined });
  });

  it('are none where there is none, and not asked for under a name that is none', async () => {
    expect(await described('lab/paper', { status: 404 })).toBeNull();
    const version = 'a'.repeat(64);
    expect(await described(`lab/paper:${version}`, { json: paper }, { status: 404 })).toBeNull();
    for (const name of ['paper', 'fal-ai/paper', 'lab/paper:short', '../paper'])
      expect([await described(name), asked.length]).toEqual([null, 0]);
    for (const answers of [[{ status: 401, json: {} }], [{ json: paper }, { status: 401, json: {} }]])
      expect(await catchFailure(described(`lab/paper:${version}`, ...answers))).toMatchObject({
        refusedCredentials: true,
      });
  });

  it('are found by words', async () => {
    asked.length = 0;
    const models = [
      { model: { owner: 'lab', name: 'paper', description: 'cuts' } },
      {},
      { model: { owner: 'lab', name: 'film', description: '' } },
    ];
    expect(await findModels(answering({ json: { models } }), 'paper & film', context)).toEqual([
      { model: 'lab/paper', name: 'paper at Replicate', description: 'cuts' },
      { model: 'lab/film', name: 'film at Replicate', description: null },
    ]);
    expect(asked).toEqual([
      {
        method: 'GET',
        path: '/search?query=paper+%26+film&limit=20',
        retry: 'safe',
        timeoutMs: 10_000,
        maxBytes: 4 << 20,
      },
    ]);
    asked.length = 0;
    const failing = findModels(answering({ status: 401, json: {} }), 'x', context);
    expect(await catchFailure(failing)).toMatchObject({ refusedCredentials: true });
  });
});
