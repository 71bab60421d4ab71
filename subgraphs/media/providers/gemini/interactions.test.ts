import { GoogleGenAI } from '@google/genai';
import { describe, expect, it } from 'vitest';

import { videoRequest } from '../../../../test/providers/contract/row.ts';
import {
  makeContext,
  catchFailure,
  fetchResult,
  isMp4,
  must,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { JobStatus } from '../contract/provider.ts';

/** Videos of Google's Omni models: the Interactions API, beside Veo's operations. */

const MODEL = 'gemini-omni-1.2-flash';

describe('a video of an Omni model', () => {
  const world = useEnvironment({ wire: 'gemini', queuedMs: 0, runningMs: 50, progressSteps: 2 });
  const headers = { 'x-goog-api-key': SECRET };
  const context = () => {
    const connection = { ...world().connection('/gemini/v1beta', headers), model: MODEL };
    return { ...makeContext(connection), reference: 'task/1/1' };
  };
  const job = () => must(world().providers['gemini']?.jobs?.VIDEO, 'videos');
  async function ended(handle: Parameters<ReturnType<typeof job>['status']>[0]): Promise<JobStatus> {
    let status = await job().status(handle, context());
    await expect
      .poll(async () => (status = await job().status(handle, context())).state, { timeout: 60_000 })
      .toMatch(/finished|failed/);
    return status;
  }

  it('is started in the background, polled, and downloaded with the key at home alone', async () => {
    const request = videoRequest({
      firstFrame: createImage(),
      aspectRatio: '9:16',
      resolution: '1280x720',
      duration: 4,
      seed: 7,
    });
    const handle = await job().start(request, context());
    expect(handle).toEqual({ interaction: expect.any(String) });
    const [sent] = world().proxy.sent;
    expect(sent?.path).toBe('/gemini/v1beta/interactions');
    expect(JSON.parse(sent?.body.toString() ?? '')).toEqual({
      model: MODEL,
      input: [
        { type: 'image', data: expect.stringMatching(/^iVBOR/), mime_type: 'image/png' },
        { type: 'text', text: 'a lighthouse' },
      ],
      background: true,
      store: true,
      response_format: {
        type: 'video',
        aspect_ratio: '9:16',
        resolution: '720p',
        duration: '4s',
        delivery: 'uri',
      },
      generation_config: { seed: 7 },
    });
    const status = await ended(handle);
    const file = must(status.state === 'finished' ? status.outcome.files[0] : null, 'file');
    const { status: http, bytes } = await fetchResult(world(), 'url' in file ? file.url : '', headers);
    expect([http, isMp4(bytes)]).toEqual([200, true]);
  });

  it.each([
    ['retired-model', { code: 'MODEL_GONE' }],
    ['moderation', { code: 'MODERATION_REFUSED' }],
    ['queue-full', { code: 'RATE_LIMITED' }],
  ] as const)('that is refused (%s) has not begun', async (fault, expected) => {
    await world().injectFault({ wire: 'gemini', operation: 'interaction', fault });
    expect(await catchFailure(job().start(videoRequest(), context()))).toMatchObject({
      ...expected,
      startUnknown: false,
    });
  });

  it.each([
    ['late-moderation', 'MODERATION_REFUSED'],
    ['upstream-error', 'UNAVAILABLE'],
  ] as const)('that fails half-way (%s) says why', async (fault, code) => {
    await world().injectFault({ wire: 'gemini', operation: 'interaction', fault });
    expect(await ended(await job().start(videoRequest(), context()))).toMatchObject({
      state: 'failed',
      error: { code },
    });
  });

  it('is erased with what Google keeps of it, once', async () => {
    const handle = await job().start(videoRequest(), context());
    const erase = async () => job().erase?.(handle, context());
    await erase();
    expect(await catchFailure(job().status(handle, context()))).toMatchObject({ code: 'LOST' });
    await erase();
    const [last] = world().proxy.sent.slice(-1);
    const path = expect.stringMatching(/^\/gemini\/v1beta\/interactions\/[\w-]+$/);
    expect(last).toMatchObject({ method: 'DELETE', path });
  });

  it('is what Google’s own client asks for', async () => {
    const client = new GoogleGenAI({
      apiKey: SECRET,
      httpOptions: { baseUrl: `${world().sandbox.url}/gemini` },
    });
    const body = {
      model: MODEL,
      input: 'a lighthouse',
      background: true,
      response_format: { type: 'video', duration: '4s' },
    } as const;
    const { id } = await client.interactions.create(body);
    await expect
      .poll(async () => (await client.interactions.get(id)).status, { timeout: 60_000 })
      .toBe('completed');
  });
});

describe('an interaction', () => {
  const stage = useScriptedProvider('gemini');
  const status = async (body: object) => {
    stage.proxy.respondNext('/interactions/1', { body: { id: '1', ...body } });
    return must(stage.provider.jobs?.VIDEO, 'videos').status({ interaction: '1' }, stage.context);
  };

  it('is not kept again and again to be erased where its vendor does not do that', async () => {
    const erase = async (httpStatus: number) => {
      const body = { error: { code: httpStatus, message: 'no' } };
      stage.proxy.respondNext('/interactions/1', { status: httpStatus, body });
      return must(stage.provider.jobs?.VIDEO, 'videos').erase?.({ interaction: '1' }, stage.context);
    };
    await erase(501);
    expect(await catchFailure(erase(400))).toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('is begun with the vendor’s own options, and by its id alone', async () => {
    const context = { ...stage.context, connection: { ...stage.context.connection, model: MODEL } };
    stage.proxy.respondNext('/interactions', { body: { id: '1', status: null } });
    const request = videoRequest({ duration: 4, options: { response_format: { fps: 24 } } });
    expect(await must(stage.provider.jobs?.VIDEO, 'videos').start(request, context)).toEqual({
      interaction: '1',
    });
    expect(JSON.parse(String(stage.proxy.sent[0]?.body))).toMatchObject({
      response_format: { duration: '4s', fps: 24 },
    });
  });

  it.each([
    ['prompt', { prompt: undefined, firstFrame: createImage() }],
    ['lastFrame', { firstFrame: createImage(), lastFrame: createImage() }],
  ])('is not begun with a wrong %s', async (field, change) => {
    const { connection } = stage.context;
    const context = { ...stage.context, connection: { ...connection, model: MODEL } };
    const start = must(stage.provider.jobs?.VIDEO, 'videos').start({ ...videoRequest(), ...change }, context);
    expect(await catchFailure(start)).toMatchObject({ code: 'INVALID_INPUT', field });
    expect(stage.proxy.sent).toEqual([]);
  });

  it.each([
    [{ status: 'a_new_word' }, { state: 'running' }],
    [{ status: 'queued' }, { state: 'queued' }],
    [{ status: 'cancelled' }, { state: 'failed', error: { code: 'LOST', retryable: false } }],
    [{ status: 'budget_exceeded' }, { state: 'failed', error: { code: 'OUT_OF_CREDIT' } }],
    [
      { status: 'failed', error: { code: 8, message: 'no room' } },
      { state: 'failed', error: { code: 'RATE_LIMITED' } },
    ],
    [
      { status: 'failed', steps: [{ type: 'model_output', error: { code: 3, message: 'no such size' } }] },
      { state: 'failed', error: { code: 'INVALID_INPUT', message: 'gemini: no such size' } },
    ],
    [
      { status: 'failed', error: { code: 13, message: 'inside' } },
      { state: 'failed', error: { code: 'UNAVAILABLE' } },
    ],
    [
      { status: 'completed', steps: [] },
      { state: 'failed', error: { code: 'UNAVAILABLE' } },
    ],
    [
      {
        status: 'completed',
        steps: [7, { type: 'model_output', content: [null, { type: 'video', data: 'AAAA', text: 7 }, 'x'] }],
      },
      { state: 'finished', outcome: { files: [{ contentType: 'video/mp4' }] } },
    ],
    [
      { status: 'completed', steps: [{ type: 'model_output', content: [{ type: 'video', data: 'AAAA' }] }] },
      { state: 'finished', outcome: { files: [{ contentType: 'video/mp4' }] } },
    ],
  ])('that answers %j is %o', async (body, expected) => {
    expect(await status(body)).toMatchObject(expected);
  });
});
