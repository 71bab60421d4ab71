import { createHash } from 'node:crypto';

import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphql, until, type GraphqlAnswer } from '../kit/requests.ts';

/** The media service's GraphQL face over a live server: what works, and what each refusal says. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
  await kiln.control('pace', { queuedMs: 0, runningMs: 0 });
});
afterAll(() => kiln.close());

const run = (query: string, variables: Record<string, unknown> = {}) => graphql(kiln.url, query, variables);

async function ok(query: string, variables: Record<string, unknown> = {}): Promise<GraphqlAnswer['data']> {
  const { data, errors } = await run(query, variables);
  expect(errors).toBeUndefined();
  return data;
}

/** Code and field of the only error. */
async function refusal(query: string, variables: Record<string, unknown> = {}) {
  const { errors } = await run(query, variables);
  expect(errors).toHaveLength(1);
  return { message: errors?.[0]?.message ?? '', ...errors?.[0]?.extensions };
}

async function upload(content: Uint8Array<ArrayBuffer>, name: string, query: string, variables: object = {}) {
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables: { ...variables, file: null } }));
  form.set('map', '{"0":["variables.file"]}');
  form.set('0', new Blob([content], { type: 'image/png' }), name);
  const headers = { 'apollo-require-preflight': 'true' };
  const answer = await fetch(`${kiln.url}/graphql`, { method: 'POST', headers, body: form });
  return (await answer.json()) as GraphqlAnswer;
}

const picture = async (colour = 'red') =>
  new Uint8Array(
    await sharp({ create: { width: 8, height: 6, channels: 3, background: colour } })
      .png()
      .toBuffer(),
  );

async function ended(id: string) {
  const query = `query ($id: ID!) { task(id: $id) { state kind generator taskType text notes stage progress sandbox queuePosition
    startedAt endedAt createdAt lastSeq outputs { id url contentType bytes sha256 width height duration }
    error { code message retryable field } result { __typename ... on Description { prompts } }
    attempts { step number provider model reference state error { code } startedAt endedAt }
    events(first: 1000) { seq state stage progress at } } }`;
  const data = await until(
    () => ok(query, { id }),
    ({ task }) => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(task.state),
  );
  return data.task;
}

const DEFAULTS = { generator: 'agg/imga', prompt: 'a fox' };
const GENERATE =
  'mutation ($input: ImageInput!, $key: String) { generateImage(input: $input, idempotencyKey: $key) { id state kind } }';
const unknownId = '0199aaaa-0000-7000-8000-000000000000';

