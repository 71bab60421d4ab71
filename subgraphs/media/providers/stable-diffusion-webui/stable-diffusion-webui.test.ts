import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { imageRequest } from '../../../../test/providers/contract/row.ts';
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
import type { Outcome } from '../contract/provider.ts';

/** What is the web UI's own: its exceptions, checkpoints, progress of a call, and that only our own work is interrupted. */

const WIRE = 'stable-diffusion-webui';
const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));

describe('an answer of Stable Diffusion web UI', () => {
  const stage = useScriptedProvider(WIRE);
  const make = (change: Parameters<typeof imageRequest>[0] = {}, model: string | null = null) => {
    const context = { ...stage.context, connection: { ...stage.context.connection, model } };
    return must(stage.provider.calls?.IMAGE, 'call').call(imageRequest(change), context);
  };

  it.each([
    [500, 'outOfMemory', { code: 'UNAVAILABLE', retryable: true, startUnknown: false }],
    [500, 'badPicture', { code: 'INVALID_INPUT', retryable: false }],
    [404, 'noApi', { code: 'UNAVAILABLE', message: expect.stringContaining('--api') }],
  ])('of %i %s is read as what it says', async (status, name, expected) => {
    stage.proxy.respondNext('/sdapi/', { status, body: answers[name] });
    const error = await catchFailure(make());
    expect(error).toMatchObject(expected);
    expect(error.message).not.toContain('/home/user');
  });

  it('without images was interrupted, and images of extensions are left out', async () => {
    stage.proxy.respondNext('/sdapi/', { body: { images: [], info: '{}' } });
    expect(await catchFailure(make())).toMatchObject({ code: 'UNAVAILABLE', startUnknown: false });
    stage.proxy.respondNext('/sdapi/', { body: { images: [null, '', 'AAAA', 'BBBB'], info: '{}' } });
    expect((await make()).files).toMatchObject([{ content: Buffer.from('AAAA', 'base64') }]);
  });

  it.each([
    ['other-studio', 'sketches/other-studio.safetensors [4b3c2d1e0f]'],
    ['4b3c2d1e0f', 'sketches/other-studio.safetensors [4b3c2d1e0f]'],
  ])('about its checkpoints gives the title of %s', async (model, title) => {
    const listed = [{ title: null }, { title, model_name: 'other-studio', hash: '4b3c2d1e0f' }];
    stage.proxy.respondNext('/sd-models', { body: listed });
    stage.proxy.respondNext('/txt2img', { body: { images: ['AAAA'] } });
    await make({}, model);
    const sent = JSON.parse(must(stage.proxy.sent.at(-1), 'request').body.toString('utf8')) as object;
    expect(sent).toMatchObject({ override_settings: { sd_model_checkpoint: title } });
  });

  it('that has no such checkpoint is none to draw with another one', async () => {
    stage.proxy.respondNext('/sd-models', { body: [{ title: 'a [0]', model_name: 'a', hash: '0' }] });
    const error = await catchFailure(make({}, 'nowhere'));
    expect(error).toMatchObject({ code: 'MODEL_GONE', retryable: false, startUnknown: false });
    expect(stage.proxy.sent).toHaveLength(1);
  });

  const sentBody = () => JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as Record<string, unknown>;
  const draw = (change: Parameters<typeof imageRequest>[0]) => {
    stage.proxy.respondNext('2img', { body: { images: ['AAAA', 'BBBB', 'CCCC'] } });
    return make(change);
  };

  it('is asked for by all that was asked for, and by no more', async () => {
    const { files } = await draw({ negativePrompt: 'people', seed: 7, count: 2 });
    expect(files).toHaveLength(2);
    const own = { prompt: 'a lighthouse', force_task_id: 'task/1/1' };
    expect(sentBody()).toEqual({ ...own, negative_prompt: 'people', seed: 7, n_iter: 2 });
    await draw({});
    expect(sentBody()).toEqual({ ...own, n_iter: 1 });
    await draw({ images: [createImage()], mask: createImage() });
    const png = expect.stringMatching(/^iVBORw0KGgo/);
    expect(sentBody()).toEqual({
      ...own,
      n_iter: 1,
      width: 8,
      height: 8,
      init_images: [png],
      mask: png,
      inpaint_full_res: false,
      inpainting_fill: 1,
    });
  });

  it.each([
    [{ resolution: '640x480' }, 640, 480],
    [{ aspectRatio: '16:9' }, 1_368, 768],
    [{ aspectRatio: '1:1' }, 1_024, 1_024],
    [{ aspectRatio: '2' }, 1_448, 728],
  ])('has for %j %i by %i pixels', async (change, width, height) => {
    await draw(change);
    expect(sentBody()).toMatchObject({ width, height });
  });

  it('is not asked for with images that can not be read', async () => {
    const text = createImage({ open: async () => Readable.from([Buffer.from('no image')]) });
    expect(await catchFailure(draw({ images: [text] }))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'images',
    });
    expect(await catchFailure(draw({ images: [createImage()], mask: text }))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'mask',
    });
    expect(stage.proxy.sent).toEqual([]);
  });

  it.each([
    [
      422,
      { detail: [{ loc: ['body', 'n_iter'], msg: 'too many' }] },
      { code: 'INVALID_INPUT', field: 'count' },
    ],
    [422, { detail: 'odd' }, { code: 'INVALID_INPUT', field: undefined }],
    [
      400,
      { error: 'HTTPException', detail: '', errors: 'wrong' },
      { code: 'INVALID_INPUT', message: `${WIRE}: wrong` },
    ],
    [404, { error: 'Broken', detail: '', errors: 'gone' }, { code: 'UNAVAILABLE', message: `${WIRE}: gone` }],
    [401, { error: 'HTTPException', detail: '', errors: 'who?' }, { refusedCredentials: true }],
    [429, { error: 'HTTPException', detail: '', errors: 'slow' }, { code: 'RATE_LIMITED' }],
    [400, {}, { code: 'INVALID_INPUT', message: `${WIRE}: HTTP 400` }],
    [502, {}, { code: 'UNAVAILABLE', startUnknown: true, message: `${WIRE}: HTTP 502` }],
    [410, {}, { code: 'UNAVAILABLE' }],
    [200, {}, { code: 'UNAVAILABLE', startUnknown: false }],
    [200, { images: null }, { code: 'UNAVAILABLE', startUnknown: false }],
  ])('of HTTP %i with %j is %j', async (status, body, error) => {
    stage.proxy.respondNext('/txt2img', { status, body });
    expect(await catchFailure(make())).toMatchObject(error);
  });

  it('about its checkpoints that is refused is no missing model', async () => {
    stage.proxy.respondNext('/sd-models', { status: 401, body: {} });
    expect(await catchFailure(make({}, 'nowhere'))).toMatchObject({ refusedCredentials: true });
  });

  it('is not asked for with a resolution that is no size, or a second image', async () => {
    expect(await catchFailure(make({ resolution: '1080p' }))).toMatchObject({ field: 'resolution' });
    expect(await catchFailure(make({ images: [createImage(), createImage()] }))).toMatchObject({
      field: 'images',
    });
    expect(stage.proxy.sent).toEqual([]);
  });
});

