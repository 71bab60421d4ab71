import { describe, expect, it } from 'vitest';

import { listFiles, isFinal, readUrl } from '../../../../test/providers/contract/job-harness.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import {
  makeContext,
  catchFailure,
  fetchResult,
  isPng,
  must,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import { startRecordingProxy } from '../../../../test/providers/environment/recording-proxy.ts';
import { useEnvironment } from '../../../../test/providers/environment/use-environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { WorkRequest } from '../../domain/work/request.ts';
import type { JobCapability, JobStatus } from '../contract/provider.ts';

/** What is Higgsfield's own: credits, moderation, addresses of its answers, webhooks, images of a character. The rest is in the contract suite. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
type SoulRequest = Extract<WorkRequest, { kind: 'CHARACTER_IMAGE' }>;
const soul = (change: Partial<SoulRequest> = {}): SoulRequest => ({
  kind: 'CHARACTER_IMAGE',
  prompt: 'a lighthouse',
  ...change,
});

describe('a request to Higgsfield', () => {
  const stage = useScriptedProvider('higgsfield');
  const job = (kind: 'CHARACTER' | 'CHARACTER_IMAGE' = 'CHARACTER_IMAGE'): JobCapability =>
    must(stage.provider.jobs?.[kind], 'job');

  it.each([
    ['queued', { state: 'queued' }],
    ['completed', { state: 'finished', outcome: { files: [{ url: 'https://images.url/example' }] } }],
    ['nsfw', { state: 'failed', error: { code: 'MODERATION_REFUSED', retryable: false } }],
    ['failed', { state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } }],
  ])('that is told as %s is read as that', async (name, expected) => {
    stage.proxy.respondNext('/requests/1/status', { body: answers[name] });
    expect(await job().status({ id: '1' }, stage.context)).toMatchObject(expected);
  });

  it.each([
    [{ status: 'failed' }, { error: { code: 'UNAVAILABLE', message: 'higgsfield failed: no reason given' } }],
    [
      { status: 'failed', error: 'smoke' },
      { error: { message: 'higgsfield failed: smoke', retryable: true } },
    ],
    [{ status: 'canceled' }, { error: { code: 'LOST', retryable: false } }],
    [{ status: 'cancelled' }, { error: { code: 'LOST', retryable: false } }],
    [{ status: 'in_progress' }, { state: 'running', progress: null, stage: 'rendering' }],
    [
      { status: 'completed', images: [{ url: 'https://h.example/1' }, null, { url: '' }] },
      { outcome: { files: [{ url: 'https://h.example/1' }], texts: [] } },
    ],
  ])('that is told as %j is %j', async (change, expected) => {
    stage.proxy.respondNext('/requests/1/status', { body: { request_id: '1', ...change } });
    expect(await job().status({ id: '1' }, stage.context)).toMatchObject(expected);
  });

  it('that is completed without an image is not understood', async () => {
    stage.proxy.respondNext('/status', { body: { request_id: '1', status: 'completed', images: [] } });
    expect(await catchFailure(job().status({ id: '1' }, stage.context))).toMatchObject({
      code: 'UNAVAILABLE',
    });
    expect(await catchFailure((async () => job().status({}, stage.context))())).toMatchObject({
      code: 'LOST',
    });
  });

  it.each([
    ['not_ready', { state: 'queued' }],
    ['queued', { state: 'queued' }],
    ['in_progress', { state: 'running', progress: null, stage: 'learning the character' }],
    ['completed', { state: 'finished', outcome: { files: [], texts: [], facts: { characterId: 'c' } } }],
    ['failed', { state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } }],
  ])('for a character that is told as %s is %j', async (word, expected) => {
    stage.proxy.respondNext('/v1/custom-references/c', { body: { id: 'c', status: word } });
    expect(await job('CHARACTER').status({ id: 'c' }, stage.context)).toMatchObject(expected);
  });

  it.each([
    [202, 'cancelled'],
    [400, 'too-late'],
    [404, 'too-late'],
  ])('is cancelled while it waits: HTTP %i', async (code, verdict) => {
    stage.proxy.respondNext('/requests/1/cancel', { status: code, body: {} });
    expect(await job().cancel?.({ id: '1' }, stage.context)).toBe(verdict);
    stage.proxy.respondNext('/requests/1/cancel', { status: 401, body: {} });
    const refused = must(job().cancel?.({ id: '1' }, stage.context), 'cancel');
    expect(await catchFailure(refused)).toMatchObject({ refusedCredentials: true });
  });

  it('is started by its id alone, whatever is told of its state', async () => {
    stage.proxy.respondNext('/', { body: { request_id: '1', status: null } });
    expect(await job().start(soul(), stage.context)).toMatchObject({ id: '1' });
  });

  it('goes to the model that is named, or to the usual one, and says when it is wrong', async () => {
    const { connection } = stage.context;
    for (const [model, path] of [
      [null, '/higgsfield-ai/soul/standard'],
      ['mine/so ul', '/mine/so%20ul'],
    ] as const) {
      stage.proxy.respondNext('/', { status: 422, body: { detail: 'wrong' } });
      const started = job().start(soul(), { ...stage.context, connection: { ...connection, model } });
      expect(await catchFailure(started)).toMatchObject({
        code: 'INVALID_INPUT',
        message: 'higgsfield: wrong',
        field: undefined,
      });
      expect(stage.proxy.sent.at(-1)?.path).toBe(path);
    }
    stage.proxy.respondNext('/', { status: 400, body: {} });
    expect(await catchFailure(job().start(soul(), stage.context))).toMatchObject({
      code: 'INVALID_INPUT',
      message: 'higgsfield: HTTP 400',
    });
  });

  it('is out of credit when a known caller is refused, and reports wrong credentials otherwise', async () => {
    stage.proxy.respondNext('/soul', { status: 403, body: answers['noCredits'] });
    const error = await catchFailure(job().start(soul(), stage.context));
    expect(error).toMatchObject({ code: 'OUT_OF_CREDIT', retryable: true, startUnknown: false });
    stage.proxy.respondNext('/soul', { status: 401, body: { detail: 'Invalid API credentials' } });
    expect(await catchFailure(job().start(soul(), stage.context))).toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('names the input at fault', async () => {
    stage.proxy.respondNext('/custom-references', { status: 422, body: answers['validation'] });
    const images = [createImage({ publicUrl: 'https://example.com/a.png' })];
    const started = job('CHARACTER').start({ kind: 'CHARACTER', name: 'Ada', images }, stage.context);
    expect(await catchFailure(started)).toMatchObject({ code: 'INVALID_INPUT', field: 'images' });
    const sent = JSON.parse(String(stage.proxy.sent.at(-1)?.body)) as object;
    // What is public is not uploaded.
    expect(sent).toMatchObject({ input_images: [{ image_url: 'https://example.com/a.png' }] });
    expect(await catchFailure(job().start(soul({ count: 2 }), stage.context))).toMatchObject({
      code: 'INVALID_INPUT',
      field: 'count',
    });
    expect(stage.proxy.sent).toHaveLength(1);
  });

  it('is asked for at the address of its answer only where that is our own upstream', async () => {
    const { origin } = stage.proxy;
    const begin = async (base: string) => {
      const urls = { status_url: `${base}/v9/1?x=1`, cancel_url: `${base}/v9/1/cancel` };
      stage.proxy.respondNext('/soul', { body: { status: 'queued', request_id: '1', ...urls } });
      const handle = await job().start(soul(), stage.context);
      stage.proxy.respondNext('/1', { body: answers['queued'] });
      await job().status(handle, stage.context);
      return stage.proxy.sent.at(-1)?.path;
    };
    expect(await begin(origin)).toBe('/v9/1?x=1');
    expect(await begin('https://platform.higgsfield.ai')).toBe('/requests/1/status');
    expect(await begin(`${origin}.example.com`)).toBe('/requests/1/status');
  });
});

describe('the stand-in of Higgsfield', () => {
  const world = useEnvironment({ wire: 'higgsfield', queuedMs: 0, runningMs: 20, progressSteps: 2 });

  const context = () => ({
    ...makeContext(world().connection('/higgsfield', { authorization: `Key ${SECRET}` })),
    reference: 'task/1/1',
  });
  async function run(request: WorkRequest, change: { reference?: string; webhookUrl?: string } = {}) {
    const job: JobCapability = must(world().providers['higgsfield']?.jobs?.[request.kind], 'job');
    const handle = await job.start(request, { ...context(), ...change });
    let last: JobStatus | undefined;
    await expect.poll(async () => isFinal((last = await job.status(handle, context())))).toBe(true);
    return { handle, last: must(last, 'status') };
  }

  it('learns a character from images and draws it', async () => {
    const { last } = await run({ kind: 'CHARACTER', name: 'Ada', images: [createImage(), createImage()] });
    const facts = last.state === 'finished' ? last.outcome.facts : undefined;
    const characterId = must(facts?.['characterId'] as string | undefined, 'character');
    const { last: drawn } = await run(soul({ characterId }), { reference: 'task/2/1' });
    const { bytes } = await fetchResult(world(), readUrl(listFiles(drawn)[0]));
    expect(isPng(bytes)).toBe(true);
  });

  it('refuses a character that it does not know', async () => {
    const characterId = '3c90c3cc-0d44-4b50-8888-8dd25736052a';
    const error = await catchFailure(run(soul({ characterId })));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'characterId' });
  });

  it('gives the same work to the same key', async () => {
    const [first, again] = [await run(soul()), await run(soul())];
    expect(again.handle).toEqual(first.handle);
    expect(await world().starts()).toEqual({ 'task/1/1': 1 });
  });

  it('has no credits for some words, and finds others not safe', async () => {
    const broke = await catchFailure(run(soul({ prompt: 'a no-credits-test' })));
    expect(broke).toMatchObject({ code: 'OUT_OF_CREDIT', startUnknown: false });
    const { last } = await run(soul({ prompt: 'nsfw-test-banned' }));
    expect(last).toMatchObject({ state: 'failed', error: { code: 'MODERATION_REFUSED' } });
  });

  it('reports the end where it was asked to', async () => {
    const hook = await startRecordingProxy(null);
    try {
      hook.respondNext('/hook', { status: 200 });
      const { handle } = await run(soul(), { webhookUrl: `${hook.origin}/hook?t=1` });
      await expect.poll(() => hook.sent.length).toBe(1);
      const told = JSON.parse(String(hook.sent[0]?.body)) as object;
      expect(told).toMatchObject({ status: 'completed', request_id: handle['id'] });
      expect(JSON.stringify(hook.sent)).not.toContain(SECRET);
    } finally {
      await hook.close();
    }
  });
});
