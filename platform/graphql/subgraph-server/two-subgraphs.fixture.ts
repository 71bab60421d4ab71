import { createHash } from 'node:crypto';

import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { GraphQLError, parse } from 'graphql';
import { type FileUpload, GraphQLUpload } from 'graphql-upload-minimal';

import type { Caller } from '../../access/caller.ts';
import { AppError, badInput } from '../../errors.ts';
import type { RequestContext } from '../operations/executor.ts';
import { createPushStream, type PushStream } from '../operations/streams.ts';
import type { Subgraph } from '../operations/subgraph.ts';
import { findRequestBytes } from '../uploads/request-bytes.ts';

/** Two small in-memory subgraphs, shaped like Kiln's own, for the tests of links and federation. */

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6",
  import: ["@key", "@shareable", "@inaccessible", "@requires", "@external"])`;

const mediaTypes = `${LINK}
scalar Upload
enum TaskState { QUEUED RUNNING SUCCEEDED }
interface Node { id: ID! }
type Task implements Node @key(fields: "id") {
  id: ID!
  state: TaskState!
  progress: Int!
  outputs: [File!]!
  previous: Task
  broken: String
  refused: String
  hidden: String @inaccessible
}
type File implements Node @key(fields: "id") { id: ID! url: String! }
union Found = Task | File
type Stored { name: String! bytes: Int! sha256: String! requestBytes: Int }
type TaskProgress { seq: Int! task: Task! caller: String! strict: Int! }
type Query {
  task(id: ID!): Task
  tasks(first: Int! = 2): [Task!]!
  find: [Found!]!
  node(id: ID!): Node
  caller: String!
  fail(how: String!): String
  hang: String
}
type Mutation {
  upload(file: Upload!, note: String): Stored!
  uploadBoth(first: Upload!, second: Upload!): [Stored!]!
}
type Subscription {
  taskProgress(id: ID!, strict: Boolean! = false): TaskProgress!
  refusing: Int!
  breaking: Int!
}`;

const workflowTypes = `${LINK}
type Execution @key(fields: "id") { id: ID! name: String! cover: File }
type Task @key(fields: "id") {
  id: ID!
  state: TaskState! @external
  execution: Execution
  summary: String @requires(fields: "state")
  trouble: String
}
enum TaskState { QUEUED RUNNING SUCCEEDED }
type File @key(fields: "id", resolvable: false) { id: ID! }
type Query { executions: [Execution!]! }
type Mutation { start(name: String!): Execution! }
`;

type TaskReference = { __typename: 'Task'; id: string; state?: string };

/** The two subgraphs, and what tests control. */
export interface TwoSubgraphs {
  readonly media: Subgraph;
  readonly workflow: Subgraph;
  /** Emits one event to every subscriber of a task. */
  emit(taskId: string, seq: number): void;
  /** How many subscribers the media subgraph has now. */
  listenerCount(): number;
  /** Ends every subscription normally. */
  complete(): void;
  /** The signals of the requests to `Query.hang`. */
  readonly hanging: AbortSignal[];
}

/** Makes fresh subgraphs with no subscriber. */
export function createTwoSubgraphs(): TwoSubgraphs {
  const subscribers = new Set<{ taskId: string; events: PushStream<unknown> }>();
  const hanging: AbortSignal[] = [];
  const subscribeTo = (taskId: string) => {
    const subscriber = {
      taskId,
      events: createPushStream<unknown>({
        maxPending: 100,
        overflow: () => undefined,
        onEnd: () => subscribers.delete(subscriber),
      }),
    };
    subscribers.add(subscriber);
    return subscriber.events.stream;
  };
  const media = buildSubgraphSchema({
    typeDefs: parse(mediaTypes),
    resolvers: mediaResolvers({ subscribeTo, hanging }),
  });
  const workflow = buildSubgraphSchema({ typeDefs: parse(workflowTypes), resolvers: workflowResolvers() });
  const contextFor = (context: RequestContext) => context;
  return {
    media: { name: 'media', schema: media, contextFor },
    workflow: { name: 'workflow', schema: workflow, contextFor },
    hanging,
    listenerCount: () => subscribers.size,
    emit(taskId, seq) {
      for (const { taskId: id, events } of subscribers) {
        if (id === taskId) events.push({ seq, task: createTask(taskId) });
      }
    },
    complete() {
      for (const { events } of subscribers) events.end();
    },
  };
}

/** The supergraph of the two; `urls` are its routing URLs, `summary` is how Task.summary is declared. */
export function composeTwoSubgraphs(
  urls = { media: 'http://media/', workflow: 'http://workflow/' },
  summary = 'summary: String',
): string {
  const composed = composeServices([
    { name: 'media', url: urls.media, typeDefs: parse(mediaTypes) },
    {
      name: 'workflow',
      url: urls.workflow,
      typeDefs: parse(workflowTypes.replace('summary: String', summary)),
    },
  ]);
  if (composed.errors !== undefined) throw new AggregateError(composed.errors, String(composed.errors));
  return composed.supergraphSdl;
}

/** The context of a signed-in user, never aborted unless a signal is given. */
export function createContext(id = 'usr_1', signal = new AbortController().signal): RequestContext {
  const caller: Caller = { kind: 'user', id, scopes: [], traceId: `trace-${id}`, address: null };
  return { caller, signal };
}

function createTask(id: string) {
  return {
    __typename: 'Task',
    id,
    state: 'RUNNING',
    progress: 40,
    hidden: 'never shown',
    outputs: [{ __typename: 'File', id: `${id}-file`, url: `https://files/${id}` }],
    previous: id === 't1' ? null : () => createTask('t1'),
    broken: () => {
      throw new Error('password=hunter2 at db.internal');
    },
    refused: () => {
      throw new AppError('FORBIDDEN', 'not yours', { field: 'refused' });
    },
  };
}

