import type { ModelOptions } from './catalog.ts';
import { connect, type Connection, type ConnectionOptions } from './connection.ts';
import { KilnError, taskError } from './errors.ts';
import {
  CHAT_CHUNK_FIELDS,
  type ChatChunk,
  type ChatInput,
  type Media,
  type StartInputs,
  STARTS,
  type Task,
  TASK_FIELDS,
  TASK_PROGRESS_FIELDS,
  type TaskFilter,
  type TaskProgress,
} from './graph.ts';
import { eventsOf, request, subscribe } from './request.ts';
import { upload, type UploadOptions } from './upload.ts';

/** A kind of work. */
export type Kind = keyof StartInputs;

/** A model of the catalog; Kiln may have others as well. */
export type KnownModel = keyof ModelOptions;

/** Options of a model: those of the catalog where it is in there, else any. */
export type OptionsOf<M extends string> = M extends KnownModel
  ? ModelOptions[M]
  : Readonly<Record<string, unknown>>;

/** What a kind of work takes; `options` are those of the `model` that it names. */
export type InputOf<K extends Kind, M extends string> = StartInputs[K] extends { readonly model?: unknown }
  ? Omit<StartInputs[K], 'model' | 'options'> & {
      /** Which of the generator's models; absent means its default. */
      readonly model?: M | null | undefined;
      /** What the model takes besides, in the names of its vendor. */
      readonly options?: OptionsOf<NoInfer<M>> | null | undefined;
    }
  : StartInputs[K];

/** How a request may be ended. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a start. */
export interface StartOptions extends Abortable {
  /**
   * Starts with the same key and input are one task, whoever asks again: a program that was killed finds its work by it.
   * Without one each call is a task of its own, however often it has to be sent.
   */
  readonly idempotencyKey?: string | undefined;
  /** Where the end of the task is posted to: docs/webhooks.md. */
  readonly callbackUrl?: string | undefined;
}

/** Where following begins. */
export interface FollowOptions extends Abortable {
  /** `seq` of the last event that was seen; absent means from the first one. */
  readonly afterSeq?: number | undefined;
}

/** Where following of all tasks begins. */
export interface FollowAllOptions extends Abortable {
  /** `cursor` of the last event that was seen. */
  readonly after?: string | undefined;
  /** A moment (ISO 8601), from which every event is read. */
  readonly since?: string | undefined;
}

/** Which tasks are listed. */
export interface ListOptions extends Abortable {
  readonly filter?: TaskFilter | undefined;
  /** How many (default 50). */
  readonly first?: number | undefined;
  /** `endCursor` of the page before. */
  readonly after?: string | undefined;
}

/** A page of tasks, the newest first. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  /** Null on the last page. */
  readonly endCursor: string | null;
}

