import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';

import { composeServices } from '@apollo/composition';
import { graphqlSync, parse, type ExecutionResult, type GraphQLSchema } from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';

import { createFederation, type FederatedExecutor } from '../../gateway/federation/federation.ts';
import { anonymousCaller, type Caller } from '../../platform/access/caller.ts';
import { createDatabase, type Database } from '../../platform/database/database.ts';
import type { EventBus } from '../../platform/events/event-bus.ts';
import { createEventBus } from '../../platform/events/postgres/postgres-event-bus.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import { isStream } from '../../platform/graphql/operations/streams.ts';
import type { Subgraph } from '../../platform/graphql/operations/subgraph.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import { createDiskStore } from '../../platform/object-store/disk.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { createQueue } from '../../platform/queue/postgres-queue.ts';
import type { Queue } from '../../platform/queue/queue.ts';
import { UpstreamError } from '../../subgraphs/media/domain/failure.ts';
import type { Binding } from '../../subgraphs/media/generators/bindings/binding.ts';
import { createGeneratorRegistry } from '../../subgraphs/media/generators/bindings/registry.ts';
import { createCredentialRefusals } from '../../subgraphs/media/generators/credentials/refusals.ts';
import type { Provider } from '../../subgraphs/media/providers/contract/provider.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { createMediaSubgraph, type MediaSubgraph } from '../../subgraphs/media/subgraph.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';
import { createWorkflowSubgraph, type WorkflowSubgraph } from '../../subgraphs/workflow/subgraph.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';

/** Both subgraphs with their real parts in one process, joined by the federated executor; only the provider is ours. */

const logger = createLogger({ level: 'silent' });
const until = { timeout: 100_000, interval: 50 };
const anna: Caller = { kind: 'user', id: 'usr_anna', scopes: [], traceId: 'test', address: null };
const stranger = anonymousCaller('test', '192.0.2.1');

const NO_BOUND = { bytes: 0, files: 0 };
let home: TestDatabase;
let folder: string;
let database: Database;
let bus: EventBus;
let queue: Queue;
let media: MediaSubgraph;
let workflow: WorkflowSubgraph;
let federation: FederatedExecutor;

/** Makes a plain image at once, describes every image alike, and refuses the prompt "forbidden". */
const provider: Provider = {
  name: 'painter',
  calls: {
    IMAGE: {
      async call(request) {
        if (request.kind !== 'IMAGE') throw new Error('not an image');
        if (request.prompt.startsWith('forbidden')) {
          throw new UpstreamError('MODERATION_REFUSED', 'not this', { retryable: false });
        }
        const background = { r: request.prompt.length % 256, g: 80, b: 120 };
        const content = await sharp({ create: { width: 20, height: 30, channels: 3, background } })
          .png()
          .toBuffer();
        return { files: [{ content, contentType: 'image/png' }], texts: [] };
      },
    },
    DESCRIPTION: { call: async () => ({ files: [], texts: ['a fox', 'a red fox'] }) },
  },
};

beforeAll(async () => {
  home = await migratedDatabase();
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-execute-template-'));
  database = createDatabase({ config: home.config, maxConnections: 4, applicationName: 'test', logger });
  bus = await createEventBus({ database, logger });
  queue = await createQueue({ database, bus, logger });
  const outbound = createOutboundRule({ allow: [] });
  const http = createHttpClient({ outbound, logger });
  const shared = { database, queue, bus, authMode: 'open', logger, version: 'test' } as const;
  media = createMediaSubgraph({
    ...shared,
    store: createDiskStore({ directory: folder }),
    http,
    outbound,
    registry: createGeneratorRegistry({ bindings: [binding()] }),
    refusals: createCredentialRefusals(shared),
    files: {
      publicUrl: 'http://kiln.test',
      cdnBaseUrl: 'https://cdn.test',
      urlTtlSeconds: 0,
      secret: 's'.repeat(32),
      retentionDays: 0,
    },
    uploadMaxBytes: 100_000,
    uploadQuotas: { anonymous: NO_BOUND, user: NO_BOUND, key: NO_BOUND },
    eventRetentionDays: 0,
    queueMaxHours: 24,
    webhookSecret: `whsec_${'s'.repeat(44)}`,
  });
  const mediaLink = createLocalLink({ subgraph: media.subgraph, logger });
  workflow = createWorkflowSubgraph({
    ...shared,
    media: mediaLink,
    production: false,
    publicUrl: 'http://kiln.test',
    queueMaxHours: 24,
    workflowNames: {},
    unpaidExecutions: 'open',
    signInSecret: 's'.repeat(64),
    http,
    commerce: {
      provider: null,
      currency: 'usd',
      creditUnitAmount: 100,
      switches: { receipts: false, tax: false, promotionCodes: false },
      autoPay: null,
      autoRefund: false,
    },
    signIn: { admins: [], provider: null, platforms: [], redirects: [] },
  });
  const links = { media: mediaLink, workflow: createLocalLink({ subgraph: workflow.subgraph, logger }) };
  federation = await createFederation({ supergraphSdl: composed(), links, logger });
  await media.start();
  await media.worker.start();
  await workflow.start();
});
afterAll(async () => {
  await federation?.close();
  await workflow?.stop(1);
  await media?.worker.stop(1);
  await media?.close();
  await queue?.stop(1);
  await bus?.close();
  await database?.close();
  await home?.drop();
  await rm(folder, { recursive: true, force: true });
});

