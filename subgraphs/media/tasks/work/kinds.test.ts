import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { AppError, notFound } from '../../../../platform/errors.ts';
import { newId } from '../../../../platform/ids.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { StepInput } from '../../domain/work/work.ts';
import { createProviderResources } from '../../files/provider-resources.ts';
import type { CatalogModel } from '../../generators/bindings/binding.ts';
import type { CallCapability, Provider } from '../../providers/contract/provider.ts';
import { readInput } from '../../providers/shared/exchange.ts';
import type { RunningTaskService } from '../rules/service.ts';
import type { Submission } from '../rules/task-service.ts';
import { me, toRegistry, startEngine, type TestEngine } from '../testing/engine.ts';
import { testBinding } from '../testing/provider.ts';
import { PNG } from '../testing/upstream.ts';
import { measuredUnits } from './results/outcomes.ts';

/** One engine, whose provider answers every kind of work at once, and records its requests. */
let engine: TestEngine;
let service: RunningTaskService;
const requests: WorkRequest[] = [];
const files = [{ content: PNG, contentType: 'image/png' }];

beforeAll(async () => {
  engine = await startEngine();
  const registry = toRegistry(
    { ...testBinding('test#0', provider(), 'http://127.0.0.1:1'), models: [model] },
    ...[0, 1].map((place) =>
      testBinding(
        `reading#${place}`,
        { name: 'reading', calls: { ANALYSIS: reading } },
        'http://127.0.0.1:1',
      ),
    ),
    testBinding('broken#0', { name: 'broken', calls: { VIDEO: refusing } }, 'http://127.0.0.1:1'),
    testBinding(
      'broken#1',
      { name: 'answering', calls: { VIDEO: answering({ files }) } },
      'http://127.0.0.1:1',
    ),
  );
  service = engine.service(registry);
  await engine.worker(registry);
});
afterAll(() => engine.stop());

const model: CatalogModel = {
  id: 'one',
  name: 'One',
  category: 'video',
  generator: 'test',
  provider: 'every',
  kinds: ['VIDEO', 'SPEECH', 'VOICE_CLONE', 'ANALYSIS', 'COMFY_WORKFLOW'],
  inputs: ['prompt', 'image', 'firstFrame', 'lastFrame', 'format', 'resolution', 'duration'],
  needs: [],
  sizes: ['768P'],
  aspectRatios: null,
  durations: null,
  formats: ['mp3'],
  ranges: {},
  maxPrompt: null,
  maxCount: null,
  maxImages: null,
  options: null,
  wire: null,
  counts: null,
  nearestRatios: null,
  lastFrameSizes: null,
  imageDecidesShape: true,
  prices: null,
  chargesFailures: false,
  expected: null,
  longestSeconds: null,
  releasedAt: null,
  usualSeconds: null,
  retiresAt: null,
  successor: null,
  sources: [],
  sandbox: false,
  daysLeft: () => null,
  isRetired: () => false,
};

function answering(outcome: { files?: typeof files; texts?: string[]; facts?: object }): CallCapability {
  return {
    async call(request) {
      requests.push(request);
      return { files: [], texts: [], ...outcome } as Awaited<ReturnType<CallCapability['call']>>;
    },
  };
}

/** Says how large its file is. */
const reading: CallCapability = {
  async call(request) {
    if (request.kind !== 'ANALYSIS') throw new Error('no analysis was asked for');
    return { files: [], texts: [`${(await readInput(request.media, 'media')).length} bytes`] };
  },
};

const refusing: CallCapability = {
  async call() {
    throw new UpstreamError('RATE_LIMITED', 'too many', { retryable: true });
  },
};

function provider(): Provider {
  return {
    name: 'every',
    calls: {
      VIDEO: answering({ files }),
      SPEECH: answering({}),
      VOICE_CLONE: answering({ facts: { voiceId: 'v1', name: 'Mine' } }),
      COMFY_WORKFLOW: answering({ files }),
      ANALYSIS: answering({ texts: ['a fox'], facts: { model: 'one', usage: { inputTokens: 1 } } }),
    },
    upload: async () => ({ id: 'there', uri: null, expiresAt: null, answer: null }),
  };
}

