import { createReadStream } from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';

import type { FileUpload } from 'graphql-upload-minimal';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { Caller } from '../../../platform/access/caller.ts';
import { createOutboundRule } from '../../../platform/http/safe-url.ts';
import { newId } from '../../../platform/ids.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import type { Task } from '../domain/task.ts';
import { fileWorld, type FileWorld } from '../files/files.fixture.ts';
import type { StoredFile } from '../files/files.ts';
import { createProviderResources } from '../files/provider-resources.ts';
import type { CatalogModel } from '../generators/bindings/binding.ts';
import type { Provider } from '../providers/contract/provider.ts';
import type { Submission } from '../tasks/rules/task-service.ts';
import { testBinding } from '../tasks/testing/provider.ts';
import { unbounded } from '../uploads/quotas.ts';
import { createSubmissionService, type SubmissionDependencies } from './service.ts';
import { withGenerator } from './startable.ts';
import type { SubmissionService } from './submissions.ts';

const me: Caller = { kind: 'user', id: 'usr_me', scopes: [], traceId: 'test', address: null };
const options = { idempotencyKey: 'key', signal: new AbortController().signal };

let world: FileWorld;
let submissions: SubmissionService;
let file: StoredFile;
/** What tasks/ was given. */
let submitted: Submission[] = [];
const last = () => submitted.at(-1);

beforeAll(async () => {
  world = await fileWorld(await migratedDatabase());
  const files = world.service();
  const resources = createProviderResources(world.database);
  const take = async (submission: Submission) => (submitted.push(submission), { id: newId() } as Task);
  const template = { taskType: 'tea', prompt: null, presetPrompts: ['a cup'], aspectRatio: 'wide' };
  const tasks = { submit: (_: Caller, submission: Submission) => take(submission), start: take };
  submissions = createSubmissionService({
    files,
    resources,
    uploadMaxBytes: 1_000,
    quotas: { reserve: async () => unbounded },
    firstVoice: async () => 'voice-1',
    owners: { check: async () => {} },
    outbound: createOutboundRule({ allow: ['127.0.0.1:4999'] }),
    registry: { all: () => [] },
    savedWorkflows: { runnable: () => Promise.resolve(null) },
    fetchInput: () => Promise.resolve(),
    ...({ tasks, videoTemplates: { living: async () => template } } as unknown as Pick<
      SubmissionDependencies,
      'tasks' | 'videoTemplates'
    >),
  });
  file = await files.store({
    owner: me.id,
    body: Readable.from([Buffer.from('bytes')]),
    name: 'a.bin',
    declaredType: null,
    temporary: false,
    maxBytes: 100,
  });
  const account = {
    provider: { name: 'gemini' },
    connection: { baseUrl: '', pathPrefix: '', headers: {}, credentials: {} },
  };
  const uploaded = { id: 'files/1', uri: 'gs://bucket/1', expiresAt: null, answer: null };
  await resources.save({ mediaId: file.id, owner: me.id, account, uploaded });
});
beforeEach(() => {
  submitted = [];
});
afterAll(() => world.close());

const upload = async (content: string): Promise<FileUpload> =>
  ({
    filename: 'b.bin',
    mimetype: '',
    createReadStream: () => Readable.from([Buffer.from(content)]),
  }) as unknown as FileUpload;

