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

/** What is the own of Hedra's API v3: codes of errors, texts that are spoken first, uploads, the stream. The rest is in the contract suite. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
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

describe('a job of Hedra', () => {
  const stage = useScriptedProvider('hedra');
  const job = () => must(stage.provider.jobs?.LIP_SYNC, 'job');
  const handle = { job: 'job_1' };

  it.each([
    [
      'completed',
      {
        state: 'finished',
        outcome: { files: [{ url: 'https://cdn.hedra.com/video.mp4?signature=1' }] },
      },
    ],
    ['expired', { state: 'failed', error: { code: 'LOST', retryable: true } }],
    ['outOfCredit', { state: 'failed', error: { code: 'OUT_OF_CREDIT', retryable: true } }],
    ['moderated', { state: 'failed', error: { code: 'MODERATION_REFUSED', retryable: false } }],
  ])('that is told as %s is read as that', async (name, expected) => {
    const body = must(answers[name], 'answer');
    stage.proxy.respondNext('/status', { body: { job_id: 'job_1', status: body['status'] } });
    stage.proxy.respondNext('/jobs/job_1', { body });
    expect(await job().status(handle, stage.context)).toMatchObject(expected);
  });

  const told = (change: object) => {
    const body = { job_id: 'job_1', status: 'COMPLETED', ...change };
    stage.proxy.reset();
    stage.proxy.respondNext('/status', { body });
    stage.proxy.respondNext('/jobs/job_1', { body });
    return job().status(handle, stage.context);
  };

  it.each([
    ['INVALID_ARGUMENT', 'INVALID_INPUT', false],
    ['FAILED_PRECONDITION', 'INVALID_INPUT', false],
    ['MODERATION_FAILED', 'MODERATION_REFUSED', false],
    ['INSUFFICIENT_BALANCE', 'OUT_OF_CREDIT', true],
    ['RESOURCE_EXHAUSTED', 'RATE_LIMITED', true],
    ['DEADLINE_EXCEEDED', 'TIMED_OUT', true],
    ['NOT_FOUND', 'LOST', true],
    ['GONE', 'LOST', true],
    ['A_NEW_WORD', 'UNAVAILABLE', true],
    [null, 'UNAVAILABLE', true],
  ])('that failed as %s is %s', async (word, code, retryable) => {
    const error = { code: word, message: 'why' };
    const failed = { state: 'failed', error: { code, retryable, message: 'hedra: why' } };
    expect(await told({ status: 'FAILED', error })).toMatchObject(failed);
    expect(await told({ outputs: [{ status: 'FAILED', error }] })).toMatchObject(failed);
  });

  it.each([
    [
      { code: 'GONE', retryable: false },
      { retryable: false, message: 'hedra: it failed without a reason' },
    ],
    [{ code: 'INSUFFICIENT_BALANCE', retryable: false }, { retryable: true }],
    [{ details: [{ message: 'first' }, { message: 'second' }] }, { message: 'hedra: first' }],
  ])('that failed for %j says so', async (error, expected) => {
    expect(await told({ status: 'FAILED', error })).toMatchObject({ error: expected });
  });

  it('has its video though another output, or a detail of its failure, can not be read', async () => {
    const video = { status: 'COMPLETED', url: 'https://h.example/1.mp4' };
    expect(await told({ outputs: [null, video] })).toMatchObject({
      outcome: { files: [{ url: video.url }] },
    });
    const error = { details: ['odd', { message: 'why' }] };
    expect(await told({ status: 'FAILED', error })).toMatchObject({ error: { message: 'hedra: why' } });
  });

  it('that is completed without an address is not understood, and one that goes on is not ended', async () => {
    for (const outputs of [null, [], [{ status: 'COMPLETED' }]])
      expect(await catchFailure(told({ outputs }))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(await told({ status: 'IN_QUEUE' })).toEqual({ state: 'queued' });
    for (const [progress, percent] of [
      [0.126, 13],
      [2, 100],
      [-1, 0],
      [null, null],
    ])
      expect(await told({ status: 'IN_PROGRESS', progress })).toEqual({
        state: 'running',
        progress: percent,
        stage: 'rendering',
      });
  });

  it.each([
    [400, { error: { code: 'MODERATION_FAILED', message: 'no' } }, { code: 'MODERATION_REFUSED' }],
    [422, { error: { message: 'no', param: 'body.input.start_image.0' } }, { field: 'image' }],
    [422, { error: { message: 'no', details: [{ field: 'input.odd' }] } }, { field: 'odd' }],
    [400, { error: { message: 'no' } }, { code: 'INVALID_INPUT', field: undefined, message: 'hedra: no' }],
    [400, {}, { code: 'INVALID_INPUT', message: 'hedra: HTTP 400' }],
    [403, { error: { message: 'no' } }, { refusedCredentials: true }],
    [404, {}, { code: 'MODEL_GONE' }],
    [200, {}, { code: 'UNAVAILABLE', startUnknown: true }],
  ])('whose start is answered by HTTP %i with %j is none: %j', async (status, body, error) => {
    stage.proxy.respondNext('/models/', { status, body });
    const request = talk({ image: kept('a'), audio: kept('b'), text: undefined });
    expect(await catchFailure(job().start(request, stage.context))).toMatchObject(error);
  });

  it('has voices, of which one odd entry hides no other; without any a text needs one by name', async () => {
    const data = [{ id: 'v', name: '', labels: { language: 'en' } }, 'odd', { id: 'w', name: 'Wanda' }];
    const voices = must(stage.provider.voices, 'voices');
    stage.proxy.respondNext('/voices', { body: { data } });
    expect(await voices(stage.context)).toEqual({
      voices: [
        { id: 'v', name: 'v', language: 'en', cloned: false },
        { id: 'w', name: 'Wanda', language: null, cloned: false },
      ],
      answer: { data },
    });
    stage.proxy.respondNext('/voices', { body: { error: 'none now' } });
    expect(await catchFailure(voices(stage.context))).toMatchObject({ code: 'UNAVAILABLE' });
    stage.proxy.respondNext('/voices', { body: { data: [] } });
    const unnamed = job().start(talk({ image: kept('a') }), stage.context);
    expect(await catchFailure(unnamed)).toMatchObject({ code: 'INVALID_INPUT', field: 'voiceId' });
    stage.proxy.respondNext('/voices', { status: 401, body: {} });
    expect(await catchFailure(voices(stage.context))).toMatchObject({ refusedCredentials: true });
  });

  it('shows its progress in percent', async () => {
    stage.proxy.respondNext('/status', { body: answers['inProgress'] });
    expect(await job().status(handle, stage.context)).toMatchObject({ state: 'running', progress: 45 });
  });

  it.each([
    [400, 'validation', { code: 'INVALID_INPUT', field: 'aspectRatio', startUnknown: false }],
    [400, 'lapsedUpload', { code: 'UNAVAILABLE', retryable: true, startUnknown: false }],
    [410, 'retired', { code: 'MODEL_GONE', message: expect.stringContaining('replaced by hedra-avatar') }],
    [409, 'retired', { code: 'UNAVAILABLE', startUnknown: true }],
  ])('whose start is answered %i %s says so', async (status, name, expected) => {
    stage.proxy.respondNext('/models/', { status, body: answers[name] });
    const request = talk({ image: kept('a'), audio: kept('b'), text: undefined });
    expect(await catchFailure(job().start(request, stage.context))).toMatchObject(expected);
  });

  it('that the older API has begun is lost to this one, and a video is refused by name', async () => {
    expect(await catchFailure(job().status({ id: '1' }, stage.context))).toMatchObject({ code: 'LOST' });
    const film = await catchFailure(job().start(talk({ image: undefined, video: kept('v') }), stage.context));
    expect(film).toMatchObject({ code: 'INVALID_INPUT', field: 'video' });
  });
});

describe('the stand-in of Hedra', () => {
  const world = useEnvironment({ wire: 'hedra', queuedMs: 0, runningMs: 20, progressSteps: 2 });

  const context = () => ({
    ...makeContext(world().connection('/hedra/v3', { authorization: `Bearer ${SECRET}` })),
    reference: 'task/1/1',
  });
  const provider = () => must(world().providers['hedra'], 'provider');
  const job = () => must(provider().jobs?.LIP_SYNC, 'job');
  let runs = 0;
  /** Each with a reference of its own: the same one would give the same job. */
  async function run(request: TalkRequest): Promise<JobStatus> {
    runs += 1;
    const handle = await job().start(request, { ...context(), reference: `run/${runs}/1` });
    let last: JobStatus | undefined;
    await expect.poll(async () => isFinal((last = await job().status(handle, context())))).toBe(true);
    return must(last, 'status');
  }

  it('speaks a text by a job of its own first, with a voice of the model when none is named', async () => {
    expect(await run(talk())).toMatchObject({ state: 'finished', outcome: { files: [{}] } });
    const submitted = world().proxy.sent.filter(
      ({ method, path }) => method === 'POST' && path.includes('/models/'),
    );
    expect(submitted.map(({ headers }) => headers['idempotency-key'])).toEqual([
      `run/${runs}/1/speech`,
      `run/${runs}/1`,
    ]);
    const [speech, video] = submitted.map((sent) => readBody(sent)['input']);
    expect(speech).toEqual({ text: 'hello there', voice_id: expect.stringMatching(/^voice_[0-9a-f-]{36}$/) });
    expect(video).toMatchObject({
      aspect_ratio: '16:9',
      resolution: '720p',
      audio: { source: 'asset', asset_id: expect.stringMatching(/^asset_/) },
    });
  });

  it('speaks with each of the voices that it lists', async () => {
    const { voices } = await must(provider().voices, 'voices')(context());
    expect(voices[0]).toEqual({
      id: expect.stringMatching(/^voice_/),
      name: expect.any(String),
      language: 'en',
      cloned: false,
    });
    const ends = await Promise.all(voices.map(({ id }) => run(talk({ voiceId: id }))));
    expect(ends.map(({ state }) => state)).toEqual(voices.map(() => 'finished'));
  });

  it('refuses a voice that it does not have, a text without words, and banned words when they run', async () => {
    expect(await catchFailure(run(talk({ voiceId: 'voice_1' })))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'voiceId',
    });
    expect(await catchFailure(run(talk({ text: '…' })))).toMatchObject({
      code: 'INVALID_INPUT',
      retryable: false,
      startUnknown: false,
    });
    const refused = await run(talk({ prompt: 'nsfw-test-banned' }));
    expect(refused).toMatchObject({ state: 'failed', error: { code: 'MODERATION_REFUSED' } });
  });

  it('takes files for an hour, by addresses that are not shown', async () => {
    const upload = (contentType: string) =>
      must(provider().upload, 'upload')(
        { file: createImage({ contentType, name: 'a' }), purpose: 'lip-sync' },
        context(),
      );
    const [image, audio] = [await upload('image/png'), await upload('audio/mpeg')];
    const left = must(image.expiresAt, 'end').getTime() - Date.now();
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
    expect(JSON.stringify(image.answer)).not.toContain('signature');
    const talking = await run(talk({ image: kept(image.id), audio: kept(audio.id), text: undefined }));
    expect(talking.state).toBe('finished');
    const elsewhere = talk({ image: kept('https://example.org/a.png'), audio: kept(audio.id) });
    expect(await catchFailure(run(elsewhere))).toMatchObject({ code: 'INVALID_INPUT', field: 'image' });
    expect(await catchFailure(upload('text/plain'))).toMatchObject({ code: 'INVALID_INPUT', field: 'file' });
  });

  it('gives the same job for the same key, and streams its progress to the end', async () => {
    const hold = (percent: number) => world().setLatency({ wire: 'hedra', holdAt: percent });
    await world().setLatency({ wire: 'hedra', queuedMs: 0, runningMs: 40, progressSteps: 3, holdAt: 30 });
    const [image, audio] = [createImage(), createImage({ name: 'voice.mp3', contentType: 'audio/mpeg' })];
    const request = talk({ image, audio, text: undefined });
    const handle = await job().start(request, context());
    expect(await job().start(request, context())).toEqual(handle);
    const seen: number[] = [];
    await job().watch?.(handle, context(), ({ progress }) => {
      seen.push(progress);
      // It goes on once this is seen.
      void hold(progress < 50 ? 60 : 100);
    });
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect((await job().status(handle, context())).state).toBe('finished');
  });
});