const failures: Readonly<Record<string, () => Error>> = {
  input: () => badInput('how', 'choose another'),
  limited: () => new AppError('RATE_LIMITED', 'slow down', { retryAfter: 7 }),
  coded: () => new GraphQLError('own code', { extensions: { code: 'TEAPOT' } }),
  internal: () => new AppError('INTERNAL', 'a secret detail'),
  unknown: () => new TypeError('a secret detail'),
};

function mediaResolvers({
  subscribeTo,
  hanging,
}: {
  subscribeTo: (taskId: string) => AsyncIterableIterator<unknown>;
  hanging: AbortSignal[];
}) {
  return {
    Upload: GraphQLUpload,
    Task: { __resolveReference: ({ id }: TaskReference) => createTask(id) },
    File: { __resolveReference: ({ id }: { id: string }) => ({ id, url: `https://files/${id}` }) },
    Found: { __resolveType: (found: { __typename: string }) => found.__typename },
    Node: { __resolveType: (found: { __typename: string }) => found.__typename },
    Query: {
      task: (_root: unknown, { id }: { id: string }) => (id === 'none' ? null : createTask(id)),
      tasks: (_root: unknown, { first }: { first: number }) =>
        ['t1', 't2', 't3'].slice(0, first).map(createTask),
      find: () => [createTask('t1'), { __typename: 'File', id: 'f1', url: 'https://files/f1' }],
      node: (_root: unknown, { id }: { id: string }) => createTask(id),
      caller(_root: unknown, _arguments: unknown, context: unknown) {
        const { caller } = context as RequestContext;
        return `${caller.kind}:${caller.id}`;
      },
      fail(_root: unknown, { how }: { how: string }) {
        throw failures[how]?.() ?? new Error(how);
      },
      hang(_root: unknown, _arguments: unknown, context: unknown) {
        const { signal } = context as RequestContext;
        hanging.push(signal);
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped waiting')));
      },
    },
    Mutation: {
      upload: (_root: unknown, { file }: { file: Promise<FileUpload> }) => readUpload(file),
      uploadBoth: (_root: unknown, { first, second }: Record<'first' | 'second', Promise<FileUpload>>) =>
        Promise.all([readUpload(first), readUpload(second)]),
    },
    TaskProgress: {
      caller: (_root: unknown, _arguments: unknown, context: unknown) =>
        (context as RequestContext).caller.id,
      strict: ({ seq }: { seq: number }) => (seq > 100 ? null : seq),
    },
    Subscription: subscriptionResolvers(subscribeTo),
  };
}

function subscriptionResolvers(subscribeTo: (taskId: string) => AsyncIterableIterator<unknown>) {
  return {
    taskProgress: {
      subscribe: (_root: unknown, { id }: { id: string }) => subscribeTo(id),
      resolve: (event: unknown) => event,
    },
    refusing: {
      subscribe() {
        throw new AppError('NOT_FOUND', 'no such task');
      },
    },
    breaking: {
      subscribe: () => ({
        [Symbol.asyncIterator]() {
          return this;
        },
        next: () => Promise.reject(new Error('a secret detail')),
      }),
    },
  };
}

function workflowResolvers() {
  const execution = (name: string) => ({ id: `exe-${name}`, name, cover: { id: `cover-${name}` } });
  return {
    Execution: { __resolveReference: ({ id }: { id: string }) => execution(id.slice(4)) },
    Task: {
      __resolveReference: ({ id, state }: TaskReference) => ({ id, state }),
      execution: ({ id }: TaskReference) => (id === 't1' ? null : execution(id)),
      summary: ({ id, state }: TaskReference) => `${id} is ${state}`,
      trouble({ id }: TaskReference) {
        throw new AppError('UNAVAILABLE', `no trouble for ${id}`, { retryAfter: 3 });
      },
    },
    Query: { executions: () => [execution('a'), execution('b')] },
    Mutation: { start: (_root: unknown, { name }: { name: string }) => execution(name) },
  };
}

async function readUpload(file: Promise<FileUpload>) {
  const opened = await file;
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of opened.createReadStream()) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return {
    name: opened.filename,
    bytes,
    sha256: hash.digest('hex'),
    requestBytes: findRequestBytes(opened),
  };
}