describe('a video', () => {
  it('is submitted with its frames, and its fingerprint knows which is which', async () => {
    const url = 'https://example.org/end.png';
    const request = {
      generator: 'vidb',
      prompt: 'a fox',
      firstFrame: { fileId: file.id },
      lastFrame: { url },
      duration: 6,
      seed: null,
    };
    await submissions.generateVideo(me, request, options);
    expect(last()).toMatchObject({
      work: {
        kind: 'VIDEO',
        generator: 'vidb',
        prompt: 'a fox',
        duration: 6,
        firstFrame: { fileId: file.id },
        lastFrame: { url },
      },
      fileIds: [file.id],
      idempotencyKey: 'key',
    });
    expect(last()?.work).not.toHaveProperty('seed');
    const { firstFrame, lastFrame, ...rest } = request;
    await submissions.generateVideo(me, { ...rest, firstFrame: lastFrame, lastFrame: firstFrame }, options);
    expect(submitted[0]?.fingerprint).not.toEqual(submitted[1]?.fingerprint);
    await submissions.generateVideo(
      me,
      { ...request, firstFrame: { url: world.service().formatUrl(file) } },
      options,
    );
    expect(submitted[2]?.fingerprint).toEqual(submitted[0]?.fingerprint);
  });

  it.each([
    ['neither words nor an image', {}, 'prompt'],
    ['empty words', { prompt: ' ' }, 'prompt'],
    [
      'two first frames',
      { image: { url: 'https://a.b/1' }, firstFrame: { url: 'https://a.b/2' } },
      'firstFrame',
    ],
    ['an image that is nothing', { image: {} }, 'image'],
    ['a file that is gone', { prompt: 'x', lastFrame: { fileId: newId() } }, 'lastFrame.fileId'],
    ['a scheme nobody knows', { image: { url: 'gs://bucket/2' } }, 'image.url'],
    ['a long address', { image: { url: `https://a.b/${'x'.repeat(4_100)}` } }, 'image.url'],
  ])('is refused with %s, naming the field', async (_, change, field) => {
    const refused = submissions.generateVideo(me, { generator: 'vidb', ...change }, options);
    await expect(refused).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
    expect(submitted).toEqual([]);
  });
});

it('a video between two frames takes no references', async () => {
  const at = (name: string) => ({ url: `https://a.b/${name}` });
  const request = { image: at('1'), lastFrame: at('2'), references: [at('3')] };
  await expect(submissions.generateFrameVideo(me, request, options)).rejects.toMatchObject({
    code: 'BAD_USER_INPUT',
    field: 'references',
  });
});

describe('a talking face', () => {
  const sample = (name: string) => path.join(import.meta.dirname, '../../../test/kit/samples', name);
  const stored = (name: string) =>
    world.service().store({
      owner: me.id,
      body: createReadStream(sample(name)),
      name,
      declaredType: null,
      temporary: false,
      maxBytes: 100_000,
    });

  it('is a video or an image by what the file is, whichever name it was sent under', async () => {
    const [video, image] = [await stored('high-profile.mp4'), await stored('image.png')];
    const inputs = [
      { image: { fileId: video.id } },
      { video: { fileId: video.id } },
      { video: { fileId: image.id } },
      { video: { url: 'https://example.org/face' } },
    ];
    for (const face of inputs)
      await submissions.lipSync(me, { generator: 'agg/lipsync', text: 'hi', ...face }, options);
    const [mistaken, named, still, unknown] = submitted.map(({ work }) => work);
    expect(mistaken).toMatchObject({ video: { fileId: video.id } });
    expect(mistaken).not.toHaveProperty('image');
    expect(named).toEqual(mistaken);
    expect(submitted[1]?.fingerprint).toEqual(submitted[0]?.fingerprint);
    expect(still).toMatchObject({ image: { fileId: image.id } });
    expect(unknown).toMatchObject({ video: { url: 'https://example.org/face' } });
  });
});

