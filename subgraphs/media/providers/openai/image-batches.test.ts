import { createHash } from 'node:crypto';

import { describe, expect, test } from 'vitest';

import { until } from '../../../../test/kit/clients/requests.ts';
import { imageRequest } from '../../../../test/providers/contract/row.ts';
import {
  catchFailure,
  isPng,
  must,
  openEnvironment,
  createImage,
  SECRET,
} from '../../../../test/providers/environment/environment.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { Handle, JobStatus, StartContext } from '../contract/provider.ts';

/** Images in OpenAI's batches, against the stand-in. */

async function openBatches() {
  const world = await openEnvironment();
  await world.setLatency({ wire: 'openai', queuedMs: 0, runningMs: 0 });
  const job = must(world.providers['openai']?.batches?.jobs.IMAGE, 'batches');
  const connection = world.connection(
    '/openai/v1',
    { authorization: `Bearer ${SECRET}` },
    { model: 'gpt-image-2' },
  );
  const context = (reference: string, change: Partial<StartContext> = {}): StartContext => ({
    connection,
    reference,
    signal: new AbortController().signal,
    ...change,
  });
  return {
    world,
    job,
    context,
    start: (reference: string, change: Parameters<typeof imageRequest>[0] = {}) =>
      job.start(imageRequest(change), context(reference)),
    ended: (handle: Handle): Promise<JobStatus> =>
      until(
        () => job.status(handle, context('')),
        ({ state }) => state === 'finished' || state === 'failed',
      ),
  };
}

/** A test may have a stand-in and a provider of its own: it waits for others to be a batch with, and for the end of that. */
const it = test.extend<{ batches: Awaited<ReturnType<typeof openBatches>> }>({
  // oxlint-disable-next-line eslint/no-empty-pattern -- Vitest reads the pattern
  batches: async ({}, use) => {
    const batches = await openBatches();
    await use(batches);
    await batches.world.close();
  },
});