function binding(): Binding {
  const connection = {
    baseUrl: 'http://painter.test',
    pathPrefix: '',
    headers: {},
    credentials: {},
    model: null,
    nodes: [],
    resultOrigins: [],
  };
  return {
    id: 'agg/imga#0',
    name: 'agg/imga:painter',
    generator: 'agg/imga',
    provider,
    connection,
    sandbox: true,
    concurrency: 8,
    maxWaiting: 100,
    settings: 'a test',
    retryUnknownStart: true,
    attemptTimeoutSeconds: 60,
    budgetSeconds: 60,
  };
}

function composed(): string {
  const toService = (name: string, schema: GraphQLSchema) => {
    const { data } = graphqlSync({ schema, source: '{ _service { sdl } }' });
    const { sdl } = (data as unknown as { _service: { sdl: string } })._service;
    return { name, url: `http://${name}/graphql`, typeDefs: parse(sdl) };
  };
  const services = [toService('media', mediaSchema), toService('workflow', workflowSchema)];
  const { supergraphSdl, errors } = composeServices(services);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], 'the subgraphs do not compose');
  return supergraphSdl;
}

type Data = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any -- answers are looked at by their keys

async function run(
  query: string,
  variables: Record<string, unknown> = {},
  caller: Caller = anna,
): Promise<Data> {
  const context = { caller, signal: AbortSignal.timeout(100_000) };
  const { data, errors } = await federation.execute({ query, variables, context });
  expect(errors).toBeUndefined();
  return structuredClone(data) as Data;
}

async function refusal(query: string, variables: Record<string, unknown> = {}, caller: Caller = anna) {
  const context = { caller, signal: AbortSignal.timeout(100_000) };
  const { errors } = await federation.execute({ query, variables, context });
  return errors?.[0];
}

async function watch(query: string, variables: Record<string, unknown>): Promise<Data[]> {
  const context = { caller: anna, signal: AbortSignal.timeout(100_000) };
  const stream = await federation.subscribe({ query, variables, context });
  if (!isStream<ExecutionResult>(stream)) throw new AggregateError(stream.errors ?? [], 'refused');
  const all: Data[] = [];
  for await (const { data, errors } of stream) {
    expect(errors).toBeUndefined();
    all.push(structuredClone(data) as Data);
  }
  return all;
}

function upload(bytes: Buffer, filename: string): Upload {
  return makeUpload(() => Readable.from([bytes]), filename);
}

function makeUpload(createReadStream: () => Readable, filename: string): Upload {
  const file = new Upload() as Upload & { resolve(file: object): void };
  file.resolve({ filename, fieldName: 'file', mimetype: 'image/png', encoding: '7bit', createReadStream });
  return file;
}

const createImage = () =>
  sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    .png()
    .toBuffer();