describe('speech', () => {
  it('is submitted as requested', async () => {
    const request = { generator: 'speech', text: 'hello', voiceId: 'v1', speed: 1.5, emotion: null };
    await submissions.synthesizeSpeech(me, request, options);
    expect(last()?.work).toEqual({
      kind: 'SPEECH',
      generator: 'speech',
      text: 'hello',
      voiceId: 'v1',
      speed: 1.5,
    });
  });

  it.each([
    [{ text: ' ' }, 'text'],
    [{ voiceId: '' }, 'voiceId'],
  ])('is refused with %j', async (change, field) => {
    const request = { generator: 'speech', text: 'hello', voiceId: 'v1', ...change };
    await expect(submissions.synthesizeSpeech(me, request, options)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field,
    });
  });

  it('is cloned from an upload, which is the same one when it comes again', async () => {
    const request = () => ({ generator: 'speech', voiceId: 'mine', sample: { upload: upload('a voice') } });
    await submissions.cloneVoice(me, request(), options);
    await submissions.cloneVoice(me, request(), options);
    const [one, two] = submitted;
    expect(one).toMatchObject({
      work: { kind: 'VOICE_CLONE', voiceId: 'mine', sample: { fileId: one?.fileIds[0] } },
    });
    expect(two?.fingerprint).toEqual(one?.fingerprint);
    expect(two?.fileIds).not.toEqual(one?.fileIds);
  });
});

describe('an analysis', () => {
  it('takes the address of a file in its provider’s storage for our own copy', async () => {
    const request = {
      generator: 'llm/altllm',
      prompt: 'what is it?',
      system: 'be short',
      media: { url: 'gs://bucket/1' },
    };
    await submissions.analyzeMedia(me, request, options);
    expect(last()?.work).toEqual({ kind: 'ANALYSIS', ...request, media: { fileId: file.id } });
  });

  it('does not take it from somebody else, who may know the address', async () => {
    const request = { generator: 'llm/altllm', prompt: 'what is it?', media: { url: 'gs://bucket/1' } };
    const stranger: Caller = { ...me, id: 'usr_other' };
    await expect(submissions.analyzeMedia(stranger, request, options)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'media.url',
      message: expect.stringContaining('does not exist'),
    });
    expect(submitted).toEqual([]);
  });

  it('needs a question', async () => {
    const request = { generator: 'llm/altllm', prompt: '', media: { fileId: file.id } };
    await expect(submissions.analyzeMedia(me, request, options)).rejects.toMatchObject({ field: 'prompt' });
  });
});

describe('a file of another kind than the work takes', () => {
  const note = async (): Promise<FileUpload> =>
    ({
      filename: 'note.txt',
      mimetype: 'text/plain',
      createReadStream: () => Readable.from([Buffer.from('a note')]),
    }) as unknown as FileUpload;
  const input = () => ({ upload: note() });

  it.each<[string, () => Promise<Task>]>([
    [
      'images[0]',
      () => submissions.generateImage(me, { generator: 'union', prompt: 'x', images: [input()] }, options),
    ],
    ['image', () => submissions.describeImage(me, { generator: 'agg/imga', image: input() }, options)],
    ['firstFrame', () => submissions.generateVideo(me, { generator: 'vidb', firstFrame: input() }, options)],
    [
      'lastFrame',
      () =>
        submissions.generateFrameVideo(me, { image: { url: 'https://a.b/1' }, lastFrame: input() }, options),
    ],
    ['sample', () => submissions.cloneVoice(me, { generator: 'speech', sample: input() }, options)],
    [
      'media',
      () => submissions.analyzeMedia(me, { generator: 'llm/altllm', prompt: 'x', media: input() }, options),
    ],
    [
      'image',
      () => submissions.lipSync(me, { generator: 'agg/lipsync', image: input(), text: 'hi' }, options),
    ],
    [
      'audio',
      () =>
        submissions.lipSync(
          me,
          { generator: 'agg/lipsync', image: { url: 'https://a.b/1' }, audio: input() },
          options,
        ),
    ],
    ['images[0]', () => submissions.createCharacter(me, { name: 'Ann', images: [input()] }, options)],
    ['image', () => submissions.detectPerson(me, { image: input() }, options)],
    [
      'audio',
      () => submissions.generateHumanVideo(me, { image: { url: 'https://a.b/1' }, audio: input() }, options),
    ],
    ['audio', () => submissions.generateAvatarVideo(me, { digitalId: 'd', audio: input() }, options)],
  ])('is refused as %s before anything is started', async (field, submit) => {
    await expect(submit()).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field,
      message: expect.stringMatching(/wrong file format, send .*; this is text\/plain$/),
    });
    expect(submitted).toEqual([]);
  });
});