describe('a call at the stand-in of Stable Diffusion web UI', () => {
  const world = useEnvironment({ wire: WIRE, queuedMs: 0, runningMs: 20, progressSteps: 2, concurrency: 1 });
  const login = { credentials: { user: 'kiln', password: SECRET } };
  let starts = 0;
  const contextFor = (signal?: AbortSignal) => {
    starts += 1;
    const connection = world().connection('/stable-diffusion-webui', {}, login);
    return { ...makeContext(connection, signal), reference: `task/${starts}/1` };
  };
  const call = () => must(world().providers[WIRE]?.calls?.IMAGE, 'call');
  const sentTo = (part: string) => world().proxy.sent.filter(({ path }) => path.includes(part)).length;

  it('logs in by user and password, and keeps the size of the image that it changes', async () => {
    const outcome: Outcome = await call().call(imageRequest({ images: [createImage()] }), contextFor());
    expect(outcome.files).toHaveLength(1);
    const sent = JSON.parse(must(world().proxy.sent[0], 'request').body.toString('utf8')) as object;
    expect(sent).toMatchObject({ width: 8, height: 8 });
    expect(sent).not.toHaveProperty('mask');
  });

  it('tells its progress while it is open, and is interrupted there when it is cancelled', async () => {
    await world().setLatency({ wire: WIRE, queuedMs: 0, runningMs: 60_000, progressSteps: 100 });
    const cancel = new AbortController();
    const seen: number[] = [];
    const report = ({ progress }: { readonly progress: number }) => void seen.push(progress);
    const made = catchFailure(call().call(imageRequest(), { ...contextFor(cancel.signal), report }));
    await expect.poll(() => seen.some((progress) => progress > 0)).toBe(true);
    cancel.abort();
    await made;
    expect(await world().jobStates()).toEqual(['cancelled']);
  });

  it('that waits behind another’s leaves that alone when it is cancelled', async () => {
    await world().setLatency({ wire: WIRE, queuedMs: 0, runningMs: 60_000 });
    const [other, cancel] = [new AbortController(), new AbortController()];
    const first = catchFailure(call().call(imageRequest(), contextFor(other.signal)));
    await expect.poll(() => world().jobStates()).toEqual(['running']);
    const second = catchFailure(call().call(imageRequest(), contextFor(cancel.signal)));
    await expect.poll(async () => (await world().jobStates()).length).toBe(2);
    cancel.abort();
    await second;
    expect(sentTo('/interrupt')).toBe(0);
    expect((await world().jobStates()).toSorted()).toEqual(['queued', 'running']);
    other.abort();
    await first;
    expect(sentTo('/interrupt')).toBe(1);
  });

  it('at a server that reports no task is never interrupted', async () => {
    await world().setLatency({ wire: WIRE, queuedMs: 0, runningMs: 60_000 });
    const cancel = new AbortController();
    const made = catchFailure(call().call(imageRequest(), contextFor(cancel.signal)));
    await expect.poll(() => world().jobStates()).toEqual(['running']);
    world().proxy.respondNext('/internal/progress', { status: 404, body: { detail: 'Not Found' } });
    cancel.abort();
    await made;
    expect([sentTo('/sdapi/v1/progress'), sentTo('/interrupt')]).toEqual([1, 0]);
  });
});
