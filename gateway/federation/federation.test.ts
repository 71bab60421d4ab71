import { createHash } from 'node:crypto';

import { LocalGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import {
  type ExecutionResult,
  type GraphQLError,
  GraphQLError as RefusalError,
  parse,
  type ValidationRule,
} from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import { afterEach, describe, expect, it } from 'vitest';

import { AppError } from '../../platform/errors.ts';
import { createCallerSigner } from '../../platform/graphql/assertions/caller-assertion.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import { createRemoteLink } from '../../platform/graphql/links/remote-link.ts';
import type { RequestContext, ResultStream } from '../../platform/graphql/operations/executor.ts';
import type { Subgraph, SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { createSubgraphServer, type SubgraphServer } from '../../platform/graphql/subgraph-server/server.ts';
import {
  composeTwoSubgraphs,
  createContext,
  createTwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { rememberRequestBytes } from '../../platform/graphql/uploads/request-bytes.ts';
import { createEndpoints } from '../../platform/http/endpoints/endpoints.ts';
import { createMetrics } from '../../platform/metrics/prometheus.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { linksFromSupergraph } from '../composition/other-graph/graph-source.ts';
import { follow } from '../transports/streams/keep-following.ts';
import { createFederation } from './federation.ts';
import { createReplaceableFederation } from './replaceable.ts';

const KEY = 'the-internal-key-of-the-tests-0123456789';
const logger = silentLogger();
const supergraphSdl = composeTwoSubgraphs();
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

type Way = 'local links' | 'HTTP';

async function start(way: Way, validationRules: readonly ValidationRule[] = []) {
  const two = createTwoSubgraphs();
  const media = await connect(two.media, way);
  const workflow = await connect(two.workflow, way);
  const links = { media: media.link, workflow: workflow.link };
  const federation = await createFederation({ supergraphSdl, links, logger, validationRules });
  cleanups.push(() => federation.close());
  const run = (query: string, variables = {}, context: RequestContext = createContext()) =>
    federation.execute({ query, variables, context });
  const watch = (query: string, variables = {}, context: RequestContext = createContext()) =>
    federation.subscribe({ query, variables, context });
  return { two, federation, run, watch, mediaServer: media.server, links };
}

async function connect(
  subgraph: Subgraph,
  way: Way,
): Promise<{ link: SubgraphLink; server: SubgraphServer | null }> {
  if (way === 'local links') return { link: createLocalLink({ subgraph, logger }), server: null };
  const server = await createSubgraphServer({
    subgraph,
    internalKey: KEY,
    logger,
    host: '127.0.0.1',
    port: 0,
    uploadMaxBytes: 1024 * 1024,
    readiness: {},
  });
  cleanups.push(() => server.close());
  const sign = createCallerSigner({ key: KEY, audience: subgraph.name });
  const link = createRemoteLink({
    name: subgraph.name,
    endpoints: createEndpoints({ urls: [server.url], logger }),
    sign,
    logger,
  });
  cleanups.push(() => link.close());
  return { link, server };
}

/** What a caller gets: after JSON, so that errors and data are plain. */
function plain(result: unknown): ExecutionResult {
  return JSON.parse(JSON.stringify(result)) as ExecutionResult;
}

function expectStream(started: ResultStream | ExecutionResult): ResultStream {
  if (!(Symbol.asyncIterator in started)) throw new Error(JSON.stringify(started));
  return started;
}

function upload(name: string, content: AsyncIterable<Buffer> | Buffer[]): Upload {
  const settled = new Upload() as Upload & { resolve(file: unknown): void };
  const createReadStream = () => content;
  settled.resolve({ filename: name, mimetype: 'text/plain', encoding: '7bit', createReadStream });
  return settled;
}

const ways: Way[] = ['local links', 'HTTP'];
describe.each(ways)('the federated executor over %s', (way) => {
  it('makes no large answer of large variables that do not fit', async () => {
    const { run } = await start(way);
    const names = Array.from({ length: 10 }, (_, index) => `a${index}`);
    const fields = names.map((name) => `${name}: tasks(first: $${name}) { id }`);
    const query = `query (${names.map((name) => `$${name}: Int!`).join(' ')}) { ${fields.join(' ')} }`;
    const large = Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`member${index}`, index]));
    const { errors = [] } = await run(query, Object.fromEntries(names.map((name) => [name, large])));
    expect(errors[0]?.message).toMatch(/^Variable "\$a0" got invalid value \{ member0: 0, .* \.\.\. .* \}$/s);
    expect(errors.every(({ extensions }) => extensions['code'] === 'BAD_USER_INPUT')).toBe(true);
    expect(JSON.stringify(errors).length).toBeLessThan(10_000);
  });

  it('joins entities of both subgraphs, with fragments, variables and aliases', async () => {
    const { run } = await start(way);
    const query = `query Board($first: Int!, $withCover: Boolean!) {
      board: tasks(first: $first) { ...Card summary previous { id execution { name } } }
    }
    fragment Card on Task { key: id state execution { name cover @include(if: $withCover) { url } } }`;
    const result = plain(await run(query, { first: 2, withCover: true }));
    expect(result).toEqual({
      data: {
        board: [
          { key: 't1', state: 'RUNNING', execution: null, summary: 't1 is RUNNING', previous: null },
          {
            key: 't2',
            state: 'RUNNING',
            execution: { name: 't2', cover: { url: 'https://files/cover-t2' } },
            summary: 't2 is RUNNING',
            previous: { id: 't1', execution: null },
          },
        ],
      },
    });
  });

  it('runs mutations and tells the subgraph who is asking', async () => {
    const { run } = await start(way);
    const started = await run('mutation ($name: String!) { start(name: $name) { id cover { url } } }', {
      name: 'x',
    });
    expect(plain(started).data).toEqual({ start: { id: 'exe-x', cover: { url: 'https://files/cover-x' } } });
    expect(plain(await run('{ caller }', {}, createContext('usr_7'))).data).toEqual({ caller: 'user:usr_7' });
  });

  it('keeps codes, facts and paths of errors, and masks what is unknown', async () => {
    const { run } = await start(way);
    const result = await run(`{ task(id: "t2") { id refused broken trouble }
      input: fail(how: "input") limited: fail(how: "limited") coded: fail(how: "coded")
      internal: fail(how: "internal") unknown: fail(how: "unknown") }`);
    const errors = plain(result).errors ?? [];
    const byPath = Object.fromEntries(
      errors.map(({ path, message, extensions }) => [path?.join('.'), { message, ...extensions }]),
    );
    const masked = { message: 'internal error', code: 'INTERNAL', traceId: 'trace-usr_1' };
    expect(byPath).toEqual({
      'task.refused': { message: 'not yours', code: 'FORBIDDEN', field: 'refused' },
      'task.broken': masked,
      'task.trouble': { message: 'no trouble for t2', code: 'UNAVAILABLE', retryAfter: 3 },
      input: { message: 'choose another', code: 'BAD_USER_INPUT', field: 'how' },
      limited: { message: 'slow down', code: 'RATE_LIMITED', retryAfter: 7 },
      coded: { message: 'own code', code: 'TEAPOT' },
      internal: masked,
      unknown: masked,
    });
    expect(plain(result).data).toMatchObject({ task: { id: 't2', refused: null } });
  });

  it('streams uploads through, also when the second file comes first', async () => {
    const { run } = await start(way);
    const content = Buffer.alloc(300_000, 'kiln');
    const sha256 = createHash('sha256').update(content).digest('hex');
    const one = await run('mutation ($file: Upload!) { upload(file: $file) { name bytes sha256 } }', {
      file: upload('a "quoted".txt', [content.subarray(0, 1000), content.subarray(1000)]),
    });
    expect(plain(one).data).toMatchObject({ upload: { bytes: 300_000, sha256 } });

    const declared = upload('a.txt', [content]);
    for (const file of [declared, await declared.promise]) rememberRequestBytes(file, 300_400);
    const query = 'mutation ($file: Upload!) { upload(file: $file) { requestBytes } }';
    expect(plain(await run(query, { file: declared })).data).toEqual({ upload: { requestBytes: 300_400 } });

    const late = new Upload() as Upload & { resolve(file: unknown): void };
    const early = upload('early.txt', [Buffer.from('early')]);
    const both = run(
      'mutation ($a: Upload!, $b: Upload!) { uploadBoth(first: $a, second: $b) { name bytes } }',
      {
        a: late,
        b: early,
      },
    );
    late.resolve(await upload('late.txt', [Buffer.from('later')]).promise);
    expect(plain(await both).data).toEqual({
      uploadBoth: [
        { name: 'late.txt', bytes: 5 },
        { name: 'early.txt', bytes: 5 },
      ],
    });
  });

  it('joins each event of a subscription from the other subgraph', async () => {
    const { two, watch } = await start(way);
    const query = `subscription ($id: ID!) {
      now: taskProgress(id: $id) { seq caller task { progress execution { name } summary } }
    }`;
    const stream = expectStream(await watch(query, { id: 't2' }, createContext('usr_9')));
    const first = stream.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t2', 1);
    two.emit('t2', 2);
    const task = { progress: 40, execution: { name: 't2' }, summary: 't2 is RUNNING' };
    expect(plain((await first).value)).toEqual({ data: { now: { seq: 1, caller: 'usr_9', task } } });
    expect(plain((await stream.next()).value)).toEqual({ data: { now: { seq: 2, caller: 'usr_9', task } } });
    two.complete();
    expect((await stream.next()).done).toBe(true);
    await expect.poll(() => two.listenerCount()).toBe(0);
  });

  it('puts the errors of an event at their paths, and null where a field must not be null', async () => {
    const { two, watch } = await start(way);
    const query = 'subscription { taskProgress(id: "t2") { seq strict task { id trouble } } }';
    const stream = expectStream(await watch(query));
    const first = stream.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t2', 1);
    two.emit('t2', 101);
    const one = plain((await first).value);
    expect(one.data).toMatchObject({
      taskProgress: { seq: 1, strict: 1, task: { id: 't2', trouble: null } },
    });
    expect(one.errors?.map(({ path }) => path)).toEqual([['taskProgress', 'task', 'trouble']]);
    const two_ = plain((await stream.next()).value);
    expect(two_.data).toBeNull();
    expect(two_.errors).toMatchObject([
      { path: ['taskProgress', 'strict'], extensions: { code: 'INTERNAL' } },
    ]);
    await stream.return?.();
  });

  it('gives every event of a subscription while a joined subgraph is away', async () => {
    const two = createTwoSubgraphs();
    const { link: media } = await connect(two.media, way);
    const away: SubgraphLink = {
      ...createLocalLink({ subgraph: two.workflow, logger }),
      execute: async () => ({ errors: [new RefusalError('gone', { extensions: { code: 'UNAVAILABLE' } })] }),
    };
    const supergraph = composeTwoSubgraphs(undefined, 'summary: String!');
    const links = { media, workflow: away };
    const federation = await createFederation({ supergraphSdl: supergraph, links, logger });
    cleanups.push(() => federation.close());
    const query = 'subscription { taskProgress(id: "t2") { seq task { summary } } }';
    const request = { query, variables: {}, context: createContext() };
    const stream = expectStream(
      await follow({ federation }, { request, document: parse(query), fields: ['taskProgress'] }),
    );
    const first = stream.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    for (const seq of [1, 2, 3]) two.emit('t2', seq);
    two.complete();
    const event = { data: null, errors: [{ message: 'gone', extensions: { code: 'UNAVAILABLE' } }] };
    expect(plain((await first).value)).toMatchObject(event);
    expect(plain((await stream.next()).value)).toMatchObject(event);
    expect(plain((await stream.next()).value)).toMatchObject(event);
    expect((await stream.next()).done).toBe(true);
  });

  it.each([
    ['{ taskProgress(id: "t2") { seq caller } }', { seq: 1, caller: 'usr_1' }],
    [
      '{ taskProgress(id: "t2") { n: seq task { key: id state } } }',
      { n: 1, task: { key: 't2', state: 'RUNNING' } },
    ],
    ['{ taskProgress(id: "t2") { seq seq ... on TaskProgress { caller } } }', { seq: 1, caller: 'usr_1' }],
    [
      '{ taskProgress(id: "t2") { __typename seq @skip(if: false) } }',
      { __typename: 'TaskProgress', seq: 1 },
    ],
    [
      '{ taskProgress(id: "t2") { task { __typename outputs { url } } } }',
      { task: { __typename: 'Task', outputs: [{ url: 'https://files/t2' }] } },
    ],
    ['{ taskProgress(id: "t2") { task { refused } } }', { task: { refused: null } }],
  ])('gives an event in the shape of subscription %s', async (selection, expected) => {
    const { two, watch } = await start(way);
    const stream = expectStream(await watch(`subscription ${selection}`));
    const first = stream.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t2', 1);
    expect(JSON.stringify(plain((await first).value).data)).toBe(JSON.stringify({ taskProgress: expected }));
    await stream.return?.();
  });

  it('reaches the source at once when a subscriber leaves while it waits', async () => {
    const { two, watch } = await start(way);
    const stream = expectStream(await watch('subscription { taskProgress(id: "t1") { seq } }'));
    const pending = stream.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    await stream.return?.();
    expect(await pending).toEqual({ value: undefined, done: true });
    expect((await stream.next()).done).toBe(true);
    await expect.poll(() => two.listenerCount()).toBe(0);
  });

  it('ends a subscription when its caller hangs up, and all of them at the close', async () => {
    const { two, watch, federation } = await start(way);
    const controller = new AbortController();
    const query = 'subscription { taskProgress(id: "t1") { seq } }';
    const hungUp = expectStream(await watch(query, {}, createContext('usr_1', controller.signal))).next();
    const open = expectStream(await watch(query)).next();
    await expect.poll(() => two.listenerCount()).toBe(2);
    controller.abort();
    expect((await hungUp).done).toBe(true);
    await expect.poll(() => two.listenerCount()).toBe(1);
    await federation.close();
    expect((await open).done).toBe(true);
    await expect.poll(() => two.listenerCount()).toBe(0);
    const late = expectStream(await watch(query));
    expect((await late.next()).done).toBe(true);
    await expect.poll(() => two.listenerCount()).toBe(0);
  });

  it('answers a refused subscription and one that breaks with an error and an end', async () => {
    const { watch } = await start(way);
    expect(await readErrors(await watch('subscription { refusing }'))).toMatchObject([
      { message: 'no such task', extensions: { code: 'NOT_FOUND' } },
    ]);
    expect(await readErrors(await watch('subscription { breaking }'))).toMatchObject([
      { message: 'internal error', extensions: { code: 'INTERNAL' } },
    ]);
  });

  it('tells the subgraph when the caller of a query hangs up', async () => {
    const { two, run } = await start(way);
    const controller = new AbortController();
    const answer = run('{ hang }', {}, createContext('usr_1', controller.signal));
    await expect.poll(() => two.hanging.length).toBe(1);
    controller.abort();
    await answer;
    await expect.poll(() => two.hanging[0]?.aborted).toBe(true);
  });

  it('leaves no listener behind 50 subscribers that vanish', async () => {
    const { two, watch } = await start(way);
    const query = 'subscription { taskProgress(id: "t1") { seq } }';
    const streams = await Promise.all(
      Array.from({ length: 50 }, async () => expectStream(await watch(query))),
    );
    const waiting = streams.map((stream) => stream.next());
    await expect.poll(() => two.listenerCount()).toBe(50);
    for (const stream of streams) void stream.return?.();
    await Promise.all(waiting);
    await expect.poll(() => two.listenerCount()).toBe(0);
  });
});

