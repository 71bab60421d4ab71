import { buildSchema, type GraphQLSchema } from 'graphql';

import { AppError, type AppErrorCode } from '../../../platform/errors.ts';
import { createLocalLink } from '../../../platform/graphql/links/local-link.ts';
import type { Subgraph, SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import type { Logger } from '../../../platform/process/logger.ts';

/** A media subgraph whose tasks move when a test says so. It speaks media's GraphQL for what workflow asks of it. */

const sdl = `
  scalar _Any
  scalar DateTime
  type Failure { code: String! message: String! }
  type Task { id: ID! state: String! stage: String! progress: Int! error: Failure }
  union _Entity = Task
  type TaskProgress { seq: Int! at: DateTime! state: String! stage: String! progress: Int! }
  input StartInput { image: ImageInput }
  input ImageInput { generator: String! model: String prompt: String! images: [MediaInput!] aspectRatio: String }
  input MediaInput { url: String }
  type Query { _entities(representations: [_Any!]!): [_Entity]! checkStart(start: StartInput!, fetchInputs: Boolean! = false, owner: String, sold: Boolean! = false): Boolean! }
  type Mutation { startTask(id: ID!, owner: String!, onEnd: String, start: StartInput!, sold: Boolean! = false): Task! cancelTask(id: ID!): Task! }
  type Subscription { taskProgress(id: ID!, afterSeq: Int): TaskProgress! }`;

interface StandInEvent {
  readonly seq: number;
  readonly at: string;
  readonly state: string;
  readonly stage: string;
  readonly progress: number;
}

/** A task as the stand-in has it. */
interface StandInTask {
  readonly id: string;
  readonly owner: string;
  readonly onEnd: string | null;
  readonly start: unknown;
  /** How often startTask was asked for it. */
  starts: number;
  error: { readonly code: string; readonly message: string } | null;
  readonly events: StandInEvent[];
}

export interface FakeMedia {
  readonly link: SubgraphLink;
  readonly tasks: ReadonlyMap<string, StandInTask>;
  /** What startTask does: take it, never answer, or refuse with a code. */
  starting: 'takes' | 'hangs' | AppErrorCode;
  /** What checkStart does: take it, or refuse it with this error. */
  checking: 'takes' | AppError;
  /** What cancelTask does: cancel it, or refuse with a code. */
  cancelling: 'takes' | AppErrorCode;
  /** What is answered of tasks: them, or a refusal with a code. */
  reading: 'takes' | AppErrorCode;
  /** Starts are answered by a process with that change of the schema: an older one. */
  startsWith(change: (sdl: string) => string): void;
  /** Adds an entry to a task's log. */
  move(
    id: string,
    entry: { readonly state: string; readonly stage: string; readonly progress: number },
  ): void;
  fail(id: string, error: { readonly code: string; readonly message: string }): void;
  /** Has a task, although startTask never said so. */
  adopt(id: string): void;
  /** Loses a task. */
  forget(id: string): void;
  /** How many subscriptions are open. */
  watchers(): number;
}

/** Makes the stand-in. */
export function createFakeMedia(logger: Logger): FakeMedia {
  const tasks = new Map<string, StandInTask>();
  const bells = new Set<() => void>();
  const createLink = (schema: string) =>
    createLocalLink({ subgraph: createSubgraph(schema, { standIn: () => standIn, tasks, bells }), logger });
  const link = createLink(sdl);
  let starts = link;
  const standIn: FakeMedia = {
    tasks,
    starting: 'takes',
    checking: 'takes',
    cancelling: 'takes',
    reading: 'takes',
    link: {
      ...link,
      execute: (request) => (request.operationName === 'StartTask' ? starts : link).execute(request),
    },
    startsWith: (change) => void (starts = createLink(change(sdl))),
    move(id, entry) {
      const task = tasks.get(id);
      if (task === undefined) throw new Error(`no task ${id}`);
      task.events.push({ seq: task.events.length + 1, at: new Date().toISOString(), ...entry });
      for (const ring of bells) ring();
    },
    fail(id, error) {
      const task = tasks.get(id);
      if (task === undefined) throw new Error(`no task ${id}`);
      task.error = error;
      standIn.move(id, { state: 'FAILED', stage: 'failed', progress: 40 });
    },
    adopt(id) {
      tasks.set(id, { id, owner: 'anon', onEnd: null, start: {}, starts: 1, error: null, events: [] });
      standIn.move(id, { state: 'RUNNING', stage: 'running', progress: 1 });
    },
    forget: (id) => void tasks.delete(id),
    watchers: () => bells.size,
  };
  return standIn;
}

function createSubgraph(
  text: string,
  {
    standIn,
    tasks,
    bells,
  }: {
    readonly standIn: () => FakeMedia;
    readonly tasks: Map<string, StandInTask>;
    readonly bells: Set<() => void>;
  },
): Subgraph {
  const schema: GraphQLSchema = buildSchema(text);
  schema.getMutationType()!.getFields()['startTask']!.resolve = async (_, input) => {
    const { starting } = standIn();
    if (starting === 'hangs') await new Promise(() => {});
    if (starting !== 'takes' && starting !== 'hangs') throw new AppError(starting, `media says ${starting}`);
    const known = tasks.get(input.id) ?? { ...input, starts: 0, error: null, events: [] };
    known.starts += 1;
    tasks.set(input.id, known);
    if (known.events.length === 0)
      standIn().move(input.id, { state: 'QUEUED', stage: 'queued', progress: 0 });
    return toTask(known);
  };
  schema.getMutationType()!.getFields()['cancelTask']!.resolve = (_, { id }) => {
    const { cancelling } = standIn();
    if (cancelling !== 'takes') throw new AppError(cancelling, `media says ${cancelling}`);
    const task = tasks.get(id);
    if (task === undefined) throw new AppError('NOT_FOUND', 'no such task');
    standIn().move(id, { state: 'CANCELLED', stage: 'cancelled', progress: 0 });
    return toTask(task);
  };
  schema.getQueryType()!.getFields()['checkStart']!.resolve = () => {
    const { checking } = standIn();
    if (checking !== 'takes') throw checking;
    return true;
  };
  schema.getQueryType()!.getFields()['_entities']!.resolve = (_, { representations }) => {
    const { reading } = standIn();
    if (reading !== 'takes') throw new AppError(reading, `media says ${reading}`);
    return representations.map(({ id }: { id: string }) => {
      const task = tasks.get(id);
      return task === undefined ? null : { __typename: 'Task', ...toTask(task) };
    });
  };
  const progress = schema.getSubscriptionType()!.getFields()['taskProgress']!;
  progress.subscribe = (_, { id, afterSeq }) => {
    const task = tasks.get(id);
    if (task === undefined) throw new AppError('NOT_FOUND', 'no such task');
    return follow(task, afterSeq ?? 0, bells);
  };
  progress.resolve = (event) => event;
  return { name: 'media', schema, contextFor: (request) => request };
}

function toTask({ id, events, error }: StandInTask) {
  const last = events.at(-1);
  return { id, state: last?.state, stage: last?.stage, progress: last?.progress, error };
}

/** The task's log after a seq, then live, to its end; written by hand so that leaving ends a pending next(). */
function follow(
  task: StandInTask,
  afterSeq: number,
  bells: Set<() => void>,
): AsyncIterableIterator<StandInEvent> {
  let position = afterSeq;
  let left = false;
  let wake: (() => void) | null = null;
  const ring = () => wake?.();
  bells.add(ring);
  const leave = () => {
    left = true;
    bells.delete(ring);
    wake?.();
  };
  const isOver = () => ['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(task.events.at(-1)?.state ?? '');
  const iterator: AsyncIterableIterator<StandInEvent> = {
    async next() {
      for (;;) {
        const event = task.events[position];
        if (left || (event === undefined && isOver())) {
          leave();
          return { value: undefined, done: true };
        }
        if (event !== undefined) {
          position += 1;
          return { value: event, done: false };
        }
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async return() {
      leave();
      return { value: undefined, done: true };
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}