describe('generateImage', () => {
  it('makes pictures, and keeps the whole story of the task', async () => {
    const { generateImage } = await ok(GENERATE, {
      input: { ...DEFAULTS, aspectRatio: '16:9', seed: 7 },
    });
    expect(generateImage).toEqual({ id: expect.any(String), state: 'QUEUED', kind: 'IMAGE' });
    const task = await ended(generateImage.id);
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
      expect(attempt.reference).toBe(`${generateImage.id}/${attempt.step}/${attempt.number}`);
    }
    const seqs = task.events.map(({ seq }: { seq: number }) => seq);
    expect(seqs).toEqual(seqs.map((_: number, index: number) => index + 1));
    expect(seqs.at(-1)).toBe(task.lastSeq);
    expect(task.events.at(-1)).toMatchObject({ state: 'SUCCEEDED', progress: 100 });
    const later = await ok(
      'query ($id: ID!) { task(id: $id) { events(after: 1, first: 1) { seq } } }',
      generateImage,
    );
    expect(later.task.events).toEqual([{ seq: 2 }]);
  });

  it('works at the other wire as well', async () => {
    const { generateImage } = await ok(GENERATE, {
      input: { generator: 'union', prompt: 'a fox', model: 'gpt-image-1' },
    });
    const task = await ended(generateImage.id);
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
    [{ count: 11 }, 'count', '1 to 10'],
    [{ count: 0 }, 'count', '1 to 10'],
    [{ images: [{}] }, 'images[0]', 'exactly one'],
    [{ images: [{ fileId: unknownId }] }, 'images[0].fileId', 'exist'],
    [{ images: [{ url: 'ftp://example.org/a' }] }, 'images[0].url', 'http'],
    [{ images: Array.from({ length: 11 }, () => ({ url: 'https://example.org/a.png' })) }, 'images', '10'],
    [{ prompt: 'a\0b' }, 'prompt', 'NUL'],
    [{ generator: 'agg/imga\0' }, 'generator', 'NUL'],
    [{ negativePrompt: '\0' }, 'negativePrompt', 'NUL'],
  ])('refuses %j, naming %s', async (change, field, words) => {
    const error = await refusal(GENERATE, { input: { ...DEFAULTS, ...change } });
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', field, message: expect.stringContaining(words) });
  });

  it('names every problem of an input at once', async () => {
    const error = await refusal(GENERATE, {
      input: { ...DEFAULTS, prompt: '', aspectRatio: 'x', count: 99 },
    });
    expect((error as { problems?: { field: string }[] }).problems?.map(({ field }) => field)).toEqual([
      'prompt',
      'aspectRatio',
      'count',
    ]);
  });

  it('tells why the upstream refused, and whether it makes sense to try again', async () => {
    const { generateImage } = await ok(GENERATE, { input: { ...DEFAULTS, prompt: 'nsfw-test-banned' } });
    expect(await ended(generateImage.id)).toMatchObject({
      state: 'FAILED',
      outputs: [],
      error: { code: 'MODERATION_REFUSED', retryable: false, field: 'prompt' },
      attempts: [{ state: 'FAILED', error: { code: 'MODERATION_REFUSED' } }],
    });
  });

  it('answers one task for one key, and refuses another request under it', async () => {
    const same = { input: DEFAULTS, key: 'k' };
    // Anonymous keys are bound to their request: what a stranger asks under the same key is a task of its own.
    const [one, two] = [await ok(GENERATE, same), await ok(GENERATE, same)];
    expect(one.generateImage.id).toBe(two.generateImage.id);
    const empty = await refusal(GENERATE, { input: DEFAULTS, key: '' });
    expect(empty).toMatchObject({ code: 'BAD_USER_INPUT', field: 'idempotencyKey' });
  });
});

