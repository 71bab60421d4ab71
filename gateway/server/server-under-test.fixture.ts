import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';

import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { type FileUpload, GraphQLUpload } from 'graphql-upload-minimal';

import { AppError, type AppErrorCode } from '../../platform/errors.ts';
import { createLocalLink } from '../../platform/graphql/links/local-link.ts';
import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { Subgraph } from '../../platform/graphql/operations/subgraph.ts';
import { findRequestBytes } from '../../platform/graphql/uploads/request-bytes.ts';
import { once } from '../../platform/once.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { createCredentialResolver } from '../authentication/credentials.ts';
import { createFederation } from '../federation/federation.ts';
import type { GatewayServerOptions } from './server-options.ts';
import { createGatewayServer, type GatewayServer } from './server.ts';

/** A gateway on a free port over two small in-memory subgraphs: numbered event logs, uploads, lists, failures. */
export interface TestGateway {
  readonly url: string;
  readonly server: GatewayServer;
  readonly world: World;
  /** The log lines. */
  readonly lines: string[];
  close(): Promise<void>;
}

/** The secret of the service key `shop`. */
export const SHOP_SECRET = 'kiln_shop-secret';

/** What tests control and observe behind the gateway. */
interface World {
  /** Appends the next event to a task's log. */
  advance(taskId: string, progress: number): void;
  /** Ends a task's log: subscribers complete. */
  finish(taskId: string): void;
  /** Breaks off everybody who follows now, as a subgraph that restarts. */
  breakOff(): void;
  /** Whether who subscribes is broken off at once, as by a subgraph that is gone. */
  isUnavailable: boolean;
  /** Subscriptions that were begun. */
  subscribed: number;
  /** Open subscriptions. */
  listenerCount(): number;
  /** Number of mutations that ran. */
  starts: number;
  /** Contents of the last uploads. */
  readonly stored: { name: string; bytes: number; sha256: string; requestBytes: number | null }[];
  /** Signals of the requests to `Query.hang`. */
  readonly hanging: AbortSignal[];
}

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])`;

const mediaTypes = `${LINK}
scalar Upload
type Task @key(fields: "id") { id: ID! previous: Task outputs: [File!]! }
type File { url: String! }
type TaskEdge { node: Task! }
type TaskConnection { edges: [TaskEdge!]! }
type Stored { name: String! bytes: Int! sha256: String! requestBytes: Int }
type TaskProgress { seq: Int! progress: Int! padding(bytes: Int!): String! task: Task! }
type Query {
  hello: String!
  whoami: String!
  fail: String
  refuse(code: String! = "NOT_FOUND", retryAfter: Int): String
  busy: String
  hang: String
  task(id: ID!): Task
  tasks(first: Int! = 50): TaskConnection!
}
type Mutation { start: ID! upload(file: Upload!): Stored! ignoreUpload(file: Upload!): Boolean! }
type Subscription { taskProgress(id: ID!, afterSeq: Int): TaskProgress! ticks(to: Int!): Int! }
`;
const workflowTypes = `${LINK}
type Task @key(fields: "id") { id: ID! template: String! }
type Query { version: String! }
`;

type Log = { events: { seq: number; progress: number }[]; isFinished: boolean };

/** Starts a gateway; options replace the defaults of the tests. */
export async function startTestGateway(options: Partial<GatewayServerOptions> = {}): Promise<TestGateway> {
  const lines: string[] = [];
  const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const { world, subgraphs } = createWorld();
  const links = Object.fromEntries(
    subgraphs.map((subgraph) => [subgraph.name, createLocalLink({ subgraph, logger })]),
  );
  const federation = await createFederation({ supergraphSdl: compose(), isChecked: true, links, logger });
  const server = await createGatewayServer({
    federation,
    logger,
    production: false,
    resolveCredential: createCredentialResolver({
      serviceKeys: [{ name: 'shop', sha256: createHash('sha256').update(SHOP_SECRET).digest('hex') }],
    }),
    trustProxy: [],
    corsOrigins: 'any',
    readiness: {},
    publicUrl: null,
    uploadMaxBytes: 1_000_000,
    ...options,
  });
  const { url } = await server.listen('127.0.0.1', 0);
  return {
    url,
    server,
    world,
    lines,
    async close() {
      await server.close();
      await federation.close();
    },
  };
}

/** Sends a GraphQL request as most clients do. */
export async function post(
  gateway: { readonly url: string },
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{ status: number; headers: Headers; body: GraphqlAnswer }> {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as GraphqlAnswer,
  };
}

/** A GraphQL response as tests read it. */
export interface GraphqlAnswer {
  readonly data?: Record<string, unknown> | null;
  readonly errors?: readonly {
    readonly message: string;
    readonly path?: readonly unknown[];
    readonly extensions?: Record<string, unknown>;
  }[];
}

/** Waits until a condition holds; fails when it never does. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 100_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`never came true: ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Once for all gateways of a process: the graph is always the same. */
const compose = once((): string => {
  const composed = composeServices([
    { name: 'media', url: 'http://media/', typeDefs: parse(mediaTypes) },
    { name: 'workflow', url: 'http://workflow/', typeDefs: parse(workflowTypes) },
  ]);
  if (composed.errors !== undefined) throw new AggregateError(composed.errors, String(composed.errors));
  return composed.supergraphSdl;
});