describe('executeTemplate over both subgraphs', () => {
  it('runs a template to stored images, with live progress joined from both sides', async () => {
    const { executeTemplate } = await run(
      `mutation ($parameters: JSON!) { executeTemplate(code: "poster", parameters: $parameters) {
        id taskId status template { name } task { id generator } } }`,
      { parameters: { prompt: 'a fox' } },
    );
    expect(executeTemplate).toMatchObject({
      status: 'RUNNING',
      template: { name: 'Poster' },
      task: { id: executeTemplate.taskId, generator: 'agg/imga' },
    });
    const ofTask = await watch(
      `subscription ($id: ID!) { taskProgress(id: $id) { seq state stageInfo { code } progress
        task { state outputs { url } execution { id template { name } } } } }`,
      { id: executeTemplate.taskId },
    );
    expect(ofTask.map(({ taskProgress }) => taskProgress.seq)).toEqual(ofTask.map((_, index) => index + 1));
    expect(ofTask.at(-1)?.['taskProgress']).toMatchObject({
      state: 'SUCCEEDED',
      stageInfo: { code: 'FINISHED' },
      progress: 100,
      task: {
        state: 'SUCCEEDED',
        outputs: [{ url: expect.stringMatching(/^http:\/\/kiln\.test\/files\//) }],
        execution: { id: executeTemplate.id, template: { name: 'Poster' } },
      },
    });
    const ofExecution = await watch(
      `subscription ($id: ID!) { executionProgress(id: $id) { seq status progress
        execution { status progress task { state outputs { width height contentType sha256 url(cdn: true) } } } } }`,
      { id: executeTemplate.id },
    );
    expect(ofExecution.map(({ executionProgress }) => executionProgress.seq)).toEqual(
      ofTask.map(({ taskProgress }) => taskProgress.seq),
    );
    expect(ofExecution.at(-1)?.['executionProgress']).toMatchObject({
      status: 'COMPLETED',
      execution: {
        status: 'COMPLETED',
        progress: 100,
        task: { state: 'SUCCEEDED', outputs: [{ width: 20, height: 30, contentType: 'image/png' }] },
      },
    });
  });

  it('learns of the end by itself, and tells why it failed', async () => {
    const { executeTemplate } = await run(
      `mutation { executeTemplate(code: "poster", parameters: { prompt: "forbidden" }) { id } }`,
    );
    await vi.waitFor(async () => {
      const { execution } = await run(
        `query ($id: ID!) { execution(id: $id) { status error { code message } task { state error { code } } } }`,
        { id: executeTemplate.id },
      );
      expect(execution).toMatchObject({
        status: 'FAILED',
        error: { code: 'MODERATION_REFUSED', message: 'not this' },
        task: { state: 'FAILED', error: { code: 'MODERATION_REFUSED' } },
      });
    }, until);
  });

  it('refuses what media would refuse, naming the parameter, before anything is written', async () => {
    const error = await refusal(
      `mutation { executeTemplate(code: "poster", parameters: { prompt: "x", imageUrl: "http://kiln.test/files/0199aaaa-0000-7000-8000-000000000000/a.png" }) { id } }`,
    );
    expect(error).toMatchObject({
      extensions: { code: 'BAD_USER_INPUT', field: 'parameters.imageUrl' },
      message: expect.stringContaining('does not exist'),
    });
  });

  it("hides from others what is the caller's own", async () => {
    const { executeTemplate } = await run(
      `mutation { executeTemplate(code: "poster", parameters: { prompt: "mine" }) { id taskId } }`,
    );
    const seen = await run(
      `query ($id: ID!, $taskId: ID!) { execution(id: $id) { id } task(id: $taskId) { id } executions { edges { node { id } } } tasks { edges { node { id } } } }`,
      executeTemplate,
      stranger,
    );
    expect(seen).toEqual({ execution: null, task: null, executions: { edges: [] }, tasks: { edges: [] } });
    const { executions, tasks } = await run(
      `{ executions(first: 1) { pageInfo { hasNextPage } edges { cursor node { id task { id } } } } tasks(first: 1) { edges { node { id execution { id } } } } }`,
    );
    expect(executions).toMatchObject({
      pageInfo: { hasNextPage: true },
      edges: [{ node: { id: executeTemplate.id, task: { id: executeTemplate.taskId } } }],
    });
    expect(tasks.edges[0].node).toEqual({
      id: executeTemplate.taskId,
      execution: { id: executeTemplate.id },
    });
  });
});

/** Reads entities at a subgraph by their keys, as a gateway does that joins them. */
async function readEntities(subgraph: Subgraph, representations: readonly object[]): Promise<unknown> {
  const fields = representations.map(
    ({ __typename, ...key }: Data) => `... on ${__typename} { ${Object.keys(key)[0]} }`,
  );
  const query = `query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename ${fields.join(' ')} } }`;
  const link = createLocalLink({ subgraph, logger });
  const context = { caller: anna, signal: AbortSignal.timeout(100_000) };
  const { data, errors } = await link.execute({ query, variables: { representations }, context });
  expect(errors).toBeUndefined();
  return (data as Data)['_entities'];
}

describe('an entity', () => {
  it('is found by its key at its subgraph, and is null where there is none', async () => {
    const { executeTemplate } = await run(
      'mutation { executeTemplate(code: "poster", parameters: { prompt: "by key" }) { id taskId } }',
    );
    const { outputs } = await ended(executeTemplate.taskId);
    const ofMedia = [
      { __typename: 'Task', id: executeTemplate.taskId },
      { __typename: 'Media', id: outputs[0].id },
    ];
    expect(await readEntities(media.subgraph, ofMedia)).toEqual(ofMedia);
    const ofWorkflow = [
      { __typename: 'Execution', id: executeTemplate.id },
      { __typename: 'Template', code: 'poster' },
    ];
    expect(await readEntities(workflow.subgraph, ofWorkflow)).toEqual(ofWorkflow);
    const id = randomUUID();
    const unknown = (types: readonly string[]) => types.map((__typename) => ({ __typename, id }));
    expect(await readEntities(media.subgraph, unknown(['Task', 'Media', 'VideoTemplate']))).toEqual([
      null,
      null,
      null,
    ]);
    const code = 'no-template';
    expect(
      await readEntities(workflow.subgraph, [
        ...unknown(['Execution', 'Payment', 'User']),
        { __typename: 'Template', code },
      ]),
    ).toEqual([null, null, null, null]);
  });
});

const ended = async (id: string): Promise<Data> =>
  vi.waitFor(async () => {
    const { task } = await run(
      `query ($id: ID!) { task(id: $id) { state kind taskType text notes lastSeq outputs { id } error { code message field }
        result { ... on Description { prompts } } attempts { provider state reference step } events { seq } execution { id } } }`,
      { id },
    );
    expect(task.state).toMatch(/SUCCEEDED|FAILED|CANCELLED/);
    return task as Data;
  }, until);

describe('submissions over GraphQL', () => {
  it('stores an upload, takes it as an input by id, by address or directly, and describes it', async () => {
    const { uploadFile } = await run(
      `mutation ($file: Upload!) { uploadFile(file: $file) { id url bytes sha256 width contentType } }`,
      { file: upload(await createImage(), 'red.png') },
    );
    expect(uploadFile).toMatchObject({ width: 4, contentType: 'image/png' });
    const describe = `mutation ($image: MediaInput!, $key: String) { describeImage(generator: "agg/imga", image: $image, idempotencyKey: $key) { id state kind } }`;
    const inputs = [
      { fileId: uploadFile.id },
      { url: uploadFile.url.replace('kiln.test', 'elsewhere.test') },
      { upload: upload(await createImage(), 'again.png') },
    ];
    const ids: string[] = [];
    for (const image of inputs) ids.push((await run(describe, { image, key: 'same' })).describeImage.id);
    // The same bytes are the same request, however they came.
    expect(new Set(ids).size).toBe(1);
    const task = await ended(ids[0] ?? '');
    expect(task).toMatchObject({
      state: 'SUCCEEDED',
      kind: 'DESCRIPTION',
      text: 'a fox',
      result: { prompts: ['a fox', 'a red fox'] },
      attempts: [{ provider: 'painter', state: 'SUCCEEDED' }],
      execution: null,
    });
    expect(task['events']).toHaveLength(task['lastSeq']);
    const { deleteMedia } = await run(`mutation ($id: ID!) { deleteMedia(id: $id) { id } }`, {
      id: uploadFile.id,
    });
    expect(deleteMedia.id).toBe(uploadFile.id);
  });

  it('leaves an upload out of the lists that says so, also once a task has taken it', async () => {
    const stored = async (listed: boolean) => {
      const query = `mutation ($file: Upload!, $listed: Boolean!) { uploadFile(file: $file, listed: $listed) { id } }`;
      const { uploadFile } = await run(query, { file: upload(await createImage(), 'mask.png'), listed });
      return uploadFile.id as string;
    };
    const [shown, mask] = [await stored(true), await stored(false)];
    const describe = `mutation ($id: ID!) { describeImage(generator: "agg/imga", image: { fileId: $id }) { id } }`;
    const { describeImage } = await run(describe, { id: mask });
    await ended(describeImage.id);
    const { medias } = await run(`{ medias(first: 200) { edges { node { id } } } }`);
    const listed = medias.edges.map(({ node }: { readonly node: { readonly id: string } }) => node.id);
    expect(listed).toContain(shown);
    expect(listed).not.toContain(mask);
    const { task } = await run(
      `query ($id: ID!) { task(id: $id) { input { files { input media { id } } } } }`,
      { id: describeImage.id },
    );
    expect(task.input.files).toEqual([{ input: 'image', media: { id: mask } }]);
  });

  it('reads several uploads in whatever order they come', async () => {
    const bytes = await createImage();
    const { promise: secondIsRead, resolve } = Promise.withResolvers<void>();
    async function* first() {
      await secondIsRead;
      yield bytes;
    }
    async function* second() {
      yield bytes;
      resolve();
    }
    const images = [first, second].map((source) => ({
      upload: makeUpload(() => Readable.from(source()), 'a.png'),
    }));
    const { generateImage } = await run(
      `mutation ($images: [MediaInput!]) { generateImage(input: { generator: "agg/imga", prompt: "two", images: $images }) { id } }`,
      { images },
    );
    expect(await ended(generateImage.id)).toMatchObject({ state: 'SUCCEEDED', kind: 'IMAGE' });
  });

  it('runs a recipe with an own copy of the template', async () => {
    const { createVideoTemplate } = await run(
      `mutation { createVideoTemplate(input: { taskType: "duo", prompt: "in ink", presetPrompts: ["one", "two"], aspectRatio: "1:1" }) { id } }`,
      {},
      stranger,
    );
    const { createTask } = await run(
      `mutation { createTask(taskType: "duo", prompt: "foxes") { id kind taskType } }`,
    );
    expect(createTask).toMatchObject({ kind: 'RECIPE', taskType: 'duo' });
    await run(
      `mutation ($id: ID!) { deleteVideoTemplate(id: $id) { deletedAt } }`,
      createVideoTemplate,
      stranger,
    );
    expect(await ended(createTask.id)).toMatchObject({ state: 'SUCCEEDED', taskType: 'duo' });
    const { task } = await run(`query ($id: ID!) { task(id: $id) { outputs { id } } }`, createTask);
    expect(task.outputs).toHaveLength(2);
  });

  it.each([
    ['{ createTask(taskType: "none", prompt: "x") { id } }', 'taskType'],
    ['{ createTask(taskType: "tea", prompt: "x", aspectRatio: "0:1") { id } }', 'aspectRatio'],
    ['{ createTask(taskType: "tea", prompt: "x", image: {}) { id } }', 'image'],
    ['{ createTask(taskType: "tea", prompt: " ") { id } }', 'prompt'],
    ['{ generateImage(input: { generator: "agg/imga", prompt: " " }) { id } }', 'prompt'],
    ['{ generateImage(input: { generator: "none", prompt: "x" }) { id } }', 'generator'],
    [
      '{ generateImage(input: { generator: "agg/imga", prompt: "x", images: [{ url: "file:///etc" }] }) { id } }',
      'images[0].url',
    ],
    [
      '{ generateImage(input: { generator: "agg/imga", prompt: "x", images: [{ url: "https://a.test/b", fileId: "c" }] }) { id } }',
      'images[0]',
    ],
    ['{ describeImage(generator: "agg/imga", image: { fileId: "c" }) { id } }', 'image.fileId'],
    [
      '{ describeImage(generator: "agg/imga", image: { url: "http://me:you@a.test/b" }) { id } }',
      'image.url',
    ],
  ])('refuses mutation %s, naming %s', async (operation, field) => {
    expect((await refusal(`mutation ${operation}`))?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      field,
    });
  });

  it('stores nothing of an upload over the limit', async () => {
    const file = upload(Buffer.alloc(100_001, 1), 'large.bin');
    const error = await refusal(`mutation ($file: Upload!) { uploadFile(file: $file) { id } }`, { file });
    expect(error?.extensions).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('keeps startTask for services', async () => {
    const link = createLocalLink({ subgraph: media.subgraph, logger });
    const context = { caller: anna, signal: AbortSignal.timeout(100_000) };
    const query = `mutation { startTask(id: "x", owner: "usr_x", start: {}) { id } }`;
    const { errors } = await link.execute({ query, variables: {}, context });
    expect(errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('says that it works', async () => {
    const { health, workflowHealth, models } = await run(
      `{ health { service checks } workflowHealth { totalTemplates } models { id } }`,
    );
    expect(health).toEqual({ service: 'media', checks: { database: 'ok', files: 'ok' } });
    expect([workflowHealth.totalTemplates, models]).toEqual([3, []]);
  });
});
