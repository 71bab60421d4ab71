import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { until } from '../../../../test/kit/clients/requests.ts';
import { imageRequest } from '../../../../test/providers/contract/row.ts';
import {
  type Environment,
  catchFailure,
  isPng,
  must,
  openEnvironment,
  picture,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import type { Handle, JobCapability, JobStatus, StartContext } from '../contract/provider.ts';

/** Pictures in OpenAI's batches, against the stand-in. */

let world: Environment;
let job: JobCapability;
let connection: StartContext['connection'];
beforeAll(async () => {
  world = await openEnvironment();
  await world.setLatency({ wire: 'openai', queuedMs: 0, runningMs: 0 });
  job = must(world.providers['openai']?.batches?.jobs.IMAGE, 'batches');
  connection = world.connection(
    '/openai/v1',
    { authorization: `Bearer ${SECRET}` },
    { model: 'gpt-image-2' },
  );
});
afterAll(() => world?.close());

const context = (reference: string, change: Partial<StartContext> = {}): StartContext => ({
  connection,
  reference,
  signal: new AbortController().signal,
  ...change,
});
const start = (reference: string, change: Parameters<typeof imageRequest>[0] = {}) =>
  job.start(imageRequest(change), context(reference));
const ended = (handle: Handle): Promise<JobStatus> =>
  until(
    () => job.status(handle, context('')),
    ({ state }) => state === 'finished' || state === 'failed',
  );
const sentTo = (path: string): number => world.proxy.sent.filter((one) => one.path.endsWith(path)).length;

describe('pictures in batches', () => {
  it('that start together are lines of one, edits of another, and each gets its own end', async () => {
    const [fox, refused, edit] = await Promise.all([
      start('fox'),
      start('refused', { prompt: 'nsfw-test-banned' }),
      start('edit', { images: [picture()] }),
    ]);
    expect(fox['batch']).toBe(refused['batch']);
    expect(edit['batch']).not.toBe(fox['batch']);
    for (const handle of [fox, edit]) {
      const status = await ended(handle);
      if (status.state !== 'finished') throw new Error(JSON.stringify(status));
      const [file] = status.outcome.files;
      expect(isPng(must(file && 'content' in file ? Buffer.from(file.content) : null, 'picture'))).toBe(true);
      expect(status.outcome.units).toMatchObject({ pictures: 1, outputTokens: 1_000 });
    }
    expect(await ended(refused)).toMatchObject({
      state: 'failed',
      error: { code: 'MODERATION_REFUSED', field: 'prompt', retryable: false },
    });
    expect(await world.starts()).toMatchObject({ fox: 1, edit: 1 });
  });

  it('are found again by what started them, and not where nothing did', async () => {
    await world.injectFault({ wire: 'openai', operation: 'batches', fault: 'cut' });
    expect(await catchFailure(start('lost'))).toMatchObject({ startUnknown: true });
    const found = await job.find?.('lost', context(''));
    expect(found).toEqual({ batch: expect.stringMatching(/^batch_/), line: 'lost' });
    expect((await ended(found as Handle)).state).toBe('finished');
    expect(await job.find?.('never', context(''))).toBe('absent');
  });

  it('begin nothing where the upload fails, or a start is not ours any more', async () => {
    const before = sentTo('/batches');
    await world.injectFault({ wire: 'openai', operation: 'upload', fault: 'cut' });
    expect(await catchFailure(start('unsent'))).toMatchObject({ startUnknown: false, retryable: true });
    const late = job.start(imageRequest(), context('late', { confirm: async () => false }));
    expect(await catchFailure(late)).toMatchObject({ startUnknown: false, retryable: true });
    expect(sentTo('/batches')).toBe(before);
  });

  it('that their batch ended without may be made elsewhere', async () => {
    await world.injectFault({ wire: 'openai', operation: 'batches', fault: 'upstream-error' });
    expect(await ended(await start('late'))).toMatchObject({
      state: 'failed',
      error: { code: 'LOST', retryable: true },
    });
  });

  it('are cancelled with their batch, until it has ended', async () => {
    await world.setLatency({ wire: 'openai', runningMs: 60_000 });
    const handle = await start('unwanted');
    expect(await catchFailure(must(job.erase?.(handle, context('')), 'erase'))).toMatchObject({
      retryable: true,
    });
    expect(await job.cancel?.(handle, context(''))).toBe('cancelled');
    expect(await job.cancel?.(handle, context(''))).toBe('too-late');
    expect((await ended(handle)).state).toBe('failed');
    // What it was made of is erased after that.
    for (const _ of ['once', 'again']) await job.erase?.(handle, context(''));
    const [deleted = ''] = world.proxy.sent.flatMap(({ method, path }) =>
      method === 'DELETE' ? [path] : [],
    );
    expect(deleted).toMatch(/\/files\/file-\w+$/);
    const answer = await fetch(`${world.proxy.origin}${deleted}/content`, {
      headers: { authorization: `Bearer ${SECRET}` },
    });
    expect(answer.status).toBe(404);
  });
});
