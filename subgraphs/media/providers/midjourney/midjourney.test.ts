import { describe, expect, it } from 'vitest';

import { imageRequest, videoRequest } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { catchFailure, must, createImage } from '../../../../test/providers/environment/environment.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { JobCapability } from '../contract/provider.ts';

/** The dialects of the midjourney-proxy family, as their own documents and sources have them (fixtures/midjourney.json). */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const stage = useScriptedProvider('midjourney');

function job(): JobCapability {
  return must(stage.provider.jobs?.IMAGE, 'job for images');
}

const start = (answer: ScriptedResponse, change: Parameters<typeof imageRequest>[0] = {}) => {
  stage.proxy.respondNext('/submit/imagine', answer);
  return job().start(imageRequest(change), stage.context);
};
const status = (answer: ScriptedResponse) => {
  stage.proxy.respondNext('/fetch', answer);
  return job().status({ taskId: '14001929738841620' }, stage.context);
};
const taskWith = (change: object) => ({ body: { ...answers['finished'], ...change } });

describe('a submission', () => {
  it.each([
    ['accepted', '8498455807619990'],
    ['waiting', '0741798445574458'],
    ['existed', '0741798445574458'],
  ])('that is %s has its task’s id as its handle', async (name, taskId) => {
    expect(await start({ body: answers[name] })).toEqual({ taskId });
  });

  it('keeps an id that comes as a number', async () => {
    expect(await start({ body: { code: 1, result: 1_689_231_405_853_400 } })).toEqual({
      taskId: '1689231405853400',
    });
  });

  it.each([
    ['queueFull', { code: 'RATE_LIMITED', retryable: true, retryAfter: 5 }],
    ['banned', { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' }],
    ['invalid', { code: 'INVALID_INPUT', retryable: false }],
    ['noAccount', { code: 'UNAVAILABLE', retryable: true }],
  ])('that is refused as %s says why, and certainly did not happen', async (name, expected) => {
    expect(await catchFailure(start({ body: answers[name] }))).toMatchObject({
      ...expected,
      startUnknown: false,
    });
  });

  it('names the word that is banned', async () => {
    expect((await catchFailure(start({ body: answers['banned'] }))).message).toContain('(nude)');
  });

  it('that an aggregator refuses for lack of credit says so', async () => {
    const error = await catchFailure(start({ status: 400, body: answers['aggregatorNoQuota'] }));
    expect(error).toMatchObject({ code: 'OUT_OF_CREDIT', retryable: true, startUnknown: false });
  });

  it.each([undefined, null, ''])('that is accepted with %j for its id may have happened', async (result) => {
    expect(await catchFailure(start({ body: { code: 1, result } }))).toMatchObject({ startUnknown: true });
  });

  it.each([
    ['fast', '/mj-fast/mj/submit/imagine'],
    ['turbo', '/mj-turbo/mj/submit/imagine'],
    ['relax', '/mj-relax/mj/submit/imagine'],
    ['warp', '/mj/submit/imagine'],
    [undefined, '/mj/submit/imagine'],
  ])('with the speed mode %s goes to %s', async (speedMode, path) => {
    await start({ body: answers['accepted'] }, { speedMode });
    expect(stage.proxy.sent[0]?.path).toBe(path);
  });

  it('goes below the prefix of an aggregator', async () => {
    const { context } = stage;
    stage.proxy.respondNext('/submit/imagine', { body: answers['accepted'] });
    const connection = { ...context.connection, pathPrefix: '/vendor' };
    await job().start(imageRequest({ speedMode: 'fast' }), { ...context, connection });
    expect(stage.proxy.sent[0]?.path).toBe('/vendor/mj-fast/mj/submit/imagine');
  });

  it('is refused before anything is sent when it asks for what this wire can not do', async () => {
    const large = createImage({ bytes: 21 << 20 });
    for (const [change, field] of [
      [{ count: 2 }, 'count'],
      [{ images: [large] }, 'images'],
    ] as const) {
      const error = await catchFailure(job().start(imageRequest(change), stage.context));
      expect(error).toMatchObject({ code: 'INVALID_INPUT', retryable: false, field });
    }
    expect(stage.proxy.sent).toEqual([]);
  });
});

describe('a task', () => {
  it('has its image, or its four prompts without their numbers', async () => {
    expect(await status({ body: answers['finished'] })).toEqual({
      state: 'finished',
      outcome: {
        files: [{ url: 'https://cdn.discordapp.com/attachments/xxx/xxx/xxxx.png' }],
        texts: [],
      },
    });
    const prompts = ['Cat', 'Cat2', 'Cat3', 'Cat4'].map((prompt) => `${prompt} --ar 5:4`);
    expect(await status({ body: answers['described'] })).toEqual({
      state: 'finished',
      outcome: { files: [], texts: prompts },
    });
  });

  it.each([
    ['NOT_START', 'queued'],
    ['SUBMITTED', 'queued'],
    ['', 'queued'],
    ['IN_PROGRESS', 'running'],
    ['MODAL', 'running'],
    ['SOMETHING_NEW', 'running'],
  ])('in the state %j is %s', async (word, state) => {
    expect((await status(taskWith({ status: word, progress: '45%' }))).state).toBe(state);
  });

  it.each([
    ['45%', 45],
    ['0%', 0],
    ['100%', 100],
    ['Waiting to start', null],
    [null, null],
    [61, null],
  ])('reads its progress from %j', async (progress, expected) => {
    const now = await status(taskWith({ status: 'IN_PROGRESS', progress }));
    expect(now).toMatchObject({ state: 'running', progress: expected });
  });

  it('is read although everything that Kiln does not need is of another shape', async () => {
    const odd = { properties: 'none', failReason: 0, buttons: {}, prompt: 7, action: null };
    expect((await status(taskWith(odd))).state).toBe('finished');
  });

  it.each([
    ['[Banned prompt detected] Content violates community standards.', 'MODERATION_REFUSED', false],
    ['[Invalid parameter] Invalid value', 'INVALID_INPUT', false],
    ['任务超时', 'UNAVAILABLE', true],
    ['取消任务', 'LOST', false],
  ])('that failed with %j is %s', async (failReason, code, retryable) => {
    const now = await status(taskWith({ status: 'FAILURE', failReason }));
    expect(now).toMatchObject({ state: 'failed', error: { code, retryable } });
  });

  it.each([
    { imageUrl: null },
    { imageUrl: '', action: 'VIDEO', videoUrls: [null] },
    { action: 'DESCRIBE', prompt: null, properties: null },
  ])('that ended without a result as %j is not understood', async (change) => {
    expect(await catchFailure(status(taskWith(change)))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that failed without a reason says so', async () => {
    expect(await status(taskWith({ status: 'FAILURE', failReason: null }))).toMatchObject({
      error: { code: 'UNAVAILABLE', retryable: true, message: 'midjourney failed: no reason given' },
    });
  });

  it.each([
    [
      { action: 'IMAGINE', progress: '61%' },
      { progress: 61, partial: [{ url: 'https://mj.example/1.png' }] },
    ],
    [
      { action: null, progress: '250%' },
      { progress: 100, partial: [{ url: 'https://mj.example/1.png' }] },
    ],
    [
      { action: 'VIDEO', progress: 'soon' },
      { progress: null, partial: [] },
    ],
  ])('that runs as %j shows %j', async (change, shown) => {
    const imageUrl = 'https://mj.example/1.png';
    expect(await status(taskWith({ status: 'IN_PROGRESS', imageUrl, ...change }))).toEqual({
      state: 'running',
      stage: 'rendering',
      ...shown,
    });
  });

  it.each([
    [{ action: 'VIDEO', videoUrl: 'https://mj.example/v.mp4', videoUrls: [{ url: 'other' }] }, 'v.mp4'],
    [
      { action: 'VIDEO', videoUrl: '', videoUrls: [null, { url: 'https://mj.example/w.mp4' }, { url: 'x' }] },
      'w.mp4',
    ],
    [{ action: 'VIDEO', videoUrls: [] }, '1.png'],
    [{ action: null, videoUrl: 'https://mj.example/v.mp4' }, '1.png'],
  ])('that ended as %j has the file %s', async (change, name) => {
    expect(await status(taskWith({ imageUrl: 'https://mj.example/1.png', ...change }))).toMatchObject({
      outcome: { files: [{ url: `https://mj.example/${name}` }] },
    });
  });

  it.each([
    ['nothing (novicezk)', { body: '' }],
    ['204 (trueai-org)', { status: 204 }],
    ['null', { body: 'null' }],
    ['code 3', { body: { code: 3 } }],
    ['404', { status: 404, body: { code: 3 } }],
    ['400 with code 4 (new-api)', { status: 400, body: answers['aggregatorUnknownTask'] }],
  ])('is lost when its upstream answers %s', async (_what, answer) => {
    expect(await catchFailure(status(answer))).toMatchObject({ code: 'LOST', retryable: true });
  });
});

describe('what is sent', () => {
  const sentBody = () => JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as object;
  const state = 'task/1/1';
  const animate = (change: object, context = stage.context) => {
    stage.proxy.respondNext('/submit/video', { body: { code: 1, result: '1' } });
    return must(stage.provider.jobs?.VIDEO, 'video').start(videoRequest(change), context);
  };

  it('for images is what was asked for, and nothing else', async () => {
    await start({ body: answers['accepted'] });
    expect(sentBody()).toEqual({ prompt: 'a lighthouse', state });
  });

  it('for a video asks for one alone, at an address of ours and in the size that was asked for', async () => {
    await animate({ resolution: '720p' }, {
      ...stage.context,
      webhookUrl: 'https://kiln.example/hook',
    } as never);
    const body = { prompt: 'a lighthouse', state, batchSize: 1 };
    const notifyHook = 'https://kiln.example/hook';
    expect(sentBody()).toEqual({ ...body, notifyHook, videoType: 'vid_1.1_i2v_720' });
    await animate({ resolution: '480p' });
    expect(sentBody()).toEqual(body);
    for (const prompt of [undefined, ' '])
      expect(await catchFailure(animate({ prompt }))).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'prompt',
      });
    expect(stage.proxy.sent).toHaveLength(2);
  });

  it('may have started where its answer is no submission', async () => {
    expect(await catchFailure(start({ body: {} }))).toMatchObject({
      code: 'UNAVAILABLE',
      startUnknown: true,
    });
  });
});

describe('asking for a start', () => {
  const find = (answer: ScriptedResponse) => {
    stage.proxy.respondNext('/mj/task/list', answer);
    return job().find?.('task/1/1', stage.context);
  };
  const others = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ ...answers['finished'], id: index, state: 'other' }));

  it('finds it by its state in a listing', async () => {
    const listing = [...others(3), { ...answers['finished'], state: 'task/1/1' }];
    expect(await find({ body: listing })).toEqual({ taskId: '14001929738841620' });
  });

  it('finds it beside an entry that can not be read, which may be any other', async () => {
    const odd = { ...answers['finished'], id: null };
    expect(await find({ body: [odd, { ...answers['finished'], state: 'task/1/1' }] })).toEqual({
      taskId: '14001929738841620',
    });
    expect(await find({ body: [odd, ...others(3)] })).toBe('unknowable');
  });

  it('says absent only of a listing that can not have left it out', async () => {
    expect(await find({ body: [] })).toBe('absent');
    expect(await find({ body: others(101) })).toBe('absent');
    // trueai-org lists the newest 100.
    expect(await find({ body: others(100) })).toBe('unknowable');
  });

  it.each([
    ['answers 404', { status: 404 }],
    ['answers its page for people (new-api)', { headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['answers something else', { body: { code: 4 } }],
  ])('can not be done where the upstream %s', async (_what, answer) => {
    expect(await find(answer)).toBe('unknowable');
  });
});