async function done(work: StepInput) {
  const submission: Submission = { work, fileIds: [], idempotencyKey: null, fingerprint: work };
  const { id } = await service.submit(me, submission);
  return engine.ended(service, id);
}

async function newFile(content: string): Promise<string> {
  const { id } = await engine.files.store({
    owner: me.id,
    body: Readable.from([Buffer.from(content)]),
    name: 'input',
    declaredType: null,
    temporary: false,
    maxBytes: 1_000,
  });
  return id;
}

describe('the kinds of work', () => {
  it('hand their inputs over, spelled as the model spells them', async () => {
    const [first, last] = [await newFile('first'), await newFile('last')];
    await done({
      kind: 'VIDEO',
      generator: 'test',
      prompt: 'a fox',
      image: { fileId: first },
      lastFrame: { fileId: last },
      resolution: '768p',
      duration: 6,
    });
    const request = requests.at(-1);
    if (request?.kind !== 'VIDEO') throw new Error('no video was asked for');
    expect(request).toMatchObject({ prompt: 'a fox', resolution: '768P', duration: 6 });
    expect(request.negativePrompt).toBeUndefined();
    expect(await text((await request.firstFrame?.open()) ?? Readable.from([]))).toBe('first');
    expect(await text((await request.lastFrame?.open()) ?? Readable.from([]))).toBe('last');
  });

  it('end with facts that name their provider', async () => {
    const sample = { fileId: await newFile('sample') };
    expect(await done({ kind: 'VOICE_CLONE', generator: 'test', sample })).toMatchObject({
      state: 'SUCCEEDED',
      result: { mediaIds: [], facts: { voiceId: 'v1', name: 'Mine', provider: 'every' } },
    });
    expect(await done({ kind: 'ANALYSIS', generator: 'test', media: sample, prompt: 'what?' })).toMatchObject(
      {
        result: { texts: ['a fox'], facts: { model: 'one', provider: 'every' } },
      },
    );
  });

  it('refuse a result of another kind, or none', async () => {
    const video: StepInput = { kind: 'VIDEO', generator: 'test', prompt: 'a fox' };
    expect(await done(video)).toMatchObject({
      state: 'FAILED',
      error: { code: 'STORAGE_FAILED', message: expect.stringContaining('image/png instead of a video') },
    });
    expect(await done({ kind: 'SPEECH', generator: 'test', text: 'hello', voiceId: 'v' })).toMatchObject({
      state: 'FAILED',
      error: { message: 'the upstream finished without a result' },
    });
  });

  it('take whatever media a graph makes', async () => {
    const graph: StepInput = { kind: 'COMFY_WORKFLOW', generator: 'test', workflow: {}, files: {} };
    const { state, result } = await done(graph);
    expect(state).toBe('SUCCEEDED');
    expect(engine.files.stored.get(result?.mediaIds[0] ?? '')?.name).toBe('output-1');
  });

  it('fall back to the binding of another provider', async () => {
    const { id } = await done({ kind: 'VIDEO', generator: 'broken', prompt: 'a fox' });
    expect((await service.attempts([id])).get(id)).toMatchObject([
      { provider: 'broken', state: 'FAILED', error: { code: 'RATE_LIMITED' } },
      { provider: 'answering' },
    ]);
  });

  it('end with the name of an input that is gone, also when it goes while they start', async () => {
    const gone: StepInput = {
      kind: 'ANALYSIS',
      generator: 'test',
      media: { fileId: newId() },
      prompt: 'what?',
    };
    expect(await done(gone)).toMatchObject({
      state: 'FAILED',
      error: { code: 'INVALID_INPUT', field: 'media', message: 'media: the file is gone; upload it again' },
    });
    const media = { fileId: await newFile('film') };
    const open = engine.files.open.bind(engine.files);
    engine.files.open = () => Promise.reject(notFound('file', media.fileId));
    expect(await done({ kind: 'ANALYSIS', generator: 'reading', media, prompt: 'what?' })).toMatchObject({
      state: 'FAILED',
      error: { code: 'INVALID_INPUT', field: 'media', message: 'media: the file is gone; upload it again' },
    });
    engine.files.open = open;
  });

  it('are tried again when an input can not be read for a while, from its beginning on or midway', async () => {
    const media = { fileId: await newFile('film') };
    const open = engine.files.open.bind(engine.files);
    const away = new AppError('UNAVAILABLE', 'the object storage does not answer');
    const midway = Readable.from(
      (async function* () {
        yield Buffer.from('fi');
        throw away;
      })(),
    );
    for (const broken of [() => Promise.reject(away), async () => midway]) {
      engine.files.open = () => {
        engine.files.open = open;
        return broken();
      };
      const task = await done({ kind: 'ANALYSIS', generator: 'reading', media, prompt: 'what?' });
      expect(task).toMatchObject({ state: 'SUCCEEDED', result: { texts: ['4 bytes'] } });
      const attempts = (await service.attempts([task.id])).get(task.id);
      expect(attempts?.map(({ error }) => error?.message)).toEqual([
        "media: the file can't be read now",
        undefined,
      ]);
    }
  });

  it('are refused before anything is written when no model takes them', async () => {
    const before = await engine.count('media.tasks');
    const work: StepInput = { kind: 'VIDEO', generator: 'test', prompt: 'a fox', resolution: '4K' };
    await expect(done(work)).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field: 'resolution' });
    expect(await engine.count('media.tasks')).toBe(before);
  });
});