describe('createTask', () => {
  const CREATE =
    'mutation ($type: String!, $prompt: String!, $ratio: String, $image: MediaInput) { createTask(taskType: $type, prompt: $prompt, aspectRatio: $ratio, image: $image) { id kind taskType } }';

  it('runs a recipe', async () => {
    const { createTask } = await ok(CREATE, { type: 'vlog', prompt: 'a day out' });
    expect(createTask).toMatchObject({ kind: 'RECIPE', taskType: 'vlog' });
    const task = await ended(createTask.id);
    expect(task).toMatchObject({ state: 'SUCCEEDED', notes: [expect.stringContaining('video is missing')] });
    expect(task.outputs).toHaveLength(4);
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
    const error = await refusal(CREATE, { type: 'tea', prompt: 'a cup', ...change });
    expect(error).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('tells a value of a wrong type apart from a document that is not valid', async () => {
    const { errors } = await run(CREATE, { type: 7, prompt: null });
    expect(errors?.map(({ extensions }) => extensions['code'])).toEqual(['BAD_USER_INPUT', 'BAD_USER_INPUT']);
    const invalid = await run('mutation { createTask { id } }');
    expect(invalid.errors?.map(({ extensions }) => extensions['code'])).toEqual([
      'GRAPHQL_VALIDATION_FAILED',
      'GRAPHQL_VALIDATION_FAILED',
    ]);
  });
});

describe('describeImage and uploadFile', () => {
  it('describe what was uploaded, by id and in the same request', async () => {
    const stored = await upload(
      await picture(),
      'red square.png',
      'mutation ($file: Upload!) { uploadFile(file: $file) { id url contentType width height bytes createdAt } }',
    );
    expect(stored.data.uploadFile).toMatchObject({
      url: `${kiln.url}/files/${stored.data.uploadFile.id}/red-square.png`,
      contentType: 'image/png',
      width: 8,
      height: 6,
    });
    const byId = await ok(
      'mutation ($id: ID!) { describeImage(generator: "agg/imga", image: { fileId: $id }) { id kind } }',
      {
        id: stored.data.uploadFile.id,
      },
    );
    const direct = await upload(
      await picture('blue'),
      'blue.png',
      'mutation ($file: Upload!) { describeImage(generator: "agg/imga", image: { upload: $file }) { id kind } }',
    );
    for (const { id, kind } of [byId.describeImage, direct.data.describeImage]) {
      expect(kind).toBe('DESCRIPTION');
      const task = await ended(id);
      expect(task).toMatchObject({ state: 'SUCCEEDED', result: { __typename: 'Description' }, outputs: [] });
      expect(task.result.prompts).toContain(task.text);
    }
  });

  it('refuse what is no file, no image or not there', async () => {
    expect(
      await refusal('mutation { describeImage(generator: "agg/imga", image: { fileId: "x" }) { id } }'),
    ).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'image.fileId',
    });
    expect(
      await refusal(
        'mutation { describeImage(generator: "union", image: { url: "https://a.test/b.png" }) { id } }',
      ),
    ).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'generator',
    });
    expect(
      await refusal('mutation ($file: Upload!) { uploadFile(file: $file) { id } }', { file: 'a text' }),
    ).toMatchObject({
      code: 'BAD_USER_INPUT',
    });
    const text = new Uint8Array(Buffer.from('no picture'));
    const { data } = await upload(
      text,
      'a.png',
      'mutation ($file: Upload!) { describeImage(generator: "agg/imga", image: { upload: $file }) { id } }',
    );
    expect(await ended(data.describeImage.id)).toMatchObject({
      state: 'FAILED',
      error: { code: 'INVALID_INPUT' },
    });
  });

  it('keep a temporary file that a task has taken', async () => {
    const stored = await upload(
      await picture(),
      'x.png',
      'mutation ($file: Upload!) { uploadFile(file: $file, temporary: true) { id } }',
    );
    const { id } = stored.data.uploadFile;
    const untilWhen = async () =>
      (
        await kiln.runtime.database.pool.query<{ until: Date | null }>(
          'select temporary_until as until from media.media where id = $1',
          [id],
        )
      ).rows[0]?.until;
    expect(await untilWhen()).toBeInstanceOf(Date);
    await ok('mutation ($id: ID!) { describeImage(generator: "agg/imga", image: { fileId: $id }) { id } }', {
      id,
    });
    expect(await untilWhen()).toBeNull();
  });
});