/** A Kiln. Every call throws KilnError, or the reason of its signal. */
export interface Kiln {
  /** Starts work and answers its task, which is stored by then. */
  generate<K extends Kind, M extends KnownModel | (string & {}) = string>(
    kind: K,
    input: InputOf<K, M>,
    options?: StartOptions,
  ): Promise<Task>;
  /** The events of a task, each once and in order, to its end. A connection that breaks goes on where it was. */
  follow(id: string, options?: FollowOptions): AsyncGenerator<TaskProgress, void, undefined>;
  /** The events of all tasks of the caller, of later ones as well, without an end. */
  followAll(options?: FollowAllOptions): AsyncGenerator<TaskProgress, void, undefined>;
  /** Waits for the end of a task. Throws a KilnError with the code of its failure, or CANCELLED, when it has no result. */
  result(id: string, options?: Abortable): Promise<Task>;
  /** A task as it is now. Throws NOT_FOUND. */
  task(id: string, options?: Abortable): Promise<Task>;
  /** Tasks of the caller. */
  tasks(options?: ListOptions): Promise<TaskPage>;
  /** Asks for the end of a task; throws TOO_LATE when its result is being stored. */
  cancel(id: string, options?: Abortable): Promise<Task>;
  /** Stores a file, to be named in inputs as `{ fileId: file.id }`. */
  upload(file: Blob, options?: UploadOptions): Promise<Media>;
  /** The pieces of a language model's answer; the last one has the whole `reply`, or `error`. */
  chat(
    input: ChatInput,
    options?: Abortable & { readonly idempotencyKey?: string },
  ): AsyncGenerator<ChatChunk, void, undefined>;
  /** Any other query or mutation of the graph. */
  request(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: Abortable,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** What any other subscription of the graph says, its connection made again where it breaks. */
  subscribe(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: SubscribeOptions,
  ): AsyncGenerator<Readonly<Record<string, unknown>>, void, undefined>;
}

/** How a subscription goes on. */
export interface SubscribeOptions extends Abortable {
  /** The variables that differ from then on, made of the last event of its field (default: none do). */
  readonly next?:
    | ((event: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>)
    | undefined;
}

/** Makes a client. Nothing is sent before its first call. */
export function createKiln(options: ConnectionOptions): Kiln {
  const connection = connect(options);
  const ask = async (query: string, variables: Readonly<Record<string, unknown>>, { signal }: Abortable) =>
    Object.values(await request(connection, { query, variables, signal }, true))[0];
  const task = async (id: string, options: Abortable = {}) => {
    const found = await ask(`query($id:ID!){task(id:$id){${TASK_FIELDS}}}`, { id }, options);
    if (!found) throw new KilnError('NOT_FOUND', `no task ${id}`);
    return found as Task;
  };
  return {
    generate: (kind, input, options = {}) => start(connection, kind, input, options),
    follow: (id, options = {}) => follow(connection, id, options),
    followAll: (options = {}) => followAll(connection, options),
    result: (id, options = {}) => result({ connection, id, options, task }),
    task,
    async tasks({ filter, first = 50, after, ...options } = {}) {
      const { edges, pageInfo } = (await ask(LIST, { filter, first, after }, options)) as TaskConnection;
      return {
        tasks: edges.map(({ node }) => node),
        endCursor: pageInfo.hasNextPage ? pageInfo.endCursor : null,
      };
    },
    cancel: async (id, options = {}) =>
      (await ask(`mutation($id:ID!){cancelTask(id:$id){${TASK_FIELDS}}}`, { id }, options)) as Task,
    upload: (file, options = {}) => upload(connection, file, options),
    chat: (input, options = {}) => chat(connection, input, options),
    request: (query, variables = {}, { signal } = {}) =>
      request(connection, { query, variables, signal }, !/\bmutation\b/.test(query)),
    subscribe: (query, variables = {}, { next = () => ({}), signal } = {}) =>
      subscribe(connection, { query, variables, signal, next }),
  };
}

const LIST = `query($filter:TaskFilter,$first:Int!,$after:String){tasks(filter:$filter,first:$first,after:$after){edges{node{${TASK_FIELDS}}}pageInfo{hasNextPage endCursor}}}`;

interface TaskConnection {
  readonly edges: readonly { readonly node: Task }[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

async function start(
  connection: Connection,
  kind: Kind,
  input: object,
  options: StartOptions,
): Promise<Task> {
  const { idempotencyKey = crypto.randomUUID(), callbackUrl, signal } = options;
  const { field, parameters, isWhole } = startOf(kind);
  const names = [...parameters, 'callbackUrl:String', 'idempotencyKey:String'];
  const query = `mutation(${names.map((one) => `$${one}`).join()}){${field}(${names
    .map((one) => one.replace(/:.*/, ''))
    .map((name) => `${name}:$${name}`)
    .join()}){${TASK_FIELDS}}}`;
  const variables = { ...(isWhole ? { input } : input), callbackUrl, idempotencyKey };
  const data = await request(connection, { query, variables, signal }, true);
  return data[field] as Task;
}

/** How a kind of work is started: the mutation, and its arguments with their types, as `input:ImageInput!`. */
export function startOf(kind: Kind): {
  readonly field: string;
  readonly parameters: readonly string[];
  /** Whether all that it takes is one argument, `input`. */
  readonly isWhole: boolean;
} {
  const [field = '', ...given] = STARTS[kind].split(' ');
  const isWhole = given.length === 1 && !given[0]?.includes(':');
  return { field, parameters: isWhole ? [`input:${given[0]}`] : given, isWhole };
}

const FOLLOW = `subscription($id:ID!,$afterSeq:Int){taskProgress(id:$id,afterSeq:$afterSeq){${TASK_PROGRESS_FIELDS} task{${TASK_FIELDS}}}}`;

function follow(
  connection: Connection,
  id: string,
  { afterSeq, signal }: FollowOptions,
): AsyncGenerator<TaskProgress, void, undefined> {
  return eventsOf(connection, {
    query: FOLLOW,
    variables: { id, afterSeq },
    signal,
    next: ({ seq }) => ({ afterSeq: seq }),
  });
}

const FOLLOW_ALL = `subscription($after:String,$since:DateTime){tasksProgress(after:$after,since:$since){${TASK_PROGRESS_FIELDS} task{${TASK_FIELDS}}}}`;

function followAll(
  connection: Connection,
  { after, since, signal }: FollowAllOptions,
): AsyncGenerator<TaskProgress, void, undefined> {
  return eventsOf(connection, {
    query: FOLLOW_ALL,
    variables: { after, since },
    signal,
    next: ({ cursor }) => ({ after: cursor }),
  });
}

/** Whether a task has ended. */
export function isEnded({ state }: Pick<Task, 'state'>): boolean {
  return state !== 'QUEUED' && state !== 'RUNNING';
}

async function result({
  connection,
  id,
  options,
  task,
}: {
  readonly connection: Connection;
  readonly id: string;
  readonly options: Abortable;
  readonly task: Kiln['task'];
}): Promise<Task> {
  let found = await task(id, options);
  if (!isEnded(found)) {
    for await (const event of follow(connection, id, { ...options, afterSeq: found.lastSeq }))
      found = event.task;
    // The end was between the two, so that no event was left to come.
    if (!isEnded(found)) found = await task(id, options);
  }
  if (found.state === 'SUCCEEDED') return found;
  throw taskError(found);
}

const CHAT = `subscription($input:ChatInput!,$idempotencyKey:String!,$afterSeq:Int){chatStream(input:$input,idempotencyKey:$idempotencyKey,afterSeq:$afterSeq){${CHAT_CHUNK_FIELDS}}}`;

function chat(
  connection: Connection,
  input: ChatInput,
  { idempotencyKey = crypto.randomUUID(), signal }: Abortable & { readonly idempotencyKey?: string },
): AsyncGenerator<ChatChunk, void, undefined> {
  return eventsOf(connection, {
    query: CHAT,
    variables: { input, idempotencyKey },
    signal,
    next: ({ seq }) => ({ afterSeq: seq }),
  });
}