it('what is made is measured by its files, but for a duration that was asked for', async () => {
  const files = [
    { contentType: 'image/png', duration: null },
    { contentType: 'image/gif', duration: null },
    { contentType: 'video/mp4', duration: 1.5004 },
    null,
  ];
  const parts = { byIds: async () => files as never };
  const measured = (input: object, ids: readonly string[] = ['one']) =>
    measuredUnits(parts, input as never, ids);
  expect(await measured({})).toEqual({ pictures: 2, milliseconds: 1_500 });
  expect(await measured({ duration: undefined })).toEqual({ pictures: 2, milliseconds: 1_500 });
  expect(await measured({ duration: 5 })).toEqual({ pictures: 2 });
  expect(await measured({}, [])).toEqual({});
  files.splice(0, 4, { contentType: 'audio/mpeg', duration: 0.4 });
  expect(await measured({})).toEqual({ milliseconds: 400 });
  files.splice(0);
  expect(await measured({})).toEqual({});
});

it('a file that the provider keeps already is handed over with its id there', async () => {
  const media = await newFile('film');
  // The files of these tests are in memory; the row of this one is needed for its resource.
  await engine.pool.query(
    `insert into media.media (id, owner, name, object_key, content_type, bytes, sha256, state)
     values ($1, $2, 'input', 'key', 'text/plain', 4, '', 'STORED')`,
    [media, me.id],
  );
  const account = testBinding('test#0', provider(), 'http://127.0.0.1:1');
  const uploaded = { id: 'files/7', uri: 'https://ai.example/files/7', expiresAt: null, answer: null };
  await createProviderResources(engine.database).save({ mediaId: media, owner: me.id, account, uploaded });
  await done({ kind: 'ANALYSIS', generator: 'test', media: { fileId: media }, prompt: 'what?' });
  expect(requests.at(-1)).toMatchObject({ media: { uploaded: { id: 'files/7', uri: uploaded.uri } } });
  const other = await newFile('another film');
  await done({ kind: 'ANALYSIS', generator: 'test', media: { fileId: other }, prompt: 'what?' });
  expect(requests.at(-1)).toMatchObject({ media: { uploaded: null } });
});