function createWorld(): { world: World; subgraphs: Subgraph[] } {
  const logs = new Map<string, Log>();
  const changes = new EventEmitter().setMaxListeners(0);
  const findLog = (id: string): Log => {
    const log = logs.get(id) ?? { events: [], isFinished: false };
    logs.set(id, log);
    return log;
  };
  const world: World = {
    starts: 0,
    isUnavailable: false,
    subscribed: 0,
    stored: [],
    hanging: [],
    advance(id, progress) {
      const { events } = findLog(id);
      events.push({ seq: events.length + 1, progress });
      changes.emit('change');
    },
    finish(id) {
      findLog(id).isFinished = true;
      changes.emit('change');
    },
    breakOff: () => void changes.emit('break'),
    listenerCount: () => changes.listenerCount('change'),
  };
  const follow = (id: string, afterSeq: number) => {
    world.subscribed += 1;
    return followLog({ log: findLog(id), id, afterSeq, changes, isBroken: world.isUnavailable });
  };
  const contextFor = (context: RequestContext) => context;
  const media = buildSubgraphSchema({
    typeDefs: parse(mediaTypes),
    resolvers: mediaResolvers(world, follow),
  });
  const workflow = buildSubgraphSchema({
    typeDefs: parse(workflowTypes),
    resolvers: {
      Task: { template: ({ id }: { id: string }) => `template of ${id}` },
      Query: { version: () => '1' },
    },
  });
  return {
    world,
    subgraphs: [
      { name: 'media', schema: media, contextFor },
      { name: 'workflow', schema: workflow, contextFor },
    ],
  };
}

/** Replays a log from a cursor, then follows it. `return` ends a pending `next` at once. */
function followLog(options: {
  log: Log;
  id: string;
  afterSeq: number;
  changes: EventEmitter;
  isBroken: boolean;
}) {
  const { log, id, changes } = options;
  let cursor = options.afterSeq;
  let isOver = false;
  let wake = (): void => undefined;
  const onChange = (): void => wake();
  let { isBroken } = options;
  const onBreak = (): void => {
    isBroken = true;
    wake();
  };
  changes.on('change', onChange);
  changes.once('break', onBreak);
  const stop = (): { value: undefined; done: true } => {
    isOver = true;
    changes.off('change', onChange);
    changes.off('break', onBreak);
    wake();
    return { value: undefined, done: true };
  };
  return {
    async next() {
      for (;;) {
        const event = log.events[cursor];
        if (isOver) return stop();
        if (isBroken) throw new AppError('UNAVAILABLE', 'the subgraph restarts');
        if (event !== undefined) {
          cursor += 1;
          return { value: { ...event, task: { id } }, done: false };
        }
        if (log.isFinished) return stop();
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    return: async () => stop(),
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

/** Fails with any code. */
async function refuse(
  _root: unknown,
  { code, retryAfter }: { readonly code: AppErrorCode; readonly retryAfter?: number },
): Promise<never> {
  throw new AppError(code, 'no such thing', {
    field: 'id',
    ...(retryAfter === undefined ? {} : { retryAfter }),
  });
}

function mediaResolvers(world: World, follow: (id: string, afterSeq: number) => AsyncIterable<unknown>) {
  return {
    Upload: GraphQLUpload,
    Task: { previous: ({ id }: { id: string }) => ({ id }), outputs: () => [{ url: 'https://files/1' }] },
    TaskProgress: { padding: (_event: unknown, { bytes }: { bytes: number }) => 'x'.repeat(bytes) },
    Query: {
      hello: () => 'hi',
      whoami: (_root: unknown, _input: unknown, context: unknown) =>
        JSON.stringify((context as RequestContext).caller),
      fail() {
        throw new TypeError('password=hunter2 at db.internal');
      },
      busy: () => Promise.reject(new AppError('QUEUE_FULL', 'too many wait', { retryAfter: 7 })),
      refuse,
      async hang(_root: unknown, _input: unknown, context: unknown) {
        const { signal } = context as RequestContext;
        world.hanging.push(signal);
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        return 'stopped';
      },
      task: (_root: unknown, { id }: { id: string }) => ({ id }),
      tasks: (_root: unknown, { first }: { first: number }) => ({
        edges: Array.from({ length: first }, (_, index) => ({ node: { id: `t${index}` } })),
      }),
    },
    Mutation: {
      start: () => `task-${(world.starts += 1)}`,
      ignoreUpload: () => true,
      async upload(_root: unknown, { file }: { file: Promise<FileUpload> }) {
        const upload = await file;
        const hash = createHash('sha256');
        let bytes = 0;
        for await (const chunk of upload.createReadStream()) {
          hash.update(chunk as Buffer);
          bytes += (chunk as Buffer).length;
        }
        const requestBytes = findRequestBytes(upload);
        const stored = { name: upload.filename, bytes, sha256: hash.digest('hex'), requestBytes };
        world.stored.push(stored);
        return stored;
      },
    },
    Subscription: {
      taskProgress: {
        subscribe(_root: unknown, { id, afterSeq }: { id: string; afterSeq?: number }) {
          if (id === 'unknown') throw new AppError('NOT_FOUND', 'no such task');
          return follow(id, afterSeq ?? 0);
        },
        resolve: (event: unknown) => event,
      },
      ticks: {
        async *subscribe(_root: unknown, { to }: { to: number }) {
          for (let tick = 1; tick <= to; tick += 1) yield tick;
        },
        resolve: (tick: number) => tick,
      },
    },
  };
}