describe('cancelling', () => {
  const cancel = (answer: ScriptedResponse) => {
    stage.proxy.respondNext('/cancel', answer);
    return job().cancel?.({ taskId: '1' }, stage.context);
  };

  it('asks the task where the answer says nothing (trueai-org)', async () => {
    stage.proxy.respondNext('/fetch', taskWith({ status: 'FAILURE', failReason: '取消任务' }));
    expect(await cancel({ body: '' })).toBe('cancelled');
    stage.proxy.respondNext('/fetch', taskWith({}));
    expect(await cancel({ body: '' })).toBe('too-late');
  });

  it.each([
    [200, { code: 1 }, 'cancelled'],
    [200, { code: 2 }, 'too-late'],
    [200, { code: 21 }, 'too-late'],
    [400, { code: 1 }, 'too-late'],
  ])('is what the answer says: HTTP %i, %j', async (code, body, verdict) => {
    expect(await cancel({ status: code, body })).toBe(verdict);
  });

  it.each([
    [401, { refusedCredentials: true }],
    [403, { refusedCredentials: true }],
    [408, { retryable: true }],
    [429, { retryable: true }],
    [500, { retryable: true }],
  ])('is tried again after HTTP %i', async (code, error) => {
    const refused = must(cancel({ status: code, body: { code: 1 } }), 'cancel');
    expect(await catchFailure(refused)).toMatchObject(error);
  });

  it('does not happen where the wire has none (new-api)', async () => {
    expect(await cancel({ status: 404, body: { error: { message: 'Invalid URL' } } })).toBe('too-late');
  });
});