describe('a comfy workflow', () => {
  it('is filled in and gets its files', async () => {
    const inputs = { image: file.id, prompt: 'a fox' };
    await submissions.runComfyWorkflow(
      me,
      { workflowName: 'image-to-image', inputs, node: 'http://a' },
      options,
    );
    expect(last()).toMatchObject({
      work: {
        kind: 'COMFY_WORKFLOW',
        generator: 'comfy',
        workflowName: 'image-to-image',
        node: 'http://a',
        files: { '10.image': { fileId: file.id } },
      },
      fileIds: [file.id],
    });
  });

  it('names the input whose file is gone', async () => {
    const request = { workflowName: 'image-to-image', inputs: { image: newId(), prompt: 'a fox' } };
    await expect(submissions.runComfyWorkflow(me, request, options)).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: expect.stringMatching(/^inputs\.image/) as string,
    });
  });
});

describe('a start by another service', () => {
  const start = (what: object, change: object = {}) =>
    submissions.startTask(
      me,
      { id: newId(), owner: 'usr_1', onEnd: null, sold: false, start: what, ...change },
      { signal: options.signal },
    );

  it.each([
    [{ image: { generator: 'union', prompt: 'x' } }, 'IMAGE'],
    [{ video: { generator: 'vidb', prompt: 'x' } }, 'VIDEO'],
    [{ comfy: { workflowName: 'text-to-image', inputs: { prompt: 'x' } } }, 'COMFY_WORKFLOW'],
    [{ recipe: { taskType: 'tea', prompt: 'x' } }, 'RECIPE'],
  ])('takes %j', async (what, kind) => {
    await start(what);
    expect(last()).toMatchObject({ work: { kind }, owner: 'usr_1', idempotencyKey: null });
  });

  it('names the models that there are, without those that have ended', () => {
    const model = (id: string, isRetired: boolean) =>
      ({ id, kinds: ['IMAGE'], isRetired: () => isRetired }) as unknown as CatalogModel;
    const provider = { name: 'painter', calls: { IMAGE: {} } } as unknown as Provider;
    const models = [model('old', true), model('new', false)];
    const registry = { all: () => [testBinding('union#0', provider, 'http://127.0.0.1:1', { models })] };
    expect(() => withGenerator(registry, 'IMAGE', { generator: 'union', model: 'none' })).toThrow(
      'no generator here makes images with it; known are new',
    );
  });

  it.each([
    ['id', { id: 'none' }],
    ['owner', { owner: ' ' }],
  ])('refuses a wrong %s', async (field, change) => {
    const starting = start({ image: { generator: 'union', prompt: 'x' } }, change);
    await expect(starting).rejects.toMatchObject({ code: 'BAD_USER_INPUT', field });
    expect(submitted).toEqual([]);
  });

  it('takes a copy of what a recipe’s template has at this moment, and a shape that can be used', async () => {
    const recipe = { taskType: 'tea', prompt: 'x', image: { fileId: file.id } };
    await start({ recipe });
    const work = { image: { fileId: file.id }, presetPrompts: ['a cup'], aspectRatio: '9:16' };
    expect(last()).toMatchObject({ work, fileIds: [file.id] });
    await start({ recipe: { ...recipe, aspectRatio: '1:1' } });
    expect(last()).toMatchObject({ work: { aspectRatio: '1:1' } });
  });

  it('refuses nothing, and two things at once', async () => {
    const two = { video: { generator: 'v', prompt: 'x' }, image: { generator: 'u', prompt: 'x' } };
    const refused = { code: 'BAD_USER_INPUT', field: 'start' };
    await expect(start({})).rejects.toMatchObject(refused);
    await expect(start(two)).rejects.toMatchObject(refused);
  });
});
