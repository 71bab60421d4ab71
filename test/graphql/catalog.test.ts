import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient } from './graphql-client.ts';

/** The catalog, and what else is read over GraphQL: what works, and what each refusal says. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

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
    const { createVideoTemplate: made } = await asking.ok(CREATE, { input });
    expect(made).toEqual({
      ...input,
      id: expect.stringMatching(/^\d+$/),
      presetPrompts: ['one', 'two'],
      coverUrl: null,
      videoUrl: null,
      aspectRatio: null,
      deletedAt: null,
    });
    expect(await asking.refusal(CREATE, { input })).toMatchObject({ code: 'CONFLICT', field: 'taskType' });
    const { updateVideoTemplate: changed } = await asking.ok(UPDATE, {
      id: made.id,
      input: { prompt: null, fields: { c: 2 } },
    });
    expect(changed).toEqual({ ...made, prompt: null, fields: { a: { b: [1] }, c: 2 } });
    const { createTask } = await asking.ok(
      'mutation { createTask(taskType: "duo", prompt: "foxes") { id } }',
    );
    expect((await asking.ok('{ taskTypeAvailable(taskType: "duo") }')).taskTypeAvailable).toBe(false);
    expect((await asking.ok(DELETE, { id: made.id })).deleteVideoTemplate.deletedAt).not.toBeNull();
    expect((await asking.ok('{ taskTypeAvailable(taskType: "duo") }')).taskTypeAvailable).toBe(true);
    // The task keeps its own copy.
    expect((await asking.ended(createTask.id)).outputs).toHaveLength(2);
    expect(await asking.refusal(UPDATE, { id: made.id, input: {} })).toMatchObject({ code: 'NOT_FOUND' });
    expect(await asking.refusal(DELETE, { id: made.id })).toMatchObject({ code: 'NOT_FOUND' });
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
    expect(await asking.refusal(CREATE, { input })).toMatchObject({ code: 'BAD_USER_INPUT', field });
  });

  it('list in pages, within bounds', async () => {
    const { videoTemplates } = await asking.ok(
      '{ videoTemplates(page: 2, pageSize: 1) { items { taskType } page pageSize total } }',
    );
    expect(videoTemplates).toEqual({ items: [{ taskType: 'chop' }], page: 2, pageSize: 1, total: 4 });
    expect((await asking.ok('{ videoTemplates(category: "全部") { total } }')).videoTemplates.total).toBe(4);
    expect(await asking.refusal('{ videoTemplates(page: 0) { total } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'page',
    });
    expect(await asking.refusal('{ videoTemplates(pageSize: 1001) { total } }')).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'pageSize',
    });
    expect(
      (await asking.ok('{ videoTemplates(page: 2147483647, pageSize: 1000) { items { id } } }'))
        .videoTemplates.items,
    ).toEqual([]);
    const filtered = 'query ($text: String!) { videoTemplates(taskType: $text, category: $text) { total } }';
    expect((await asking.ok(filtered, { text: 'x'.repeat(5_000) })).videoTemplates.total).toBe(0);
    expect(await asking.refusal(filtered, { text: 'a\0b' })).toMatchObject({ code: 'BAD_USER_INPUT' });
  });
});

describe('catalogs', () => {
  const LISTS = `query ($first: Int!, $video: String, $code: String) {
    videoTemplatesConnection(first: $first, after: $video) {
      totalCount
      edges { cursor node { taskType } }
      pageInfo { hasNextPage endCursor }
    }
    templatesConnection(first: $first, after: $code) {
      totalCount
      edges { cursor node { code } }
      pageInfo { hasNextPage endCursor }
    }
  }`;

  it('are read in pages behind a cursor, each entry once', async () => {
    const whole = await asking.ok(LISTS, { first: 1000 });
    for (const name of ['videoTemplatesConnection', 'templatesConnection']) {
      expect(whole[name].edges).toHaveLength(whole[name].totalCount);
      expect(whole[name].pageInfo.hasNextPage).toBe(false);
    }
    const first = await asking.ok(LISTS, { first: 1 });
    const next = await asking.ok(LISTS, {
      first: 1,
      video: first.videoTemplatesConnection.pageInfo.endCursor,
      code: first.templatesConnection.pageInfo.endCursor,
    });
    for (const name of ['videoTemplatesConnection', 'templatesConnection']) {
      expect(first[name].pageInfo.hasNextPage).toBe(true);
      expect([...first[name].edges, ...next[name].edges]).toEqual(whole[name].edges.slice(0, 2));
    }
    const filtered = '{ videoTemplatesConnection(taskType: "tea", category: "全部") { totalCount } }';
    expect((await asking.ok(filtered)).videoTemplatesConnection.totalCount).toBe(1);
  });

  it.each([
    ['videoTemplatesConnection(after: "x")', 'after'],
    ['videoTemplatesConnection(first: 0)', 'first'],
    ['templatesConnection(after: "a b")', 'after'],
    ['templatesConnection(first: 1001)', 'first'],
  ])('refuse %s', async (field, name) => {
    expect(await asking.refusal(`{ ${field} { totalCount } }`)).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: name,
    });
  });
});

describe('a DateTime', () => {
  it('that is none is refused with the reason, as a variable and within the document', async () => {
    const reason = 'a DateTime is an ISO 8601 text with a zone, such as 2026-01-31T12:00:00Z';
    const asked = 'query ($from: DateTime) { tasks(filter: { createdAfter: $from }) { totalCount } }';
    const literal = '{ tasks(filter: { createdAfter: "2026-01-31" }) { totalCount } }';
    for (const [document, message] of [
      [asked, `Variable "$from" got invalid value "2026-01-31"; ${reason}`],
      [literal, `invalid value {createdAfter: "2026-01-31"}; createdAfter: ${reason}`],
    ] as const) {
      const { errors } = await asking.run(document, { from: '2026-01-31' });
      expect(errors).toMatchObject([
        { message: expect.stringContaining(message), extensions: { code: 'BAD_USER_INPUT' } },
      ]);
    }
  });
});

describe('what is read', () => {
  it('names the models, by generator and category', async () => {
    const { models } = await asking.ok(
      '{ models { id name category generator provider inputs sizes durations maxPrompt sandbox } }',
    );
    expect(models.map(({ generator }: { generator: string }) => generator)).toEqual(
      expect.arrayContaining(['imga', 'agg/imga', 'union']),
    );
    expect(models.every(({ sandbox }: { sandbox: boolean }) => sandbox)).toBe(true);
    expect(
      (await asking.ok('{ models(generator: "union", category: "image") { id } }')).models,
    ).toContainEqual({
      id: 'union:gpt-image-2',
    });
    expect((await asking.ok('{ models(category: "none") { id } }')).models).toEqual([]);
  });

  it('tells everybody how long work of a model usually takes, once three have ended', async () => {
    const start = 'mutation ($input: ImageInput!) { generateImage(input: $input) { id } }';
    const made = Array.from({ length: 3 }, async (_, index) => {
      const input = { prompt: `number ${index}`, generator: 'union', model: 'gpt-image-2' };
      const { generateImage } = await asking.ok(start, { input });
      return asking.ended(generateImage.id as string);
    });
    await Promise.all(made);
    const { models } = await asking.ok('{ models(generator: "union") { model usualSeconds } }');
    const measured = Object.fromEntries(
      models.map(({ model, usualSeconds }: { model: string; usualSeconds: number | null }) => [
        model,
        usualSeconds,
      ]),
    );
    expect(measured['gpt-image-2']).toBeGreaterThan(0);
    expect(measured['gpt-image-2']).toBeLessThan(60);
    expect(measured['gpt-image-1.5']).toBeNull();
  });

  it('says that the service works', async () => {
    const { health } = await asking.ok('{ health { service version time checks } }');
    expect(health).toMatchObject({ service: 'media', checks: { database: 'ok', files: 'ok' } });
    expect(Math.abs(Date.parse(health.time) - Date.now())).toBeLessThan(60_000);
  });

  it.each([
    ['{ tasks(first: 0) { edges { cursor } } }', 'first'],
    ['{ tasks(first: 201) { edges { cursor } } }', 'first'],
    ['{ tasks(after: "nonsense") { edges { cursor } } }', 'after'],
  ])('refuses %s, naming %s', async (query, field) => {
    expect(await asking.refusal(query)).toMatchObject({ code: 'BAD_USER_INPUT', field });
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
    expect((await asking.ok(query, { filter })).tasks).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    });
    for (const wrong of [
      { createdAfter: 'yesterday' },
      { states: ['DONE'] },
      { unknown: 1 },
      { generator: 1 },
    ]) {
      expect(await asking.refusal(query, { filter: wrong })).toMatchObject({ code: 'BAD_USER_INPUT' });
    }
  });
});

it('no text can hold a NUL character or half of a surrogate pair, wherever it stands', async () => {
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
    for (const text of ['a\0b', 'a\ud800b']) {
      expect(await asking.refusal(query, { text })).toMatchObject({ code: 'BAD_USER_INPUT', field });
    }
  }
  const comfy = 'mutation ($graph: JSON!) { runComfyWorkflow(input: { workflow: $graph }) { id } }';
  for (const text of ['a\0b', 'a\ud800b']) {
    const graphs: [object, string][] = [
      [{ 1: { class_type: 'x', inputs: { text } } }, 'workflow.1.inputs.text'],
      [{ 1: { class_type: 'x', inputs: { [text]: 1 } } }, 'workflow.1.inputs'],
    ];
    for (const [graph, field] of graphs) {
      expect(await asking.refusal(comfy, { graph })).toMatchObject({ code: 'BAD_USER_INPUT', field });
    }
  }
});
