import { describe, expect, it } from 'vitest';

import { isFinal } from '../../../../test/providers/contract/job-harness.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { JobStatus } from '../contract/provider.ts';
import { generationId } from './web-app.ts';

/** What is the own of Hedra's older API: kinds of errors, models, texts and voices, uploads, an id that is ours. The rest is in the contract suite. */

const { answers } = readFixture(new URL('web-app-wire.fixture.json', import.meta.url));
type TalkRequest = Extract<WorkRequest, { kind: 'LIP_SYNC' }>;
const talk = (change: Partial<TalkRequest> = {}): TalkRequest => ({
  kind: 'LIP_SYNC',
  image: createImage(),
  text: 'hello there',
  ...change,
});
const kept = (id: string) => createImage({ uploaded: { id, uri: null } });
const readBody = (sent: { readonly body: Buffer } | undefined) =>
  JSON.parse(must(sent, 'request').body.toString('utf8')) as Record<string, unknown>;

describe('a generation of Hedra', () => {
  const stage = useScriptedProvider('hedra', '/web-app');
  const job = () => must(stage.provider.jobs?.LIP_SYNC, 'job');

  it.each([
    [
      'complete',
      {
        state: 'finished',
        outcome: { files: [{ url: 'https://cdn.hedra.com/video.mp4?download=1' }] },
      },
    ],
    ['outOfCredit', { state: 'failed', error: { code: 'OUT_OF_CREDIT', retryable: true } }],
    ['likeness', { state: 'failed', error: { code: 'MODERATION_REFUSED', retryable: false } }],
    ['outputModerated', { state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } }],
  ])('that is told as %s is read as that', async (name, expected) => {
    stage.proxy.respondNext('/status', { body: answers[name] });
    expect(await job().status({ id: '1' }, stage.context)).toMatchObject(expected);
  });

  it('is started by its id alone, whatever is told of its state', async () => {
    const request = talk({ image: kept('a'), audio: kept('b'), text: undefined });
    stage.proxy.respondNext('/public/generations', { body: { id: '1', status: null } });
    expect(await job().start(request, stage.context)).toEqual({ id: '1' });
    stage.proxy.respondNext('/status', { body: { id: '1', status: null } });
    expect(await job().find?.('task/1/1', stage.context)).toEqual({ id: '1' });
  });

  const told = (change: object) => {
    stage.proxy.respondNext('/status', { body: { id: '1', ...change } });
    return job().status({ id: '1' }, stage.context);
  };

  it.each([
    [{ status: 'queued' }, { state: 'queued' }],
    [
      { status: 'finalizing', progress: 0.994 },
      { state: 'running', progress: 99, stage: 'finalizing' },
    ],
    [
      { status: 'processing', progress: 2 },
      { state: 'running', progress: 100, stage: 'rendering' },
    ],
    [
      { status: 'processing', progress: -1 },
      { state: 'running', progress: 0 },
    ],
    [{ status: 'processing' }, { state: 'running', progress: null }],
    [
      { status: 'complete', url: 'https://h.example/1' },
      { outcome: { files: [{ url: 'https://h.example/1' }] } },
    ],
    [{ status: 'error' }, { error: { code: 'UNAVAILABLE', message: 'hedra failed: no reason given' } }],
    [{ status: 'error', error_message: 'why' }, { error: { message: 'hedra failed: why' } }],
    [
      { status: 'error', error_message: 'moderated' },
      { error: { code: 'MODERATION_REFUSED', retryable: false } },
    ],
    [
      { status: 'error', error: { type: 'X', reason_code: 'MODERATION_INPUT', message: 'no' } },
      { error: { code: 'MODERATION_REFUSED' } },
    ],
  ])('that is told as %j is %j', async (change, expected) => {
    expect(await told(change)).toMatchObject(expected);
  });

  it.each([
    ['INVALID_ARGUMENT', 'INVALID_INPUT', false],
    ['FAILED_PRECONDITION', 'INVALID_INPUT', false],
    ['INSUFFICIENT_BALANCE', 'OUT_OF_CREDIT', true],
    ['RESOURCE_EXHAUSTED', 'RATE_LIMITED', true],
    ['DEADLINE_EXCEEDED', 'TIMED_OUT', true],
    ['NOT_FOUND', 'LOST', true],
    ['GONE', 'LOST', true],
    ['MODERATION_FAILED', 'MODERATION_REFUSED', false],
    ['A_NEW_WORD', 'UNAVAILABLE', true],
  ])('that failed as %s is %s', async (type, code, retryable) => {
    expect(await told({ status: 'error', error: { type, message: 'why' } })).toMatchObject({
      state: 'failed',
      error: { code, retryable, message: 'hedra failed: why' },
    });
  });

  it('that is complete without an address is not understood', async () => {
    expect(await catchFailure(told({ status: 'complete' }))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it.each([
    [404, '', 'unknowable'],
    [404, '{}', 'absent'],
    [200, '{"id":"1","status":"queued"}', { id: '1' }],
  ])('is looked for by its id: HTTP %i with %j is %j', async (status, body, found) => {
    stage.proxy.respondNext(`/public/generations/${generationId('task/1/1')}/status`, { status, body });
    expect(await job().find?.('task/1/1', stage.context)).toEqual(found);
  });

  it.each([
    [400, { detail: { type: 'MODERATION_FAILED', message: 'no' } }, { code: 'MODERATION_REFUSED' }],
    [422, { detail: [{ loc: ['body', 'model_slug'], msg: 'no' }] }, { code: 'MODEL_GONE' }],
    [422, { detail: [{ loc: ['body', 'ai_model_id'], msg: 'no' }] }, { code: 'MODEL_GONE' }],
    [422, { detail: [{ loc: ['body', 'odd'], msg: 'no' }] }, { field: 'odd', message: 'hedra: no' }],
    [422, { detail: 'no' }, { code: 'INVALID_INPUT', field: undefined }],
    [400, {}, { code: 'INVALID_INPUT', message: 'hedra: HTTP 400' }],
    [404, {}, { code: 'UNAVAILABLE' }],
  ])('that can not be started: HTTP %i with %j is %j', async (status, body, error) => {
    stage.proxy.respondNext('/generations', { status, body });
    const started = job().start(talk({ image: kept('a'), voiceId: 'v' }), stage.context);
    expect(await catchFailure(started)).toMatchObject(error);
  });

  it('needs a sound or a text, and a voice for a text', async () => {
    const silent = talk({ image: kept('a'), text: undefined });
    expect(await catchFailure(job().start(silent, stage.context))).toMatchObject({ field: 'audio' });
    stage.proxy.respondNext('/voices', { body: ['odd'] });
    const unnamed = job().start(talk({ image: kept('a') }), stage.context);
    expect(await catchFailure(unnamed)).toMatchObject({ code: 'INVALID_INPUT', field: 'voiceId' });
    stage.proxy.respondNext('/voices', { body: { detail: 'none now' } });
    const unread = must(stage.provider.voices, 'voices')(stage.context);
    expect(await catchFailure(unread)).toMatchObject({ code: 'UNAVAILABLE' });
    stage.proxy.respondNext('/voices', { body: [{ id: 'v' }, null, { id: 'w', name: 'Wanda' }] });
    expect(await must(stage.provider.voices, 'voices')(stage.context)).toMatchObject({
      voices: [
        { id: 'v', name: 'v', language: null, cloned: false },
        { id: 'w', name: 'Wanda', language: null, cloned: false },
      ],
    });
  });

  it('is started by what was asked for, and no more', async () => {
    stage.proxy.respondNext('/generations', { body: { id: '1', status: 'queued' } });
    const model = '3c90c3cc-0d44-4b50-8888-8dd25736052a';
    const connection = { ...stage.context.connection, model };
    await job().start(talk({ image: kept('a'), voiceId: 'v' }), { ...stage.context, connection });
    expect(readBody(stage.proxy.sent.at(-1))).toEqual({
      type: 'video',
      generation_id: generationId('task/1/1'),
      ai_model_id: model,
      start_keyframe_id: 'a',
      audio_generation: { type: 'text_to_speech', voice_id: 'v', text: 'hello there' },
      generated_video_inputs: { text_prompt: 'A person speaking to the camera' },
    });
  });

  it('is started with files that are there already, by the model and the voice that are named', async () => {
    const start = async (model: string, change: Partial<TalkRequest>) => {
      stage.proxy.respondNext('/generations', { body: { id: '1', status: 'queued' } });
      const connection = { ...stage.context.connection, model };
      await job().start(talk({ image: kept('a'), ...change }), { ...stage.context, connection });
      return readBody(stage.proxy.sent.at(-1));
    };
    expect(await start('hedra-omnia', { audio: kept('b'), text: undefined })).toMatchObject({
      ai_model_id: 'ab372b84-432f-44f5-bacc-c2542465f712',
      start_keyframe_id: 'a',
      audio_id: 'b',
    });
    expect(await start('a-new-model', { voiceId: 'v' })).toMatchObject({
      model_slug: 'a-new-model',
      audio_generation: { type: 'text_to_speech', voice_id: 'v', text: 'hello there' },
    });
    expect(stage.proxy.sent).toHaveLength(2);
  });

  it('that is there already was begun by this very reference', async () => {
    stage.proxy.respondNext('/generations', { status: 409, body: { detail: 'exists' } });
    const request = talk({ image: kept('a'), voiceId: 'v' });
    expect(await job().start(request, stage.context)).toEqual({ id: generationId('task/1/1') });
    expect(generationId('task/1/1')).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    );
  });

  it('names the input at fault, and says that no video is taken', async () => {
    stage.proxy.respondNext('/generations', { status: 422, body: answers['validation'] });
    const wrong = await catchFailure(job().start(talk({ image: kept('a'), voiceId: 'v' }), stage.context));
    expect(wrong).toMatchObject({ code: 'INVALID_INPUT', field: 'aspectRatio' });
    const film = await catchFailure(job().start(talk({ image: undefined, video: kept('v') }), stage.context));
    expect(film).toMatchObject({ code: 'INVALID_INPUT', field: 'video' });
  });
});

describe('the stand-in of Hedra’s older API', () => {
  const world = useEnvironment({ wire: 'hedra', queuedMs: 0, runningMs: 20, progressSteps: 2 });

  const context = () => ({
    ...makeContext(world().connection('/hedra/web-app', { 'x-api-key': SECRET })),
    reference: 'task/1/1',
  });
  const provider = () => must(world().providers['hedra'], 'provider');
  async function run(request: TalkRequest): Promise<JobStatus> {
    const job = must(provider().jobs?.LIP_SYNC, 'job');
    const handle = await job.start(request, context());
    let last: JobStatus | undefined;
    await expect.poll(async () => isFinal((last = await job.status(handle, context())))).toBe(true);
    return must(last, 'status');
  }

  it('speaks a text with a voice of the account when none is named', async () => {
    expect(await run(talk())).toMatchObject({ state: 'finished', outcome: { files: [{}] } });
    const started = world().proxy.sent.find(({ path }) => path.endsWith('/generations'));
    const voices = world().proxy.sent.filter(({ path }) => path.endsWith('/voices'));
    expect([readBody(started)['audio_generation'], voices.length]).toEqual([
      { type: 'text_to_speech', voice_id: expect.stringMatching(/^[0-9a-f-]{36}$/), text: 'hello there' },
      1,
    ]);
  });

  it('speaks with each of the voices that it lists', async () => {
    const { voices } = await must(provider().voices, 'voices')(context());
    expect(voices.length).toBeGreaterThan(0);
    const ends = await Promise.all(voices.map(({ id }) => run(talk({ voiceId: id }))));
    expect(ends.map(({ state }) => state)).toEqual(voices.map(() => 'finished'));
  });

  it('refuses a voice that it does not have, and banned words only when it runs', async () => {
    const voiceId = '3c90c3cc-0d44-4b50-8888-8dd25736052a';
    expect(await catchFailure(run(talk({ voiceId })))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'voiceId',
    });
    const refused = await run(talk({ prompt: 'nsfw-test-banned' }));
    expect(refused).toMatchObject({ state: 'failed', error: { code: 'MODERATION_REFUSED' } });
  });

  it('fails for good with what can not be spoken', async () => {
    const failed = await run(talk({ text: '…' }));
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'INVALID_INPUT', retryable: false } });
  });

  it('keeps files for later: images and sounds by a form, videos by an address without the key', async () => {
    const upload = (contentType: string) =>
      must(provider().upload, 'upload')(
        { file: createImage({ contentType, name: 'a' }), purpose: 'lip-sync' },
        context(),
      );
    const [image, audio] = [await upload('image/png'), await upload('audio/mpeg')];
    const keep = (id: string) => kept(id);
    const talking = await run(talk({ image: keep(image.id), audio: keep(audio.id), text: undefined }));
    expect(talking.state).toBe('finished');
    const video = await upload('video/mp4');
    expect(video).toMatchObject({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), uri: null, expiresAt: null });
    expect(JSON.stringify([image, audio, video])).not.toContain(SECRET);
    // The video went to the address of the answer, not through the API.
    expect(world().proxy.sent.filter(({ path }) => path.endsWith('/upload'))).toHaveLength(2);
    expect(await catchFailure(upload('text/plain'))).toMatchObject({ code: 'INVALID_INPUT', field: 'file' });
  });
});
