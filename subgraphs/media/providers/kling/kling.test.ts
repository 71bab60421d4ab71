import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { describe, expect, it } from 'vitest';

import { isFinal } from '../../../../test/providers/contract/job-harness.ts';
import { videoRequest } from '../../../../test/providers/contract/row.ts';
import { documented, expectDocumented, readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { Connection, JobCapability, JobStatus } from '../contract/provider.ts';

/** What the contract leaves out: images, signed tokens, the two paths, and how others answer on this wire. */

const fixture = readFixture(new URL('wire.fixture.json', import.meta.url));
const { answers } = fixture;
const TASK = '833446756000000001';

describe('a video from images, at the stand-in', () => {
  const world = useEnvironment({ wire: 'kling', queuedMs: 10, runningMs: 20, progressSteps: 1 });

  const job = () => must(world().providers['kling']?.jobs?.VIDEO, 'job');
  const withKeys = (credentials: Record<string, string>): Connection => ({
    ...world().connection('/kling', {}),
    credentials,
  });
  const signed = () => withKeys({ accessKey: 'an-access-key', secretKey: SECRET });
  const start = (connection: Connection, change: Parameters<typeof videoRequest>[0] = {}) =>
    job().start(videoRequest(change), { ...makeContext(connection), reference: 'task/1/1' });
  const sentStart = () => must(world().proxy.sent[0], 'request');

  it.each([
    ['a first frame', { firstFrame: createImage() }, { image: expect.stringMatching(/^iVBOR/) }],
    [
      'a first and a last frame',
      { firstFrame: createImage(), lastFrame: createImage(), aspectRatio: '9:16' },
      { image: expect.stringMatching(/^iVBOR/), image_tail: expect.stringMatching(/^iVBOR/), mode: 'pro' },
    ],
    [
      'a last frame alone',
      { lastFrame: createImage(), prompt: undefined },
      { image_tail: expect.any(String), mode: 'pro' },
    ],
  ])('takes %s as raw base64 and is asked for on its own path', async (_what, change, fields) => {
    const connection = signed();
    const handle = await start(connection, change);
    expect(handle).toEqual({ taskId: expect.stringMatching(/^\d+$/), action: 'image2video' });
    const prompt = 'prompt' in change ? {} : { prompt: 'a lighthouse' };
    expect(await expectDocumented(sentStart(), documented(fixture, 'image2video'), '/kling')).toEqual({
      model_name: 'kling-v2-5-turbo',
      external_task_id: 'task/1/1',
      ...prompt,
      ...fields,
    });
    world().proxy.reset();
    let status: JobStatus;
    do status = await job().status(handle, makeContext(connection));
    while (!isFinal(status));
    expect(status).toMatchObject({
      state: 'finished',
      outcome: { files: [{ url: expect.stringContaining('.mp4') }] },
    });
    await expectDocumented(sentStart(), documented(fixture, 'queryImage'), '/kling');
    expect(await job().find?.('task/1/1', makeContext(connection))).toEqual(handle);
  });

  it('signs a token of its own for every request, which ends in half an hour', async () => {
    const connection = signed();
    const handle = await start(connection);
    await job().status(handle, makeContext(connection));
    const tokens = world().proxy.sent.map(
      ({ headers }) => headers['authorization']?.replace('Bearer ', '') ?? '',
    );
    expect(tokens).toHaveLength(2);
    for (const token of tokens) {
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
      await jwtVerify(token, new TextEncoder().encode(SECRET));
      const { iss, exp = 0, nbf = 0 } = decodeJwt(token);
      expect([iss, exp - nbf]).toEqual(['an-access-key', 1_805]);
    }
  });

  it('is refused with another secret, which is not its caller’s fault', async () => {
    const error = await catchFailure(
      start(withKeys({ accessKey: 'an-access-key', secretKey: `${SECRET}!` })),
    );
    expect(error).toMatchObject({ code: 'UNAVAILABLE', retryable: false, startUnknown: false });
    expect(await world().starts()).toEqual({});
  });

  it('with a reference that exists already is refused, not started again', async () => {
    await start(signed());
    expect(await catchFailure(start(signed()))).toMatchObject({ startUnknown: false });
    expect(await world().starts()).toEqual({ 'task/1/1': 1 });
  });
});

describe('the wire’s words', () => {
  const stage = useScriptedProvider('kling');

  const job = (): JobCapability => must(stage.provider.jobs?.VIDEO, 'job');
  const start = (answer: ScriptedResponse, change: Parameters<typeof videoRequest>[0] = {}) => {
    stage.proxy.respondNext('/v1/videos/', answer);
    return job().start(videoRequest(change), stage.context);
  };
  const status = (answer: ScriptedResponse, action = 'text2video') => {
    stage.proxy.respondNext(`/v1/videos/${action}/${TASK}`, answer);
    return job().status({ taskId: TASK, action }, stage.context);
  };

  it.each([
    [{ body: answers['submitted'] }, TASK],
    [{ body: { id: 'task_1', task_id: 'task_1', status: 'queued' } }, 'task_1'],
    [{ body: { code: 'success', data: { task_id: 42 } } }, '42'],
  ])('for an accepted start name its task: %j', async (answer, taskId) => {
    expect(await start(answer)).toEqual({ taskId, action: 'text2video' });
  });

  it.each([
    [401, 1002, 'UNAVAILABLE', false, false],
    [429, 1102, 'OUT_OF_CREDIT', true, false],
    [400, 1201, 'INVALID_INPUT', false, false],
    [404, 1203, 'MODEL_GONE', false, false],
    [429, 1103, 'MODEL_GONE', false, false],
    [400, 1301, 'MODERATION_REFUSED', false, false],
    [429, 1302, 'RATE_LIMITED', true, false],
    [429, 1303, 'RATE_LIMITED', true, false],
    [429, 1304, 'UNAVAILABLE', false, false],
    [503, 5001, 'UNAVAILABLE', true, true],
    [504, 5002, 'UNAVAILABLE', true, true],
    // The code in the body says more than the status.
    [200, 1303, 'RATE_LIMITED', true, false],
    [400, 9999, 'UNAVAILABLE', true, true],
  ])('for a refused start: %i with code %i is %s', async (http, code, expected, retryable, startUnknown) => {
    const error = await catchFailure(
      start({ status: http, body: { code, message: 'why', request_id: 'r' } }),
    );
    expect(error).toMatchObject({ code: expected, retryable, startUnknown });
  });

  it('for a start that was accepted without an id leave open whether it happened', async () => {
    const error = await catchFailure(start({ body: { code: 0, data: {} } }));
    expect(error).toMatchObject({ startUnknown: true });
  });

  it.each([
    [answers['submitted'], { state: 'queued' }],
    [answers['processing'], { state: 'running', progress: null }],
    [
      answers['succeeded'],
      { state: 'finished', outcome: { files: [{ url: 'https://p1.a.kwimgs.com/output.mp4' }], texts: [] } },
    ],
    [answers['failed'], { state: 'failed', error: { code: 'INVALID_INPUT', retryable: false } }],
    [answers['aggregatorQueued'], { state: 'queued' }],
    [
      answers['aggregatorCompleted'],
      { state: 'finished', outcome: { files: [{ url: 'https://example.com/video.mp4' }] } },
    ],
    [
      answers['aggregatorSucceeded'],
      { state: 'finished', outcome: { files: [{ url: 'https://example.com/866168216002236456.m4v' }] } },
    ],
  ])('for a task are read: %j', async (body, expected) => {
    expect(await status({ body })).toMatchObject(expected);
  });

  it.each([
    ['Failure to pass the risk control system', 'MODERATION_REFUSED', false],
    ['Content moderation review failed.', 'MODERATION_REFUSED', false],
    ['Task failed, please try again later', 'UNAVAILABLE', true],
    ['', 'UNAVAILABLE', true],
  ])('for a failed task give its reason: %j is %s', async (message, code, retryable) => {
    const data = { task_id: TASK, task_status: 'failed', task_status_msg: message };
    const now = await status({ body: { code: 0, message: 'SUCCEED', data } });
    expect(now).toMatchObject({ state: 'failed', error: { code, retryable } });
  });

  it.each([
    ['1203', { status: 404, body: { code: 1203, message: 'The requested resource does not exist' } }],
    ['1201', { status: 400, body: { code: 1201, message: 'Task not found' } }],
    ['404', { status: 404, body: 'not found' }],
    ['an aggregator’s own', { status: 400, body: { code: 'task_not_exist', message: 'task_not_exist' } }],
  ])('for a task that is lost: %s', async (_what, answer) => {
    expect(await catchFailure(status(answer, 'image2video'))).toMatchObject({
      code: 'LOST',
      retryable: true,
    });
  });

  it('for a start that names its model otherwise are read as that', async () => {
    for (const message of ['model_name value kling-v0 is invalid', 'The model does not exist']) {
      const error = await catchFailure(start({ status: 400, body: { code: 1201, message } }));
      expect(error).toMatchObject({ code: 'MODEL_GONE', message: `kling: ${message} (1201)` });
    }
    const other = { status: 400, body: { code: 1200, message: 'The model does not exist' } };
    expect(await catchFailure(start(other))).toMatchObject({ code: 'INVALID_INPUT' });
    const plain = { status: 400, body: { message: 'The model has been retired.' } };
    expect(await catchFailure(start(plain))).toMatchObject({ code: 'MODEL_GONE' });
    const error = { status: 400, body: { error: { message: 'why' } } };
    expect(await catchFailure(start(error))).toMatchObject({ code: 'INVALID_INPUT', message: 'kling: why' });
    expect(await catchFailure(start({ status: 400, body: {} }))).toMatchObject({
      message: 'kling: HTTP 400',
    });
  });

  it('for a task without a state are none, and a failure may be told by an aggregator’s field', async () => {
    const data = { task_id: TASK, task_status: '', status: '' };
    expect(await catchFailure(status({ body: { code: 0, data } }))).toMatchObject({ code: 'UNAVAILABLE' });
    expect(
      await status({ body: { task_id: TASK, status: 'FAILURE', fail_reason: 'bad luck' } }),
    ).toMatchObject({
      error: { message: 'kling failed: bad luck' },
    });
    expect(await status({ body: { task_id: TASK, status: 'FAILURE' } })).toMatchObject({
      error: { message: 'kling failed: no reason given' },
    });
  });

  it('are asked for in the quality that the size needs, with public images by their addresses', async () => {
    const accepted = { body: answers['submitted'] };
    const sent = async (change: Parameters<typeof videoRequest>[0]) => {
      await start(accepted, change);
      return JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as object;
    };
    const own = { model_name: 'kling-v2-5-turbo', prompt: 'a lighthouse', external_task_id: 'task/1/1' };
    expect(await sent({})).toEqual(own);
    expect(await sent({ resolution: '720p', duration: 5 })).toEqual({ ...own, mode: 'std', duration: '5' });
    expect(await sent({ resolution: '1080p' })).toEqual({ ...own, mode: 'pro' });
    const firstFrame = createImage({ publicUrl: 'https://example.com/a.png', bytes: 11 << 20 });
    expect(await sent({ firstFrame })).toEqual({ ...own, image: 'https://example.com/a.png' });
    const largest = await sent({ firstFrame: createImage({ bytes: 10 << 20 }) });
    expect(largest).toMatchObject({ image: expect.stringMatching(/^iVBOR/) });
  });

  it('for a success without a video are no result', async () => {
    const body = { code: 0, data: { task_id: TASK, task_status: 'succeed', task_result: { videos: [] } } };
    expect(await catchFailure(status({ body }))).toMatchObject({ code: 'UNAVAILABLE', retryable: true });
  });

  it('for an image that is too large come before anything is sent', async () => {
    const error = await catchFailure(start({}, { lastFrame: createImage({ bytes: 11 << 20 }) }));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', retryable: false, field: 'lastFrame' });
    expect(stage.proxy.sent).toEqual([]);
  });

  describe('about a start that nobody knows of', () => {
    const find = (...pages: ScriptedResponse[]) => {
      for (const page of pages) stage.proxy.respondNext('?pageNum=', page);
      return job().find?.('task/1/1', stage.context);
    };
    const page = (count: number, more: object[] = []) => ({
      body: {
        code: 0,
        message: 'SUCCEED',
        data: [...Array.from({ length: count }, (_, id) => ({ task_id: `${id}`, task_info: {} })), ...more],
      },
    });
    const wanted = { task_id: TASK, task_status: 'submitted', task_info: { external_task_id: 'task/1/1' } };

    it('find it in the listing of either path, on a later page too', async () => {
      expect(await find(page(3, [wanted]))).toEqual({ taskId: TASK, action: 'text2video' });
      expect(await find(page(3), page(500), page(2, [wanted]))).toEqual({
        taskId: TASK,
        action: 'image2video',
      });
    });

    it('find it beside an entry that is none, and say unknowable where that, or one without an id, may be it', async () => {
      const body = (data: readonly unknown[]) => ({ body: { code: 0, data } });
      expect(await find(body([null, wanted]))).toEqual({ taskId: TASK, action: 'text2video' });
      expect(await find(body([null]), page(0))).toBe('unknowable');
      expect(await find(body([{ ...wanted, task_id: null }]), page(0))).toBe('unknowable');
    });

    it('say absent only after both listings were read to their ends', async () => {
      expect(await find(page(0), page(499))).toBe('absent');
      expect(await find(page(500), page(500), page(500), page(500), page(0))).toBe('unknowable');
    });

    it('say so where a listing is refused, and where it has no more than can be read', async () => {
      const refused = find({ status: 401, body: { code: 1002, message: 'why' } });
      expect(await catchFailure(must(refused, 'find'))).toMatchObject({ refusedCredentials: true });
      stage.proxy.reset();
      expect(await find(page(500), page(500), page(500), page(500, [wanted]))).toEqual({
        taskId: TASK,
        action: 'text2video',
      });
      expect(stage.proxy.sent.map(({ path }) => path)).toEqual(
        [1, 2, 3, 4].map((number) => `/v1/videos/text2video?pageNum=${number}&pageSize=500`),
      );
    });

    it.each([
      ['is not there', { status: 404 }],
      ['is a page for people', { headers: { 'content-type': 'text/html' }, body: '<html>' }],
      ['is something else', { body: { code: 'success', data: null } }],
    ])('say unknowable where a listing %s', async (_what, answer) => {
      expect(await find(answer, page(0))).toBe('unknowable');
    });
  });
});
