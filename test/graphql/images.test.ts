import { createHash } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { MINIMAL_IMAGE, graphqlClient, GENERATE, UNKNOWN_ID } from './graphql-client.ts';

/** Starting images and recipes over GraphQL: what works, and what each refusal says. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

describe('generateImage', () => {
  it('makes images, and keeps the whole story of the task', async () => {
    const { generateImage } = await asking.ok(GENERATE, {
      input: { ...MINIMAL_IMAGE, aspectRatio: '16:9', seed: 7 },
    });
    expect(generateImage).toEqual({ id: expect.any(String), state: 'QUEUED', kind: 'IMAGE' });
    const task = await asking.ended(generateImage.id);
    expect(task).toMatchObject({
      state: 'SUCCEEDED',
      generator: 'agg/imga',
      taskType: null,
      progress: 100,
      sandbox: true,
      queuePosition: null,
      error: null,
      notes: [],
      result: null,
    });
    expect(task.outputs.length).toBeGreaterThan(0);
    for (const output of task.outputs) {
      const bytes = Buffer.from(await (await fetch(output.url)).arrayBuffer());
      expect(output).toMatchObject({
        contentType: 'image/png',
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
    }
    for (const attempt of task.attempts) {
      expect(attempt).toMatchObject({ provider: 'midjourney', state: 'SUCCEEDED', error: null });
      expect(attempt.reference).toMatch(new RegExp(`^[0-9a-f]{32}/${attempt.step}/${attempt.number}$`));
      expect(attempt.reference).not.toContain(generateImage.id);
    }
    const seqs = task.events.map(({ seq }: { seq: number }) => seq);
    expect(seqs).toEqual(seqs.map((_: number, index: number) => index + 1));
    expect(seqs.at(-1)).toBe(task.lastSeq);
    expect(task.events.at(-1)).toMatchObject({ state: 'SUCCEEDED', progress: 100 });
    const later = await asking.ok(
      'query ($id: ID!) { task(id: $id) { events(after: 1, first: 1) { seq } } }',
      generateImage,
    );
    expect(later.task.events).toEqual([{ seq: 2 }]);
  });

  it('works at the other wire as well', async () => {
    const { generateImage } = await asking.ok(GENERATE, {
      input: { generator: 'union', prompt: 'a fox', model: 'gpt-image-1' },
    });
    const task = await asking.ended(generateImage.id);
    expect(task).toMatchObject({
      state: 'SUCCEEDED',
      attempts: [{ provider: 'openai', model: 'gpt-image-1' }],
    });
  });

  it.each([
    [{ prompt: ' ' }, 'prompt', 'empty'],
    [{ prompt: 'x'.repeat(4_001) }, 'prompt', '4000'],
    [{ generator: 'none' }, 'generator', 'union'],
    [{ model: 'none' }, 'model', 'agg/midjourney'],
    [{ aspectRatio: '0:1' }, 'aspectRatio', '1 to 64'],
    [{ aspectRatio: '65:1' }, 'aspectRatio', '16:9'],
    [{ count: 2 }, 'count', 'must be 1'],
    [{ generator: 'union', count: 11 }, 'count', '1 to 10'],
    [{ generator: 'union', count: 0 }, 'count', '1 to 10'],
    [{ images: [{}] }, 'images[0]', 'exactly one'],
    [{ images: [{ fileId: UNKNOWN_ID }] }, 'images[0].fileId', 'exist'],
    [{ images: [{ url: 'ftp://example.org/a' }] }, 'images[0].url', 'http'],
    [{ images: Array.from({ length: 11 }, () => ({ url: 'https://example.org/a.png' })) }, 'images', '10'],
    [
      { images: Array.from({ length: 101 }, () => ({ url: 'https://example.org/a.png' })) },
      'images[100]',
      'at most 100',
    ],
    [{ negativePrompt: 'x'.repeat(20_001) }, 'negativePrompt', '20000'],
    [{ resolution: 'x'.repeat(20_001) }, 'resolution', '20000'],
    [{ speedMode: 'x'.repeat(20_001) }, 'speedMode', 'turbo'],
    [{ prompt: 'a\0b' }, 'prompt', 'NUL'],
    [{ generator: 'agg/imga\0' }, 'generator', 'NUL'],
    [{ negativePrompt: '\0' }, 'negativePrompt', 'NUL'],
  ])('refuses %j, naming %s', async (change, field, words) => {
    const error = await asking.refusal(GENERATE, { input: { ...MINIMAL_IMAGE, ...change } });
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', field, message: expect.stringContaining(words) });
  });

  it('tells the address of a file of others without its query, which may hold a signature', async () => {
    const file = { url: 'https://files.invalid/a/b.png?sig=secret#part' };
    const input = { ...MINIMAL_IMAGE, images: [file] };
    const { generateImage } = await asking.ok(GENERATE, { input });
    const { createTask } = await asking.ok(
      'mutation ($image: MediaInput!) { createTask(taskType: "tea", prompt: "tea", image: $image) { id } }',
      { image: file },
    );
    const read = 'query ($id: ID!) { task(id: $id) { input { files { input url media { id } } } } }';
    const known = { url: 'https://files.invalid/a/b.png', media: null };
    const filesOf = async (of: object) => (await asking.ok(read, { ...of })).task.input.files;
    expect(await filesOf(generateImage)).toEqual([{ input: 'images', ...known }]);
    expect(await filesOf(createTask)).toEqual([{ input: 'image', ...known }]);
  });

  it('names every problem of an input at once', async () => {
    const error = await asking.refusal(GENERATE, {
      input: { ...MINIMAL_IMAGE, prompt: '', aspectRatio: 'x', count: 99 },
    });
    expect((error as { problems?: { field: string }[] }).problems?.map(({ field }) => field)).toEqual([
      'prompt',
      'aspectRatio',
      'count',
    ]);
  });

  it('tells why the upstream refused, and whether it makes sense to try again', async () => {
    const { generateImage } = await asking.ok(GENERATE, {
      input: { ...MINIMAL_IMAGE, prompt: 'nsfw-test-banned' },
    });
    expect(await asking.ended(generateImage.id)).toMatchObject({
      state: 'FAILED',
      outputs: [],
      error: { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
      attempts: [{ state: 'FAILED', error: { code: 'MODERATION_REFUSED' } }],
    });
  });

  it('answers one task for one key, and refuses another request under it', async () => {
    const same = { input: MINIMAL_IMAGE, key: 'k' };
    // Anonymous keys are bound to their request: what a stranger asks under the same key is a task of its own.
    const [one, two] = [await asking.ok(GENERATE, same), await asking.ok(GENERATE, same)];
    expect(one.generateImage.id).toBe(two.generateImage.id);
    const empty = await asking.refusal(GENERATE, { input: MINIMAL_IMAGE, key: '' });
    expect(empty).toMatchObject({ code: 'BAD_USER_INPUT', field: 'idempotencyKey' });
  });
});

describe('createTask', () => {
  const CREATE =
    'mutation ($type: String!, $prompt: String!, $ratio: String, $image: MediaInput) { createTask(taskType: $type, prompt: $prompt, aspectRatio: $ratio, image: $image) { id kind taskType } }';

  it('runs a recipe', async () => {
    const { createTask } = await asking.ok(CREATE, { type: 'vlog', prompt: 'a day out' });
    expect(createTask).toMatchObject({ kind: 'RECIPE', taskType: 'vlog' });
    const task = await asking.ended(createTask.id);
    expect(task).toMatchObject({ state: 'SUCCEEDED', notes: [], noteInfos: [] });
    expect(task.outputs).toHaveLength(5);
    expect(task.stageInfo).toMatchObject({ code: 'FINISHED', text: 'finished', step: null, node: null });
    const stages = task.events.map(({ stageInfo }: { stageInfo: object }) => stageInfo);
    const ofThird = { code: 'IMAGE', number: 3, total: 4 };
    expect(stages).toContainEqual(expect.objectContaining({ code: 'STORING_RESULT', step: ofThird }));
    const ofVideo = { code: 'VIDEO', number: null, total: null };
    expect(stages).toContainEqual(expect.objectContaining({ code: 'QUEUED', text: 'queued', step: ofVideo }));
    expect(stages).not.toContainEqual(expect.objectContaining({ code: 'OTHER' }));
  });

  it.each([
    [{ type: 'none' }, 'taskType'],
    [{ type: '' }, 'taskType'],
    [{ prompt: '' }, 'prompt'],
    [{ prompt: 'x'.repeat(1_501) }, 'prompt'],
    [{ prompt: 'a\0b' }, 'prompt'],
    [{ type: 'tea\0' }, 'taskType'],
    [{ ratio: '9:16:3' }, 'aspectRatio'],
    [{ image: { url: 'x' } }, 'image.url'],
    [{ image: { url: 'https://a.test/b', fileId: 'c' } }, 'image'],
  ])('refuses %j, naming %s', async (change, field) => {
    const error = await asking.refusal(CREATE, { type: 'tea', prompt: 'a cup', ...change });
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('tells a value of a wrong type apart from a document that is not valid', async () => {
    const { errors } = await asking.run(CREATE, { type: 7, prompt: null });
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    const invalid = await asking.run('mutation { createTask { id } }');
    expect(invalid.errors?.map(({ extensions }) => extensions['code'])).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });
});