describe.concurrent('images in batches', () => {
  it('that start together are lines of one, edits of another, and each gets its own end', async ({
    batches: { world, start, ended },
  }) => {
    const [fox, refused, edit, masked] = await Promise.all([
      start('fox'),
      start('refused', { prompt: 'nsfw-test-banned' }),
      start('edit', { images: [createImage()] }),
      start('masked', { images: [createImage()], mask: createImage() }),
    ]);
    expect(fox['batch']).toBe(refused['batch']);
    expect(edit['batch']).not.toBe(fox['batch']);
    expect(masked['batch']).toBe(edit['batch']);
    const uploads = world.proxy.sent.map(({ body }) => body.toString('utf8'));
    const url = 'data:image/png;base64,iVBOR';
    const line = uploads.flatMap((body) => body.split('\n')).find((one) => one.includes('"masked"')) ?? '{}';
    expect(JSON.parse(line)).toMatchObject({
      url: '/v1/images/edits',
      body: {
        images: [{ image_url: expect.stringContaining(url) }],
        mask: { image_url: expect.stringContaining(url) },
      },
    });
    for (const handle of [fox, edit, masked]) {
      const status = await ended(handle);
      if (status.state !== 'finished') throw new Error(JSON.stringify(status));
      const [file] = status.outcome.files;
      expect(isPng(must(file && 'content' in file ? Buffer.from(file.content) : null, 'image'))).toBe(true);
      expect(status.outcome.units).toMatchObject({ pictures: 1, outputTokens: 1_000 });
    }
    expect(await ended(refused)).toMatchObject({
      state: 'failed',
      error: { code: 'MODERATION_REFUSED', field: 'prompt', retryable: false },
    });
    expect(await world.starts()).toMatchObject({ fox: 1, edit: 1, masked: 1 });
  });

  it('are found again by what started them, and not where nothing did', async ({
    batches: { world, job, context, start, ended },
  }) => {
    await world.injectFault({ wire: 'openai', operation: 'batches', fault: 'cut' });
    expect(await catchFailure(start('lost'))).toMatchObject({ startUnknown: true });
    const found = await job.find?.('lost', context(''));
    expect(found).toEqual({ batch: expect.stringMatching(/^batch_/), line: 'lost' });
    expect((await ended(found as Handle)).state).toBe('finished');
    expect(await job.find?.('never', context(''))).toBe('absent');
  });

  it('begin nothing where the upload fails, or a start is not ours any more', async ({
    batches: { world, job, context, start },
  }) => {
    const sent = () => world.proxy.sent.filter(({ path }) => path.endsWith('/batches')).length;
    const before = sent();
    await world.injectFault({ wire: 'openai', operation: 'upload', fault: 'cut' });
    expect(await catchFailure(start('unsent'))).toMatchObject({ startUnknown: false, retryable: true });
    const late = job.start(imageRequest(), context('late', { confirm: async () => false }));
    expect(await catchFailure(late)).toMatchObject({ startUnknown: false, retryable: true });
    expect(sent()).toBe(before);
  });

  it('that their batch ended without may be made elsewhere', async ({ batches: { world, start, ended } }) => {
    await world.injectFault({ wire: 'openai', operation: 'batches', fault: 'upstream-error' });
    expect(await ended(await start('late'))).toMatchObject({
      state: 'failed',
      error: { code: 'LOST', retryable: true },
    });
  });

  it('are cancelled with their batch, until it has ended', async ({
    batches: { world, job, context, start, ended },
  }) => {
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

describe('a batch as the vendor reports it', () => {
  const stage = useScriptedProvider('openai');
  const scripted = () => must(stage.provider.batches?.jobs.IMAGE, 'batches');
  const computeMark = (reference: string) =>
    createHash('sha256').update(reference).digest('hex').slice(0, 12);
  const seconds = () => Date.now() / 1_000;
  /** One that nobody has asked for yet. Its status is kept for a second, so that it may be asked for twice. */
  let made = 0;
  const tell = (change: object): Handle => {
    made += 1;
    const body = { id: `b${made}`, status: 'in_progress', created_at: seconds(), ...change };
    for (const _ of ['once', 'again']) stage.proxy.respondNext(`/batches/b${made}`, { body });
    return { batch: `b${made}`, line: 'fox' };
  };
  const withoutIt = (message: string) => ({
    state: 'failed',
    error: { code: 'LOST', message: `openai: the batch ended without it: ${message}` },
  });

  it.each([
    [{ status: 'validating' }, { state: 'queued' }],
    [{ request_counts: { total: 3, completed: 1, failed: 1 } }, { state: 'running', progress: 66 }],
    [{ request_counts: { total: 3, completed: 3, failed: 0 } }, { state: 'running', progress: 99 }],
    [{ request_counts: { total: 0, completed: 0, failed: 0 } }, { state: 'running', progress: null }],
    [{ status: 'a_new_word' }, { state: 'running', progress: null }],
    [{ status: 'failed', errors: { data: [{ message: 'too many' }] } }, withoutIt('too many')],
    [{ status: 'failed', errors: 'many' }, withoutIt('its input was refused')],
    [{ status: 'expired' }, withoutIt('expired')],
    [
      { status: 'completed', request_counts: { total: 3, completed: 1, failed: 2 }, error_file_id: 'file-e' },
      { state: 'running', progress: 99 },
    ],
    [{ status: 'cancelled', output_file_id: null, error_file_id: null }, withoutIt('cancelled')],
  ])('is, by %j, for each of its lines %j', async (change, status) => {
    expect(await scripted().status(tell(change), stage.context)).toMatchObject(status);
  });

  it('is asked for once for lines that are looked at together, and again when it was not told', async () => {
    const handle = tell({});
    for (const line of ['fox', 'owl']) await scripted().status({ ...handle, line }, stage.context);
    expect(stage.proxy.sent.map(({ path }) => path)).toEqual([`/batches/${handle['batch'] as string}`]);
    stage.proxy.respondNext('/batches/none', { status: 400, body: {} });
    const unread = { batch: 'none', line: 'fox' };
    expect(await catchFailure(scripted().status(unread, stage.context))).toMatchObject({ retryable: false });
    stage.proxy.respondNext('/batches/none', { body: { id: 'none', status: 'validating', created_at: 1 } });
    expect(await scripted().status(unread, stage.context)).toEqual({ state: 'queued' });
    for (const wrong of [{ batch: 'b' }, { line: 'fox' }]) {
      expect(await catchFailure(scripted().status(wrong, stage.context))).toMatchObject({ code: 'LOST' });
    }
  });

  it('has its results in two files that are read once, each line with an end of its own', async () => {
    const line = (name: string, rest: object) => JSON.stringify({ custom_id: name, ...rest });
    const answer = (status: number, body: object) => ({ response: { status_code: status, body } });
    const images = ['first', 'second'].map((word) => ({
      b64_json: Buffer.from(word).toString('base64'),
    }));
    const output = [
      line('fox', answer(200, { data: images, usage: { input_tokens: 3, output_tokens: 5 } })),
      line('far', answer(200, { data: [{ url: 'https://images.example/1.png' }] })),
    ];
    const errors = [
      line('late', { response: null, error: { code: 'batch_expired', message: 'too late' } }),
      line('coded', { error: { code: 'batch_expired' } }),
      line('bare', { response: 7, error: 7 }),
      line('refused', answer(400, { error: { code: 'moderation_blocked', message: 'no' } })),
      line('unread', answer(200, { data: [] })),
      '{"custom_id": "cut", "resp',
      '',
      line('last', { error: { message: 'too late' } }),
    ];
    const handle = tell({ status: 'expired', output_file_id: 'file-o', error_file_id: 'file-e' });
    // The last line of one file ends with a line feed, that of the other does not.
    stage.proxy.respondNext('/files/file-o/content', { body: `${output.join('\n')}\n` });
    stage.proxy.respondNext('/files/file-e/content', { body: errors.join('\n') });
    const names = ['fox', 'far', 'late', 'coded', 'bare', 'never', 'cut', 'last', 'refused', 'unread'];
    // At once, as a status is kept for a second.
    const ends = await Promise.all(
      names.map((name) => scripted().status({ ...handle, line: name }, stage.context)),
    );
    const [fox] = ends;
    const files = must(fox?.state === 'finished' ? fox.outcome.files : null, 'images');
    expect(files.map((file) => 'content' in file && String(Buffer.from(file.content)))).toEqual([
      'first',
      'second',
    ]);
    expect(ends).toMatchObject([
      { outcome: { texts: [], units: { inputTokens: 3, outputTokens: 5 } } },
      { outcome: { files: [{ url: 'https://images.example/1.png' }] } },
      withoutIt('too late'),
      withoutIt('batch_expired'),
      withoutIt('no answer'),
      withoutIt('expired'),
      withoutIt('expired'),
      withoutIt('too late'),
      { state: 'failed', error: { code: 'MODERATION_REFUSED' } },
      { state: 'failed', error: { code: 'UNAVAILABLE' } },
    ]);
    expect(stage.proxy.sent.map(({ path }) => path)).toEqual([
      `/batches/${handle['batch'] as string}`,
      '/files/file-o/content',
      '/files/file-e/content',
    ]);
  });

  it.each([
    ['are gone', { status: 404 }, 'LOST'],
    ['are elsewhere', { status: 302 }, 'UNAVAILABLE'],
    ['are no lines', { body: 'a page' }, 'UNAVAILABLE'],
  ])('whose results %s says so, and they are asked for again', async (_what, answer, code) => {
    const handle = tell({ status: 'completed', output_file_id: 'file-o' });
    stage.proxy.respondNext('/files/file-o/content', answer);
    expect(await catchFailure(scripted().status(handle, stage.context))).toMatchObject({ code });
    const text = JSON.stringify({ custom_id: 'fox', error: { message: 'late' } });
    stage.proxy.respondNext('/files/file-o/content', { body: text });
    expect(await scripted().status(handle, stage.context)).toMatchObject(withoutIt('late'));
  });

  it.each([
    [400, 'too-late'],
    [404, 'too-late'],
    [409, 'too-late'],
    [200, 'cancelled'],
  ])('is cancelled, or has ended: HTTP %s', async (status, verdict) => {
    stage.proxy.respondNext('/batches/b%2F1/cancel', { status, body: {} });
    expect(await scripted().cancel?.({ batch: 'b/1', line: 'fox' }, stage.context)).toBe(verdict);
    expect(stage.proxy.sent.map(({ method }) => method)).toEqual(['POST']);
  });

  it('is not said to be cancelled when that is refused, nor erased when that is', async () => {
    stage.proxy.respondNext('/cancel', { status: 401, body: {} });
    const handle = { batch: 'b', line: 'fox' };
    expect(await catchFailure(must(scripted().cancel?.(handle, stage.context), 'cancel'))).toMatchObject({
      code: 'UNAVAILABLE',
    });
    const erase = (file: string | null) =>
      must(scripted().erase?.(tell({ status: 'failed', input_file_id: file }), stage.context), 'erase');
    stage.proxy.respondNext('/files/f', { status: 401, body: {} });
    expect(await catchFailure(erase('f'))).toMatchObject({ code: 'UNAVAILABLE' });
    stage.proxy.respondNext('/files/f', { status: 404, body: {} });
    await erase('f');
    stage.proxy.reset();
    await erase(null);
    expect(stage.proxy.sent.map(({ method }) => method)).toEqual(['GET']);
  });

  it('is looked for page by page, back to where there can be none', async () => {
    const page = (batches: readonly object[], more: boolean | null = true) =>
      stage.proxy.respondNext('/batches?limit=100', { body: { data: batches, has_more: more } });
    const batch = (change: object = {}) => ({
      id: 'a&b',
      status: 'completed',
      created_at: seconds(),
      ...change,
    });
    const find = () => must(scripted().find?.('fox', stage.context), 'find');
    const marks = { other: computeMark('fox'), kiln_lines_0: computeMark('owl') };
    page([batch(), batch({ metadata: marks })]);
    const second = { ...marks, kiln_lines_1: computeMark('hen') + computeMark('fox') };
    page([batch({ id: 'b', metadata: second })]);
    expect(await find()).toEqual({ batch: 'b', line: 'fox' });
    expect(stage.proxy.sent.map(({ path }) => path)).toEqual([
      '/batches?limit=100',
      '/batches?limit=100&after=a%26b',
    ]);
    // A mark counts from where one begins.
    page([batch({ metadata: { kiln_lines_0: `x${computeMark('fox')}` } })], null);
    expect(await find()).toBe('absent');
    page([]);
    expect(await find()).toBe('absent');
    page([batch({ created_at: seconds() - 260_000 })]);
    expect(await find()).toBe('absent');
    stage.proxy.reset();
    for (let pages = 0; pages < 20; pages += 1) page([batch({ created_at: seconds() - 259_000 })]);
    expect(await find()).toBe('unknowable');
    expect(stage.proxy.sent).toHaveLength(20);
  });

  it('that is refused, or whose lines are, has begun nothing', async () => {
    stage.proxy.respondNext('/files', { status: 401, body: {} });
    stage.proxy.respondNext('/files', { body: { id: 'f' } });
    stage.proxy.respondNext('/batches', { status: 401, body: {} });
    const begin = (model: string) => {
      const connection = { ...stage.context.connection, model };
      return catchFailure(scripted().start(imageRequest(), { ...stage.context, connection }));
    };
    for (const error of await Promise.all([begin('one'), begin('two')]))
      expect(error).toMatchObject({ refusedCredentials: true, startUnknown: false });
    expect(stage.proxy.sent.map(({ path }) => path)).toEqual(['/files', '/files', '/batches']);
  });

  it('has a hundred lines at most, of one account and one model, with the mark of each', async () => {
    for (const id of ['f1', 'f2', 'f3']) {
      stage.proxy.respondNext('/files', { body: { id } });
      stage.proxy.respondNext('/batches', { body: { id: `of-${id}`, status: 'validating', created_at: 1 } });
    }
    const { connection } = stage.context;
    const names = Array.from({ length: 101 }, (_, index) => `line-${index}`);
    const other = { ...stage.context, connection: { ...connection, model: 'another' }, reference: 'other' };
    const handles = await Promise.all([
      ...names.map((reference) => scripted().start(imageRequest(), { ...stage.context, reference })),
      scripted().start(imageRequest(), other),
    ]);
    const sizes = Object.values(Object.groupBy(handles, ({ batch }) => JSON.stringify(batch))).map(
      (lines) => lines?.length,
    );
    expect(sizes.toSorted((one, two) => Number(one) - Number(two))).toEqual([1, 1, 100]);
    const full = stage.proxy.sent.find(({ path, body }) => path === '/batches' && body.length > 1_200);
    const sent = JSON.parse(String(full?.body)) as { metadata: Record<string, string> };
    const marks = names.slice(0, 100).map(computeMark);
    expect(sent).toEqual({
      input_file_id: expect.stringMatching(/^f[123]$/),
      endpoint: '/v1/images/generations',
      completion_window: '24h',
      metadata: {
        kiln_lines_0: marks.slice(0, 42).join(''),
        kiln_lines_1: marks.slice(42, 84).join(''),
        kiln_lines_2: marks.slice(84).join(''),
      },
      output_expires_after: { anchor: 'created_at', seconds: 259_200 },
    });
    const upload = must(
      stage.proxy.sent.find(({ path, body }) => path === '/files' && body.includes('line-99')),
      'upload',
    );
    const form = await new Response(new Uint8Array(upload.body), { headers: upload.headers }).formData();
    const file = form.get('file') as File;
    expect([...form].flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))).toEqual([
      ['purpose', 'batch'],
      ['expires_after[anchor]', 'created_at'],
      ['expires_after[seconds]', '259200'],
    ]);
    expect([file.name, file.type]).toEqual(['kiln.jsonl', 'application/jsonl']);
    const lines = (await file.text()).split('\n');
    expect([lines.length, lines.at(-1)]).toEqual([101, '']);
    expect(JSON.parse(lines[99] ?? '')).toEqual({
      custom_id: 'line-99',
      method: 'POST',
      url: '/v1/images/generations',
      body: {
        model: 'gpt-image-2',
        prompt: 'a lighthouse',
        n: 1,
        size: '1024x1024',
        output_format: 'png',
        quality: 'medium',
      },
    });
  });
});