describe('cancelTask', () => {
  const CANCEL = 'mutation ($id: ID!) { cancelTask(id: $id) { id state stage cancelRequestedAt } }';

  it('stops a running task, and is answered the same again', async () => {
    await kiln.control('pace', { runningMs: 20_000 });
    const { generateImage } = await ok(GENERATE, { input: DEFAULTS });
    await until(
      () => ok('query ($id: ID!) { task(id: $id) { stage } }', generateImage),
      ({ task }) => task.stage !== 'queued',
    );
    await kiln.control('pace', { runningMs: 0 });
    const { cancelTask } = await ok(CANCEL, generateImage);
    expect(cancelTask.cancelRequestedAt).not.toBeNull();
    const task = await ended(generateImage.id);
    expect(task).toMatchObject({ state: 'CANCELLED', outputs: [], attempts: [{ state: 'CANCELLED' }] });
    expect((await ok(CANCEL, generateImage)).cancelTask.state).toBe('CANCELLED');
  });

  it('comes too late for a task that has ended', async () => {
    const { generateImage } = await ok(GENERATE, { input: DEFAULTS });
    await ended(generateImage.id);
    expect(await refusal(CANCEL, generateImage)).toMatchObject({ code: 'TOO_LATE' });
  });

  it.each([unknownId, 'nonsense', ''])('knows no task %j', async (id) => {
    expect(await refusal(CANCEL, { id })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await ok('query ($id: ID!) { task(id: $id) { id } }', { id })).toEqual({ task: null });
    expect(await refusal('mutation ($id: ID!) { deleteMedia(id: $id) { id } }', { id })).toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});

describe('the video template fields', () => {
  const FIELDS = 'id taskType prompt coverUrl videoUrl aspectRatio presetPrompts fields deletedAt';
  const CREATE = `mutation ($input: VideoTemplateInput!) { createVideoTemplate(input: $input) { ${FIELDS} } }`;
  const UPDATE = `mutation ($id: ID!, $input: VideoTemplateInput!) { updateVideoTemplate(id: $id, input: $input) { ${FIELDS} } }`;
  const DELETE = `mutation ($id: ID!) { deleteVideoTemplate(id: $id) { ${FIELDS} } }`;

  it('create, change, clear and delete', async () => {
    const input = {
      taskType: 'duo',
      prompt: 'in ink',
      presetPrompts: ['one', ' ', 'two'],
      fields: { a: { b: [1] }, c: 1 },
    };
    const { createVideoTemplate: made } = await ok(CREATE, { input });
    expect(made).toEqual({
      ...input,
      id: expect.stringMatching(/^\d+$/),
      presetPrompts: ['one', 'two'],
      coverUrl: null,
      videoUrl: null,
      aspectRatio: null,
      deletedAt: null,
    });
    expect(await refusal(CREATE, { input })).toMatchObject({ code: 'CONFLICT', field: 'taskType' });
    const { updateVideoTemplate: changed } = await ok(UPDATE, {
      id: made.id,
      input: { prompt: null, fields: { c: 2 } },
    });
    expect(changed).toEqual({ ...made, prompt: null, fields: { a: { b: [1] }, c: 2 } });
    const { createTask } = await ok('mutation { createTask(taskType: "duo", prompt: "foxes") { id } }');
    expect((await ok('{ taskTypeAvailable(taskType: "duo") }')).taskTypeAvailable).toBe(false);
    expect((await ok(DELETE, { id: made.id })).deleteVideoTemplate.deletedAt).not.toBeNull();
    expect((await ok('{ taskTypeAvailable(taskType: "duo") }')).taskTypeAvailable).toBe(true);
    // The task keeps its own copy.
    expect((await ended(createTask.id)).outputs).toHaveLength(2);
    expect(await refusal(UPDATE, { id: made.id, input: {} })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await refusal(DELETE, { id: made.id })).toMatchObject({ code: 'NOT_FOUND' });
  });

  it.each([
    [{}, 'taskType'],
    [{ taskType: ' ' }, 'taskType'],
    [{ taskType: 'x'.repeat(101) }, 'taskType'],
    [{ taskType: 'a\0' }, 'taskType'],
    [{ taskType: 'a', prompt: '\0' }, 'prompt'],
    [{ taskType: 'a', prompt: 'x'.repeat(20_001) }, 'prompt'],
    [{ taskType: 'a', fields: [1] }, 'fields'],
    [{ taskType: 'a', fields: { a: '\0' } }, 'fields.a'],
    [{ taskType: 'a', presetPrompts: Array.from({ length: 101 }, () => 'x') }, 'presetPrompts'],
  ])('refuse %j, naming %s', async (input, field) => {
    expect(await refusal(CREATE, { input })).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('list in pages, within bounds', async () => {
    const { videoTemplates } = await ok(
      '{ videoTemplates(page: 2, pageSize: 1) { items { taskType } page pageSize total } }',
    );
    expect(videoTemplates).toEqual({ items: [{ taskType: 'chop' }], page: 2, pageSize: 1, total: 4 });
    expect((await ok('{ videoTemplates(category: "全部") { total } }')).videoTemplates.total).toBe(4);
    expect(await refusal('{ videoTemplates(page: 0) { total } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'page',
    });
    expect(await refusal('{ videoTemplates(pageSize: 1001) { total } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'pageSize',
    });
    expect(
      (await ok('{ videoTemplates(page: 2147483647, pageSize: 1000) { items { id } } }')).videoTemplates
        .items,
    ).toEqual([]);
    const filtered = 'query ($text: String!) { videoTemplates(taskType: $text, category: $text) { total } }';
    expect((await ok(filtered, { text: 'x'.repeat(5_000) })).videoTemplates.total).toBe(0);
    expect(await refusal(filtered, { text: 'a\0b' })).toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});

describe('what is read', () => {
  it('names the models, by generator and category', async () => {
    const { models } = await ok(
      '{ models { id name category generator provider inputs sizes durations maxPrompt sandbox } }',
    );
    expect(models.map(({ generator }: { generator: string }) => generator)).toEqual(
      expect.arrayContaining(['imga', 'agg/imga', 'union']),
    );
    expect(models.every(({ sandbox }: { sandbox: boolean }) => sandbox)).toBe(true);
    expect((await ok('{ models(generator: "union", category: "image") { id } }')).models).toContainEqual({
      id: 'gpt-image-1',
    });
    expect((await ok('{ models(category: "none") { id } }')).models).toEqual([]);
  });

  it('says that the service works', async () => {
    const { health } = await ok('{ health { service version time checks } }');
    expect(health).toMatchObject({ service: 'media', checks: { database: 'ok', files: 'ok' } });
    expect(Math.abs(Date.parse(health.time) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['{ tasks(first: 0) { edges { cursor } } }', 'first'],
    ['{ tasks(first: 201) { edges { cursor } } }', 'first'],
    ['{ tasks(after: "nonsense") { edges { cursor } } }', 'after'],
  ])('refuses %s, naming %s', async (query, field) => {
    expect(await refusal(query)).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('takes filters, and refuses moments that are none', async () => {
    const query =
      'query ($filter: TaskFilter) { tasks(filter: $filter) { edges { cursor } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }';
    const filter = {
      states: ['QUEUED', 'RUNNING'],
      kinds: ['IMAGE'],
      generator: 'agg/imga',
      createdAfter: '2026-01-01T00:00:00Z',
    };
    expect((await ok(query, { filter })).tasks).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
    for (const wrong of [
      { createdAfter: 'yesterday' },
      { states: ['DONE'] },
      { unknown: 1 },
      { generator: 1 },
    ]) {
      expect(await refusal(query, { filter: wrong })).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
  });
});

it('no text can hold a NUL character, wherever it stands', async () => {
  for (const [query, field] of [
    ['query ($text: String!) { taskTypeAvailable(taskType: $text) }', 'taskType'],
    [
      'query ($text: String!) { tasks(filter: { generator: $text }) { edges { cursor } } }',
      'filter.generator',
    ],
    ['query ($text: ID!) { task(id: $text) { id } }', 'id'],
    ['query ($text: ID!) { template(code: $text) { name } }', 'code'],
    ['mutation ($text: ID!) { executeTemplate(code: $text, parameters: {}) { id } }', 'code'],
    [
      'mutation ($text: String!) { executeTemplate(code: "x", parameters: { a: [$text] }) { id } }',
      'parameters.a[0]',
    ],
  ] as const) {
    expect(await refusal(query, { text: 'a\0b' })).toMatchObject({ code: 'BAD_USER_INPUT', field });
  }
});
