import { describe, expect, it } from 'vitest';

import { isFinal } from '../../../../test/providers/contract/job-harness.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  picture,
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
  image: picture(),
  text: 'hello there',
  ...change,
});
const kept = (id: string) => picture({ uploaded: { id, uri: null } });
const bodyOf = (sent: { readonly body: Buffer } | undefined) =>
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
    const [speech, video] = submitted.map((sent) => bodyOf(sent)['input']);
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
        { file: picture({ contentType, name: 'a' }), purpose: 'lip-sync' },
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
    await world().setLatency({ wire: 'hedra', queuedMs: 0, runningMs: 600, progressSteps: 3 });
    const [image, audio] = [picture(), picture({ name: 'voice.mp3', contentType: 'audio/mpeg' })];
    const request = talk({ image, audio, text: undefined });
    const handle = await job().start(request, context());
    expect(await job().start(request, context())).toEqual(handle);
    const seen: number[] = [];
    await job().watch?.(handle, context(), ({ progress }) => void seen.push(progress));
    expect(seen.length).toBeGreaterThan(1);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect((await job().status(handle, context())).state).toBe('finished');
  });
});