/** The errors of a refusal, given at once or as the only event of a stream. */
async function readErrors(started: ResultStream | ExecutionResult): Promise<unknown> {
  if (!(Symbol.asyncIterator in started)) return plain(started).errors;
  const only = await started.next();
  expect((await started.next()).done).toBe(true);
  return plain(only.value).errors;
}

describe('the federated executor', () => {
  it('refuses what is malformed before any subgraph is asked', async () => {
    const { run, watch } = await start('local links');
    const codes = async (started: ResultStream | ExecutionResult) =>
      (started as ExecutionResult).errors?.map(({ extensions }) => extensions['code']);
    expect(await codes(await run('{ tasks { id '))).toEqual(['GRAPHQL_PARSE_FAILED']);
    expect(await codes(await run('{ nothing }'))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await codes(await run('{ task(id: "t1") { hidden } }'))).toEqual(['GRAPHQL_VALIDATION_FAILED']);
    expect(await codes(await run('query ($n: Int!) { tasks(first: $n) { id } }', { n: 'many' }))).toEqual([
      'BAD_USER_INPUT',
    ]);
    expect(await codes(await run('query A { caller } query B { caller }'))).toEqual(['BAD_USER_INPUT']);
    expect(await codes(await run('subscription { refusing }'))).toEqual(['BAD_USER_INPUT']);
    expect(await codes(await watch('{ caller }'))).toEqual(['BAD_USER_INPUT']);
    expect(await codes(await run(`{ ${'caller '.repeat(10_001)} }`))).toEqual(['QUERY_REFUSED']);
  });

  it('answers queries that share a plan under their own names, with their own literals', async () => {
    const { run, federation, links } = await start('local links');
    const first = plain(await run('{ a: task(id: "t1") { id } b: task(id: "t2") { trouble } }'));
    const second = plain(await run('{ c: task(id: "t2") { id } d: task(id: "t2") { trouble } }'));
    expect([first.data, second.data]).toMatchObject([{ a: { id: 't1' } }, { c: { id: 't2' } }]);
    expect(Object.keys(second.data ?? {})).toEqual(['c', 'd']);
    expect([first, second].map(({ errors }) => errors?.map(({ path }) => path))).toEqual([
      [['b', 'trouble']],
      [['d', 'trouble']],
    ]);
    const deferring = await createFederation({ supergraphSdl, links, logger, defers: true });
    cleanups.push(() => deferring.close());
    for (const { documents } of [federation, deferring]) {
      const createDocument = (id: string) =>
        documents.prepare(`{ ${id}: task(id: "${id}") { id } }`).document;
      expect(createDocument('x')).toBe(createDocument('y'));
    }
  });

  it('runs the named operation of a document', async () => {
    const { federation } = await start('local links');
    const query = 'query A { a: caller } query B { b: caller }';
    const request = { query, variables: {}, context: createContext() };
    expect(plain(await federation.execute({ ...request, operationName: 'A' })).data).toHaveProperty('a');
    expect(plain(await federation.execute({ ...request, operationName: 'B' })).data).toHaveProperty('b');
    const unknown = await federation.execute({ ...request, operationName: 'C' });
    expect(unknown.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', field: 'operationName' });
  });

  it('refuses a conditional root of a subscription, also inside fragments', async () => {
    const { watch } = await start('local links');
    const documents = [
      'subscription ($on: Boolean!) { refusing @include(if: $on) }',
      'subscription ($on: Boolean!) { ... @skip(if: $on) { refusing } }',
      'subscription ($on: Boolean!) { ...Root } fragment Root on Subscription { refusing @skip(if: $on) }',
    ];
    for (const query of documents) {
      const refused = (await watch(query, { on: true })) as ExecutionResult;
      expect(refused.errors?.map(({ message }) => message)).toContain(
        '@skip and @include are not allowed at the root of a subscription',
      );
    }
  });

  it('applies the rules it is given to every document, and keeps their code', async () => {
    const noCaller: ValidationRule = (context) => ({
      Field(node) {
        if (node.name.value !== 'caller') return;
        context.reportError(new RefusalError('no', { extensions: { code: 'QUERY_REFUSED' } }));
      },
    });
    const { run, federation } = await start('local links', [noCaller]);
    expect((await run('{ caller }')).errors?.[0]?.extensions['code']).toBe('QUERY_REFUSED');
    expect(federation.documents.prepare('{ caller }').errors).toHaveLength(1);
    expect(federation.documents.prepare('{ tasks { id } }').document).toBe(
      federation.documents.prepare('{ tasks { id } }').document,
    );
    expect(() => federation.plan('{ caller }')).toThrow('no');
    expect(() => federation.plan('{ tasks { id } }')).not.toThrow();
  });

  it('answers introspection of the API schema without its inaccessible parts', async () => {
    const { run, federation } = await start('local links');
    const result = plain(await run('{ __type(name: "Task") { fields { name } } }'));
    const names = (result.data as { __type: { fields: { name: string }[] } }).__type.fields.map(
      ({ name }) => name,
    );
    expect(names).toContain('execution');
    expect(names).not.toContain('hidden');
    expect(federation.apiSchema().getType('Task')).toBeDefined();
  });

  it('serves Apollo Server through the same execution', async () => {
    const { federation } = await start('local links');
    const server = new ApolloServer<RequestContext>({ gateway: federation.gateway, logger: quiet });
    cleanups.push(() => server.stop());
    await server.start();
    const { body } = await server.executeOperation(
      { query: 'query ($id: ID!) { task(id: $id) { trouble execution { name } } }', variables: { id: 't2' } },
      { contextValue: createContext() },
    );
    const result = body.kind === 'single' ? body.singleResult : undefined;
    expect(result?.data).toMatchObject({ task: { execution: { name: 't2' } } });
    expect(result?.errors?.[0]?.extensions).toEqual({ code: 'UNAVAILABLE', retryAfter: 3 });
  });

  it('fails at the start when a subgraph has no link', async () => {
    const two = createTwoSubgraphs();
    const links = { media: createLocalLink({ subgraph: two.media, logger }) };
    await expect(createFederation({ supergraphSdl, links, logger })).rejects.toThrow('"workflow"');
  });

  it('makes links from the URLs of any supergraph', () => {
    const two = createTwoSubgraphs();
    const made: string[] = [];
    const links = linksFromSupergraph(supergraphSdl, ({ name, url }) => {
      made.push(`${name} ${url}`);
      return createLocalLink({ subgraph: two.media, logger });
    });
    expect(Object.keys(links)).toEqual(['media', 'workflow']);
    expect(made).toEqual(['media http://media/', 'workflow http://workflow/']);
  });

  it('gives the reason when a subgraph refuses an upload that is still being sent', async () => {
    const { run } = await start('HTTP');
    async function* large() {
      for (let index = 0; index < 200; index += 1) yield Buffer.alloc(64 * 1024);
    }
    const result = await run('mutation ($file: Upload!) { upload(file: $file) { bytes } }', {
      file: upload('large.bin', large()),
    });
    expect(result.errors?.[0]?.extensions['code']).toBe('PAYLOAD_TOO_LARGE');
    expect(plain(await run('{ caller }')).data).toEqual({ caller: 'user:usr_1' });
  });

  it('ends streams with UNAVAILABLE when the subgraph stops, and works again when it is back', async () => {
    const { two, run, watch, mediaServer } = await start('HTTP');
    const query = 'subscription { taskProgress(id: "t2") { seq task { execution { name } } } }';
    const stream = expectStream(await watch(query));
    const first = stream.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t2', 1);
    await first;
    const next = stream.next();
    await mediaServer?.close();
    const last = plain((await next).value);
    expect(last).not.toHaveProperty('data');
    expect(last.errors).toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
    expect((await stream.next()).done).toBe(true);
    expect(two.listenerCount()).toBe(0);
    expect((await run('{ caller }')).errors?.[0]?.extensions['code']).toBe('UNAVAILABLE');

    const server = await createSubgraphServer({
      subgraph: two.media,
      internalKey: KEY,
      logger,
      host: '127.0.0.1',
      port: Number(new URL(mediaServer?.url ?? '').port),
      uploadMaxBytes: 1024,
      readiness: {},
    });
    cleanups.push(() => server.close());
    expect(plain(await run('{ caller }')).data).toEqual({ caller: 'user:usr_1' });
    const again = expectStream(await watch(query));
    const event = again.next();
    await expect.poll(() => two.listenerCount()).toBe(1);
    two.emit('t2', 5);
    expect(plain((await event).value).data).toMatchObject({ taskProgress: { seq: 5 } });
    await again.return?.();
  });
});

const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

describe('compared with a stock ApolloGateway', () => {
  const operations: readonly [query: string, variables?: Record<string, unknown>][] = [
    ['{ caller }'],
    ['{ tasks(first: 3) { id state execution { id name cover { url } } summary } }'],
    ['{ find { __typename ... on Task { id execution { name } } ... on File { url } } }'],
    ['{ node(id: "t3") { __typename id ... on Task { progress summary previous { summary } } } }'],
    ['query ($n: Int) { a: tasks(first: $n) { id } b: tasks(first: 1) { b: id } }', { n: 2 }],
    ['query ($yes: Boolean!) { tasks { id @skip(if: $yes) state @include(if: $yes) } }', { yes: true }],
    ['query ($yes: Boolean = false) { tasks { id execution @include(if: $yes) { name } } }'],
    ['{ task(id: "none") { id execution { name } } }'],
    ['{ executions { name cover { id url } } }'],
    ['mutation { one: start(name: "1") { cover { url } } two: start(name: "2") { name } }'],
    ['{ coded: fail(how: "coded") caller }'],
    ['{ __schema { queryType { name } } tasks { __typename } }'],
    ['query ($n: Int!) { tasks(first: $n) { id } }', {}],
  ];

  it.each(operations)('gives the same for %s', async (query, variables = {}) => {
    const { federation } = await start('local links');
    const two = createTwoSubgraphs();
    const stock = await createStockServer({ media: two.media, workflow: two.workflow });
    const ours = plain(await federation.execute({ query, variables, context: createContext() }));
    const { body } = await stock.executeOperation({ query, variables }, { contextValue: createContext() });
    const theirs = plain(body.kind === 'single' ? body.singleResult : {});
    expect(ours.data ?? null).toEqual(theirs.data ?? null);
    expect(places(ours.errors)).toEqual(places(theirs.errors));
  });
});

it('leaves a graph that was replaced when what runs over it has ended', async () => {
  const { federation, links } = await start('local links');
  let retired = 0;
  const graph = { federation, supergraphSdl, links, retired: () => (retired += 1) };
  const next = await createFederation({ supergraphSdl, links, logger });
  const replaceable = createReplaceableFederation(graph);
  cleanups.push(() => replaceable.close());
  const running = replaceable.execute({ query: '{ __typename }', variables: {}, context: createContext() });
  replaceable.replace({ ...graph, federation: next });
  expect(retired).toBe(0);
  expect(plain(await running)).toMatchObject({ data: {} });
  expect(retired).toBe(1);
});

it('keeps the subscriptions that are the same over the next graph, and has the others come back', async () => {
  const { two, federation, links } = await start('local links');
  const retired: string[] = [];
  const graph = (name: string, made: typeof federation, over: typeof links, sdl = supergraphSdl) => ({
    federation: made,
    supergraphSdl: sdl,
    links: over,
    retired: () => void retired.push(name),
  });
  const replaceable = createReplaceableFederation(graph('first', federation, links));
  cleanups.push(() => replaceable.close());
  const subscribe = (fields: string) =>
    replaceable.subscribe({
      query: `subscription { taskProgress(id: "t2") { ${fields} } }`,
      variables: {},
      context: createContext(),
    });
  const watch = async (fields: string) => expectStream(await subscribe(fields));
  const reload = [{ extensions: { code: 'SUBSCRIPTION_SCHEMA_RELOAD' } }];
  const alone = await watch('seq task { state }');
  const joined = await watch('seq task { execution { name } }');
  const pending = joined.next();
  // Another way to the subgraph that the events are joined from.
  const others = { ...links, workflow: createLocalLink({ subgraph: two.workflow, logger }) };
  const second = await createFederation({ supergraphSdl, links: others, logger });
  expect(replaceable.replace(graph('second', second, others))).toEqual({ kept: 1, ended: 1 });
  expect(plain((await pending).value).errors).toMatchObject(reload);
  expect((await joined.next()).done).toBe(true);
  two.emit('t2', 7);
  expect(plain((await alone.next()).value).data).toMatchObject({ taskProgress: { seq: 7 } });
  const typed = await watch('seq task { summary }');
  const leaf = await watch('seq task { state }');
  expect(retired).toEqual([]);
  await alone.return?.();
  expect(retired).toEqual(['first']);

  // A field has another type, and an enum another value; then a field is not there any more.
  const sdl = composeTwoSubgraphs(undefined, 'summary: String!');
  const third = await createFederation({ supergraphSdl: sdl, links: others, logger });
  expect(replaceable.replace(graph('third', third, others, sdl))).toEqual({ kept: 1, ended: 1 });
  expect(plain((await typed.next()).value).errors).toMatchObject(reload);
  const enums = sdl.replaceAll(/^( *)SUCCEEDED( @join__enumValue\(.*)$/gm, '$1SUCCEEDED$2\n$1PAUSED$2');
  expect(enums).toContain('PAUSED');
  const fourth = await createFederation({ supergraphSdl: enums, links: others, logger });
  const gone = await watch('seq task { summary }');
  expect(replaceable.replace(graph('fourth', fourth, others, enums))).toEqual({ kept: 1, ended: 1 });
  expect(plain((await leaf.next()).value).errors).toMatchObject(reload);
  const without = composeTwoSubgraphs(undefined, 'digest: String');
  const fifth = await createFederation({ supergraphSdl: without, links: others, logger });
  expect(replaceable.replace(graph('fifth', fifth, others, without))).toEqual({ kept: 0, ended: 1 });
  expect(plain((await gone.next()).value).errors).toMatchObject(reload);
  expect(retired).toEqual(['first', 'second', 'third', 'fourth']);
  expect(two.listenerCount()).toBe(0);
  expect(plain(await subscribe('seq task { summary }')).errors).toBeDefined();
});

it('ends a subscription that was asked for while the graph was replaced, and keeps answers in parts', async () => {
  const { links } = await start('local links');
  const asked = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const media: SubgraphLink = {
    ...links.media,
    async subscribe(request) {
      asked.resolve();
      await release.promise;
      return links.media.subscribe(request);
    },
  };
  let retired = 0;
  const over = async (own: typeof links) => ({
    federation: await createFederation({ supergraphSdl, links: own, logger, defers: true }),
    supergraphSdl,
    links: own,
    retired: () => void (retired += 1),
  });
  const replaceable = createReplaceableFederation(await over({ ...links, media }));
  cleanups.push(() => replaceable.close());
  const request = { variables: {}, context: createContext() };
  const query = 'subscription { taskProgress(id: "t2") { seq } }';
  const started = replaceable.subscribe({ ...request, query });
  await asked.promise;
  expect(replaceable.replace(await over(links))).toEqual({ kept: 0, ended: 0 });
  expect(retired).toBe(0);
  release.resolve();
  const stream = expectStream(await started);
  expect(plain((await stream.next()).value).errors).toMatchObject([{ message: /subscribe again/ }]);
  expect([(await stream.next()).done, retired]).toEqual([true, 1]);

  const deferring = '{ caller ... @defer { executions { name } } }';
  const parts = await replaceable.executeInParts({ ...request, query: deferring });
  if (!('next' in parts)) throw new Error('it came at once');
  const whole = await replaceable.executeInParts({ ...request, query: '{ caller }' });
  expect(whole).toMatchObject({ data: { caller: 'user:usr_1' } });
  replaceable.replace(await over(links));
  expect(retired).toBe(1);
  const came = [];
  for await (const part of parts) came.push(part);
  expect(came.length).toBeGreaterThan(1);
  expect(retired).toBe(2);
});

it('refuses what a caller may not use before it is planned, and asks nobody', async () => {
  const { links } = await start('local links');
  const refuseRootField = (kind: string, name: string) =>
    name === 'caller' || name === 'executions' || name === 'upload'
      ? null
      : new AppError('FORBIDDEN', `no ${kind} ${name}`);
  const federation = await createFederation({ supergraphSdl, links, logger, refuseRootField });
  cleanups.push(() => federation.close());
  const run = async (query: string) =>
    plain(await federation.execute({ query, variables: {}, context: createContext() }));
  const [task, node] = ['no query task', 'no query node'];
  const forbidden = (message: string, name: string) => ({
    message,
    path: [name],
    extensions: { code: 'FORBIDDEN' },
  });
  expect(
    await run('{ task(id: "t1") { id } one: node(id: "t1") { id } one: node(id: "t1") { id } }'),
  ).toEqual({
    data: { task: null, one: null },
    errors: [
      expect.objectContaining(forbidden(task, 'task')),
      expect.objectContaining(forbidden(node, 'one')),
    ],
  });
  // What is allowed in part, conditional, or may not be null is for the subgraphs to say.
  expect(await run('{ task(id: "t1") { id } executions { name } }')).toMatchObject({
    data: { task: { id: 't1' } },
  });
  expect(await run('{ task(id: "t1") @include(if: true) { id } }')).toMatchObject({
    data: { task: { id: 't1' } },
  });
  expect(await run('{ ... on Query { task(id: "t1") { id } } }')).toMatchObject({
    data: { task: { id: 't1' } },
  });
  expect(await run('{ tasks(first: 1) { id } }')).toMatchObject({ data: { tasks: [{ id: 't1' }] } });
});

it('measures operations by their root fields, how they were sent, and how they ended', async () => {
  const { links } = await start('local links');
  const metrics = createMetrics('gateway');
  const federation = await createFederation({ supergraphSdl, links, logger, metrics });
  cleanups.push(() => federation.close());
  const context = createContext();
  const run = (query: string, transport?: 'sse') =>
    federation.execute({ query, variables: {}, context, ...(transport && { transport }) });
  for (let times = 0; times < 2; times += 1)
    await run('{ caller again: caller ...More } fragment More on Query { tasks(first: 1) { id } }');
  await run('{ fail(how: "coded") }', 'sse');
  const text = await metrics.text();
  const counted = (field: string, transport: string, outcome: string, count: number) =>
    expect(text).toMatch(
      new RegExp(
        `kiln_root_field_seconds_count\\{.*field="${field}",transport="${transport}",outcome="${outcome}".*\\} ${count}\n`,
      ),
    );
  counted('caller', 'http', 'ok', 2);
  counted('tasks', 'http', 'ok', 2);
  counted('fail', 'sse', 'errors', 1);
  expect(text).toMatch(/kiln_plan_cache_bytes\{role="gateway"\} [1-9]/);
});

function places(errors: readonly GraphQLError[] | undefined) {
  return errors?.map(({ message, path }) => ({ message, path }));
}

async function createStockServer(subgraphs: Record<string, Subgraph>) {
  const { ApolloGateway } = await import('@apollo/gateway');
  const gateway = new ApolloGateway({
    supergraphSdl,
    buildService: ({ name }) => {
      const schema = subgraphs[name]?.schema;
      if (schema === undefined) throw new Error(name);
      return new LocalGraphQLDataSource(schema);
    },
    logger: quiet,
  });
  const server = new ApolloServer<RequestContext>({ gateway, logger: quiet, introspection: true });
  await server.start();
  cleanups.push(() => server.stop());
  return server;
}
