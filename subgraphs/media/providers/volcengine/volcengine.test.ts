import { describe, expect, it } from 'vitest';

import { isFinal } from '../../../../test/providers/contract/job-harness.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  fetchResult,
  isMp4,
  must,
  createImage,
} from '../../../../test/providers/environment/environment.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { CallContext, JobCapability, JobStatus } from '../contract/provider.ts';
import { uploadedVideo, volcengine } from './volcengine.contract.ts';

/** What is Volcengine's own: signatures, verdicts, codes, addresses of inputs, avatars. The rest is in the contract suite. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const { credentials = {} } = volcengine;
type Kind = 'PERSON_DETECTION' | 'HUMAN_VIDEO' | 'AVATAR_SOURCE' | 'AVATAR' | 'AVATAR_VIDEO';
const HANDLE = { key: 'a_key', task: '1', job: '1' };
const at = (address: string) => createImage({ publicUrl: address });

describe('an answer of Volcengine', () => {
  const stage = useScriptedProvider('volcengine');

  const job = (kind: Kind): JobCapability => must(stage.provider.jobs?.[kind], kind);
  const context = () => {
    const connection = { ...stage.context.connection, credentials, endpoints: { vod: stage.proxy.origin } };
    return { ...stage.context, connection };
  };
  function readStatus(kind: Kind, body: unknown, status = 200): Promise<JobStatus> {
    stage.proxy.respondNext('/', { status, body });
    return job(kind).status(HANDLE, context());
  }
  const done = (said: object) => ({
    code: 10_000,
    data: { status: 'done', resp_data: JSON.stringify(said) },
  });

  it.each([
    ['somebody', answers['hasSubject'], { hasPerson: true, reason: null, subjects: [] }],
    ['nobody', done({ status: 0 }), { hasPerson: false, reason: null }],
    ['unknown', done({ status: null, reason: 'not told' }), { hasPerson: null, reason: 'not told' }],
    ['no verdict', done({}), { hasPerson: null, reason: 'volcengine gave no verdict' }],
  ])('gives a verdict on an image: %s', async (_what, body, facts) => {
    const status = await readStatus('PERSON_DETECTION', body);
    expect(status).toMatchObject({ state: 'finished', outcome: { files: [], facts } });
  });

  it.each([
    ['HUMAN_VIDEO', 'omniVideo', { files: [{ url: 'https://example.com/omni.mp4' }] }],
    ['AVATAR_VIDEO', 'avatarVideo', { files: [{ url: 'https://example.com/avatar.mp4' }] }],
    ['AVATAR', 'avatar', { files: [], facts: { digitalId: 'b782c6c2-6ad9-4c8e-8e2a-659eaae7e6e0' } }],
  ] as const)('gives what came of %s', async (kind, name, outcome) => {
    expect(await readStatus(kind, answers[name])).toMatchObject({ state: 'finished', outcome });
  });

  it.each([
    ['HUMAN_VIDEO', 'a sound too long', answers['tooLong'], { code: 'INVALID_INPUT', field: 'audio' }],
    ['AVATAR_VIDEO', 'bad words', answers['moderated'], { code: 'MODERATION_REFUSED', retryable: false }],
    ['AVATAR', 'no video', { code: 50_210 }, { code: 'INVALID_INPUT', field: 'videoId' }],
    ['PERSON_DETECTION', 'no face', { code: 60_102 }, { code: 'INVALID_INPUT', field: 'image' }],
    ['HUMAN_VIDEO', 'no way to us', { code: 50_220 }, { code: 'UNAVAILABLE', retryable: true }],
  ] as const)('says how %s failed: %s', async (kind, _what, body, error) => {
    expect(await readStatus(kind, body, 400)).toMatchObject({ state: 'failed', error });
  });

  it.each([
    ['AVATAR', { code: 50_200, message: 'req_key is wrong' }, { code: 'MODEL_GONE' }],
    ['AVATAR', { code: 50_200, message: 'other' }, { code: 'INVALID_INPUT', field: undefined }],
    ['AVATAR', { code: 50_299, message: '' }, { message: 'volcengine: no reason given (50299)' }],
    ['AVATAR', { code: 50_300 }, { code: 'UNAVAILABLE', startUnknown: false }],
    ['AVATAR', { code: 50_500 }, { code: 'UNAVAILABLE', startUnknown: true }],
    ['AVATAR', { code: 50_215 }, { code: 'INVALID_INPUT', field: 'videoId' }],
    ['AVATAR_VIDEO', { code: 60_102 }, { code: 'INVALID_INPUT', field: 'digitalId' }],
  ] as const)('says how the work of %s failed: %j', async (kind, body, error) => {
    expect(await readStatus(kind, body, 400)).toMatchObject({ state: 'failed', error });
  });

  it.each([
    [400, { code: 50_429 }, { code: 'RATE_LIMITED' }],
    [401, { code: 50_300 }, { code: 'UNAVAILABLE' }],
    [403, { code: 50_200 }, { code: 'INVALID_INPUT' }],
    [500, { code: 50_300 }, { code: 'UNAVAILABLE', startUnknown: true }],
  ])('was not asked where the asking was refused: HTTP %i, %j', async (code, body, error) => {
    expect(await catchFailure(readStatus('AVATAR', body, code))).toMatchObject(error);
  });

  it.each([
    ['AVATAR', done({})],
    ['AVATAR', done({ resource_id: '' })],
    ['HUMAN_VIDEO', done({})],
    ['HUMAN_VIDEO', { code: 10_000, data: { status: 'done', resp_data: '{' } }],
  ] as const)('that has nothing of %s is not understood: %j', async (kind, body) => {
    expect(await catchFailure(readStatus(kind, body))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
    });
  });

  it('that names no task may have started one, and a handle without one is lost', async () => {
    for (const data of [{}, { task_id: null }, { task_id: '' }, null]) {
      stage.proxy.respondNext('/', { body: { code: 10_000, data } });
      const started = job('AVATAR').start({ kind: 'AVATAR', videoId: 'v' }, context());
      expect(await catchFailure(started)).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
    }
    expect(await catchFailure(job('AVATAR').status({ key: 'k' }, context()))).toMatchObject({ code: 'LOST' });
  });

  it.each([
    [
      {
        MediaInfoList: [
          { JobId: '2', State: 'fail' },
          { JobId: '1', State: 'init' },
        ],
      },
      { state: 'queued' },
    ],
    [
      { MediaInfoList: [{ JobId: '1', State: 'success', Vid: 'v' }] },
      { outcome: { facts: { videoId: 'v' } } },
    ],
    [{ MediaInfoList: [{ JobId: '1', State: 'fail' }] }, { state: 'failed', error: { code: 'UNAVAILABLE' } }],
    [
      { MediaInfoList: [null, { JobId: '1', State: 'success', Vid: 'v' }], NotExistJobIds: [7] },
      { outcome: { facts: { videoId: 'v' } } },
    ],
    [{ NotExistJobIds: ['2'] }, { state: 'running', progress: null, stage: 'uploading' }],
  ])('about an upload: %j', async (Data, expected) => {
    expect(await readStatus('AVATAR_SOURCE', { Result: { Data } })).toMatchObject(expected);
    const { method, path } = must(stage.proxy.sent[0], 'request');
    expect([method, path]).toEqual(['GET', '/?Action=QueryUploadTaskInfo&Version=2020-08-01&JobIds=1']);
  });

  it.each([
    [200, { Result: { Data: { NotExistJobIds: ['1'] } } }, { code: 'LOST' }],
    [
      200,
      { Result: { Data: { MediaInfoList: [{ JobId: '1', State: 'success' }] } } },
      { code: 'UNAVAILABLE' },
    ],
    [
      200,
      { ResponseMetadata: { Error: { Code: 'A', Message: 'b' } } },
      { code: 'UNAVAILABLE', startUnknown: false, message: 'volcengine: A: b' },
    ],
    [200, {}, { code: 'UNAVAILABLE', startUnknown: true }],
    [404, {}, { code: 'UNAVAILABLE', message: 'volcengine: HTTP 404' }],
    [401, {}, { refusedCredentials: true }],
  ])('about an upload that is none: HTTP %i, %j', async (code, body, error) => {
    expect(await catchFailure(readStatus('AVATAR_SOURCE', body, code))).toMatchObject(error);
  });

  it('is not asked for without keys, or without the address of its storage', async () => {
    const { accessKey: _key, ...rest } = credentials;
    const unsigned = { ...context(), connection: { ...context().connection, credentials: rest } };
    expect(await catchFailure(job('AVATAR').status(HANDLE, unsigned))).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: false,
      message: 'volcengine: there are no keys to sign with',
    });
    const homeless = { ...context(), connection: { ...context().connection, endpoints: {} } };
    expect(await catchFailure(job('AVATAR_SOURCE').status(HANDLE, homeless))).toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('endpoints.vod'),
    });
    expect(stage.proxy.sent).toEqual([]);
  });

  it('says how the work failed inside a success', async () => {
    const failed = await readStatus('AVATAR_VIDEO', done({ code: 7, msg: 'no luck' }));
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } });
  });

  it.each([
    ['not_found', 'LOST'],
    ['expired', 'LOST'],
  ])('that knows no task (%s) means that it is lost', async (status, code) => {
    const asked = readStatus('AVATAR', { code: 10_000, data: { status } });
    expect(await catchFailure(asked)).toMatchObject({ code, retryable: true });
  });

  it('that is full of work is to be waited for, and one of the gateway in front is ours to mend', async () => {
    const full = { code: 50_430, data: null, message: 'Request Has Reached API Concurrent Limit' };
    const start = (status: number, body: unknown) => {
      stage.proxy.respondNext('/', { status, body });
      return catchFailure(job('AVATAR').start({ kind: 'AVATAR', videoId: 'v' }, context()));
    };
    expect(await start(429, full)).toMatchObject({ code: 'RATE_LIMITED', startUnknown: false });
    const unsigned = { code: 'UNAVAILABLE', retryable: false, startUnknown: false };
    expect(await start(401, answers['signature'])).toMatchObject(unsigned);
    const unopened = await start(400, { code: 50_400, message: 'Access Denied' });
    expect(unopened).toMatchObject({ code: 'MODEL_GONE', startUnknown: false });
  });

  it.each([
    ['PERSON_DETECTION', { image: createImage() }, 'image'],
    ['HUMAN_VIDEO', { image: at('https://example.com/a.png'), audio: createImage() }, 'audio'],
    ['AVATAR_SOURCE', { video: createImage() }, 'source'],
    ['AVATAR_VIDEO', { digitalId: 'd', audio: createImage() }, 'audio'],
  ] as const)('is not waited for when it could not fetch the inputs of %s', async (kind, inputs, field) => {
    const request = { kind, prompt: undefined, resolution: undefined, ...inputs } as WorkRequest;
    const error = await catchFailure(job(kind).start(request, context()));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: false, field });
    expect(error.message).toContain("can't reach this server");
    expect(error.cause).toMatchObject({ message: expect.stringContaining('PUBLIC_URL') });
    expect(stage.proxy.sent).toEqual([]);
  });

  it('is not asked for a video without a space to keep it in', async () => {
    const { vodSpace: _space, ...keys } = credentials;
    const connection = { ...context().connection, credentials: keys };
    const request = { kind: 'AVATAR_SOURCE', video: at('https://example.com/a.mp4') } as const;
    const error = await catchFailure(job('AVATAR_SOURCE').start(request, { ...context(), connection }));
    expect(error).toMatchObject({ code: 'UNAVAILABLE', refusedCredentials: true });
    expect([error.message, stage.proxy.sent]).toEqual(['volcengine: there is no space for videos', []]);
  });

  it('comes by the key of the model that was named', async () => {
    const start = async (model: string | null) => {
      stage.proxy.respondNext('/', { body: { code: 10_000, data: { task_id: 1 } } });
      const connection = { ...context().connection, model };
      const image = at('https://example.com/a.png');
      const request = { kind: 'HUMAN_VIDEO', image, audio: image } as const;
      const handle = await job('HUMAN_VIDEO').start(request, { ...context(), connection });
      const { body } = must(stage.proxy.sent.at(-1), 'request');
      return [handle, (JSON.parse(body.toString('utf8')) as { req_key: string }).req_key];
    };
    const older = 'jimeng_realman_avatar_picture_omni_v2';
    expect(await start(older)).toEqual([{ key: older, task: '1' }, older]);
    expect((await start(null))[1]).toBe('jimeng_realman_avatar_picture_omni_v15');
  });
});

describe('the stand-in of Volcengine', () => {
  const world = useEnvironment({ wire: 'volcengine', queuedMs: 0, runningMs: 20, progressSteps: 2 });

  const context = () => ({
    ...makeContext(world().connection('/volcengine', {}, volcengine)),
    reference: 'task/1/1',
  });
  const job = (kind: Kind): JobCapability => must(world().providers['volcengine']?.jobs?.[kind], kind);
  async function run(request: WorkRequest & { readonly kind: Kind }): Promise<JobStatus> {
    const handle = await job(request.kind).start(request, context());
    let last: JobStatus | undefined;
    await expect
      .poll(async () => isFinal((last = await job(request.kind).status(handle, context()))), {
        timeout: 100_000,
      })
      .toBe(true);
    return must(last, 'status');
  }
  const input = (kind: 'image' | 'speech') => at(world().fileUrl(kind));

  it('lets in nobody whose signature is of another secret, or of another request', async () => {
    const signedBy = (connection: Partial<CallContext['connection']>) => {
      const own = context();
      const changed = { ...own, connection: { ...own.connection, ...connection } };
      return catchFailure(job('AVATAR').start({ kind: 'AVATAR', videoId: 'v' }, changed));
    };
    const wrong = await signedBy({ credentials: { ...credentials, secretKey: 'another' } });
    expect(wrong).toMatchObject({ code: 'UNAVAILABLE', startUnknown: false });
    expect(wrong.message).toContain('refused our credentials');
    await catchFailure(run({ kind: 'AVATAR', videoId: '', name: undefined }));
    const sent = must(world().proxy.sent.at(-1), 'request');
    const changed = await fetch(`${world().sandbox.url}${sent.path}`, {
      method: 'POST',
      headers: { ...sent.headers, 'content-length': '2' },
      body: '{}',
    });
    expect(changed.status).toBe(401);
    expect(await world().jobStates()).toEqual([]);
  });

  it('makes an avatar of a video that was handed over, and of no other; it speaks', async () => {
    const made = await run({ kind: 'AVATAR', videoId: await uploadedVideo(world()), name: undefined });
    const digitalId = must(
      made.state === 'finished' ? made.outcome.facts?.['digitalId'] : null,
      'id',
    ) as string;
    const said = { kind: 'AVATAR_VIDEO', audio: input('speech') } as const;
    const film = await run({ ...said, digitalId });
    const [file] = film.state === 'finished' ? film.outcome.files : [];
    const { bytes } = await fetchResult(world(), file !== undefined && 'url' in file ? file.url : '');
    expect(isMp4(bytes)).toBe(true);
    for (const request of [
      { kind: 'AVATAR', videoId: 'v02adg10005dnone' } as const,
      { ...said, digitalId: 'nobody' },
    ]) {
      expect(await run(request)).toMatchObject({ state: 'failed', error: { code: 'INVALID_INPUT' } });
    }
  });

  it('tells that it does not know who is in an image, and refuses what is none', async () => {
    const { state, ...rest } = await run({ kind: 'PERSON_DETECTION', image: input('image') });
    expect([state, rest]).toMatchObject(['finished', { outcome: { facts: { hasPerson: null } } }]);
    const sound = await run({ kind: 'PERSON_DETECTION', image: input('speech') });
    expect(sound).toMatchObject({ state: 'failed', error: { code: 'INVALID_INPUT', field: 'image' } });
  });

  it('says what it could not fetch', async () => {
    const failed = await run({ kind: 'PERSON_DETECTION', image: at('http://127.0.0.1:1/a.png') });
    expect(failed).toMatchObject({ state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } });
  });

  it('refuses words in a prompt at once', async () => {
    const request = { kind: 'HUMAN_VIDEO', image: input('image'), audio: input('speech') } as const;
    const refused = run({ ...request, prompt: 'nsfw-test-banned', resolution: undefined });
    expect(await catchFailure(refused)).toMatchObject({ code: 'MODERATION_REFUSED', startUnknown: false });
  });
});
