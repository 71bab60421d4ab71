import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import { imageRequest, videoRequest, REFERENCE } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  must,
  picture,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import { findWire } from '../../../../test/providers/environment/find-wire.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';

/** What is fal's own: its errors, its storage, its stream, its paths. The rest is in the contract suite. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const HANDLE = { requestId: '1', path: '/fal-ai/flux/requests/1' };

describe('a completed request of fal', () => {
  const stage = useScriptedProvider('fal');

  const job = () => must(stage.provider.jobs?.IMAGE, 'job');
  function statusWith(result: ScriptedResponse) {
    stage.proxy.reset();
    stage.proxy.respondNext('/status', { body: answers['completed'] });
    // A 504 is asked for again before it is believed.
    for (let asked = 0; asked < 4; asked += 1) stage.proxy.respondNext('/requests/1', result);
    return job().status(HANDLE, stage.context);
  }

  it.each([
    [
      'a content policy',
      { status: 422, body: answers['contentPolicy'] },
      { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
    ],
    [
      'a wrong input',
      { status: 422, body: answers['wrongInput'] },
      { code: 'INVALID_INPUT', retryable: false, field: 'image' },
    ],
    [
      'a model that took too long',
      { status: 504, body: answers['generationTimeout'] },
      { code: 'UNAVAILABLE', retryable: true },
    ],
    [
      'a runner that broke',
      { status: 500, body: answers['runnerError'] },
      { code: 'UNAVAILABLE', retryable: true },
    ],
    [
      'a time limit of ours',
      { status: 504, headers: { 'x-fal-request-timeout-type': 'user' }, body: answers['timedOut'] },
      { code: 'TIMED_OUT', retryable: false },
    ],
    [
      'a cancelling',
      { status: 499, body: { detail: 'x', error_type: 'client_cancelled' } },
      { code: 'LOST', retryable: false },
    ],
    [
      'pictures that were all flagged',
      { body: answers['withheld'] },
      { code: 'MODERATION_REFUSED', retryable: false },
    ],
  ])('has failed with %s', async (_what, result, error) => {
    expect(await statusWith(result)).toMatchObject({ state: 'failed', error });
  });

  it('runs while its result says that it is in progress', async () => {
    expect(await statusWith({ status: 400, body: answers['stillRunning'] })).toMatchObject({
      state: 'running',
    });
  });

  it('is asked about again when only the asking failed', async () => {
    expect(await catchFailure(statusWith({ status: 500, body: { detail: 'oops' } }))).toMatchObject({
      retryable: true,
    });
  });

  it('gives its pictures or its video', async () => {
    const [image, video] = [
      await statusWith({ body: answers['picture'] }),
      await statusWith({ body: answers['video'] }),
    ];
    expect(image).toMatchObject({ outcome: { files: [{ url: 'https://v3.fal.media/files/x/y.png' }] } });
    expect(video).toMatchObject({ outcome: { files: [{ url: 'https://v3.fal.media/files/x/y.mp4' }] } });
  });

  it('is asked about at our own address, whatever host its addresses name', async () => {
    const url = 'https://elsewhere.example/fal-ai/flux/requests/764cabcf-b745-4b3e-ae38-1200304cf45b';
    const body = { ...(answers['queued'] as object), response_url: url, status_url: `${url}/status` };
    stage.proxy.respondNext('/fal-ai/flux/schnell', { body });
    const handle = await job().start(imageRequest(), stage.context);
    expect(handle['path']).toBe('/fal-ai/flux/requests/764cabcf-b745-4b3e-ae38-1200304cf45b');
    stage.proxy.respondNext('/status', { status: 202, body: answers['queued'] });
    expect(await job().status(handle, stage.context)).toEqual({ state: 'queued', position: 3 });
  });

  it('is out of credit, not refused, when the balance is exhausted', async () => {
    stage.proxy.respondNext('/fal-ai', { status: 403, body: answers['exhausted'] });
    expect(await catchFailure(job().start(imageRequest(), stage.context))).toMatchObject({
      code: 'OUT_OF_CREDIT',
    });
  });
});

describe('fal’s stand-in', () => {
  const world = useEnvironment({ wire: 'fal', queuedMs: 0, runningMs: 100, progressSteps: 3 });
  const contextFor = (model: string) => {
    const connection = world().connection('/fal', { authorization: `Key ${SECRET}` });
    const endpoints = { rest: `${world().sandbox.url}/fal-rest` };
    const wire = findWire('fal', model);
    return { ...makeContext({ ...connection, model, endpoints, ...wire }), reference: REFERENCE };
  };
  const large = () => {
    const bytes = Buffer.alloc(300 * 1024, 7);
    return picture({ bytes: bytes.length, open: async () => Readable.from([bytes]) });
  };

  it('takes a small picture inside the request and a large one from its storage', async () => {
    const context = contextFor('fal-ai/nano-banana');
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    await job.start(imageRequest({ images: [picture(), large()] }), context);
    const sent = must(
      world().proxy.sent.find(({ path }) => path === '/fal/fal-ai/nano-banana/edit'),
      'start',
    );
    const { image_urls: urls } = JSON.parse(sent.body.toString('utf8')) as { image_urls: string[] };
    expect(urls[0]).toMatch(/^data:image\/png;base64,/);
    expect(urls[1]).toMatch(/\/fal-rest\/files\/[\w-]+$/);
    const stored = await fetch(urls[1] ?? '');
    expect([stored.headers.get('content-type'), (await stored.arrayBuffer()).byteLength]).toEqual([
      'image/png',
      300 * 1024,
    ]);
  });

  it('whose storage refuses a file has started nothing', async () => {
    await world().injectFault({ wire: 'fal-rest', operation: 'initiate', fault: 'malformed' });
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    const started = job.start(imageRequest({ images: [large()] }), contextFor('fal-ai/nano-banana'));
    expect(await catchFailure(started)).toMatchObject({ code: 'UNAVAILABLE', startUnknown: false });
  });

  it('makes a video of a first and a last frame at the endpoint for pictures', async () => {
    const context = contextFor('fal-ai/kling-video/v2.5-turbo/pro');
    const job = must(world().providers['fal']?.jobs?.VIDEO, 'job');
    await job.start(
      videoRequest({ firstFrame: picture(), lastFrame: picture(), aspectRatio: '9:16' }),
      context,
    );
    const sent = must(world().proxy.sent.at(-1), 'start');
    expect(sent.path).toBe('/fal/fal-ai/kling-video/v2.5-turbo/pro/image-to-video');
    expect(Object.keys(JSON.parse(sent.body.toString('utf8')) as object)).toEqual([
      'prompt',
      'image_url',
      'tail_image_url',
    ]);
  });

  it('can be followed over its stream until the end', async () => {
    const context = contextFor('fal-ai/flux/schnell');
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    await world().setLatency({ wire: 'fal', runningMs: 600 });
    const handle = await job.start(imageRequest(), context);
    const seen: number[] = [];
    await job.watch?.(handle, context, ({ progress }) => seen.push(progress));
    expect(seen.length).toBeGreaterThan(0);
    expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    expect(await job.status(handle, context)).toMatchObject({ state: 'finished' });
  });

  it.each([
    ['fal-ai/flux/schnell', imageRequest({ count: 9 }), 'count'],
    ['fal-ai/nano-banana', imageRequest({ aspectRatio: '7:1' }), 'aspectRatio'],
  ])('refuses what %s does not take, naming it', async (model, request, field) => {
    const job = must(world().providers['fal']?.jobs?.IMAGE, 'job');
    expect(await catchFailure(job.start(request, contextFor(model)))).toMatchObject({
      code: 'INVALID_INPUT',
      field,
    });
  });
});
