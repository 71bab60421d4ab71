import type { ExecutionResult } from 'graphql';

import { internalCaller } from '../../../platform/access/caller.ts';
import type { KeptRecord } from '../../../platform/database/record-sections.ts';
import { AppError, type AppErrorCode, type RefusingLimit } from '../../../platform/errors.ts';
import { isStream } from '../../../platform/graphql/operations/streams.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { LiveTask } from '../domain/execution.ts';
import type { TaskCost } from '../domain/margin.ts';

/**
 * A client of the media subgraph's GraphQL API, in this process or another. Errors keep media's code; an invalid answer
 * is UNAVAILABLE.
 */
export interface MediaClient {
  /** Throws the error that `startTask` would answer for this input; `field` is media's name of the wrong field. */
  checkStart(start: JsonObject, traceId: string, options?: Partial<CheckOptions>): Promise<void>;
  /** Starts a task with our id. Idempotent. */
  startTask(request: StartTaskRequest): Promise<void>;
  /** Cancels a task; nothing when there is none, or it is too late. */
  cancelTask(id: string, traceId: string): Promise<void>;
  /** Tells the operator's webhook endpoints of an event; the same id again is told once. */
  publishEvent(event: PublishedEvent, traceId: string): Promise<void>;
  /** Erases what is somebody's at media, as soon as their work has ended there. Again is harmless. */
  eraseOwner(owner: string, traceId: string): Promise<void>;
  /** What is kept of an owner at media, after a cursor of its own. */
  personalData(
    page: { readonly owner: string; readonly after: string | null; readonly first: number },
    traceId: string,
  ): Promise<readonly KeptRecord[]>;
  /** In the order of the ids; null where media does not know the task (yet). */
  tasks(ids: readonly string[], traceId: string): Promise<readonly (LiveTask | null)[]>;
  /** What tasks cost, in the order of the ids; null where media does not know the task. */
  costs(ids: readonly string[], traceId: string): Promise<readonly (TaskCost | null)[]>;
  /** The task's events after `afterSeq` and then live ones; ends when the task has, or when the signal is aborted. */
  watch(request: WatchTaskRequest): AsyncGenerator<TaskEntry>;
}

interface CheckOptions {
  /** Also fetches inputs at foreign addresses, with the limits of a start. */
  readonly fetchInputs: boolean;
  /** The only generators that the caller may use; null: any. */
  readonly generators: readonly string[] | null;
  /** Whom the task would belong to; null: no budgets are asked. */
  readonly owner: string | null;
  /** Whether it is paid for: then no budget of its owner bounds it. */
  readonly sold: boolean;
}

/** An event for the operator's webhook endpoints. */
export interface PublishedEvent {
  readonly id: string;
  readonly type: string;
  /** When it happened, as ISO 8601. */
  readonly at: string;
  readonly data: JsonObject;
}

interface StartTaskRequest {
  readonly id: string;
  readonly owner: string;
  /** Queue that is written to when the task has ended. */
  readonly onEnd: string;
  readonly start: JsonObject;
  /** Whether it is paid for. */
  readonly sold: boolean;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

interface WatchTaskRequest {
  readonly id: string;
  readonly afterSeq: number;
  readonly traceId: string;
  readonly signal: AbortSignal;
}

/** One entry of a task's log. */
interface TaskEntry {
  readonly seq: number;
  readonly at: Date;
  readonly state: string;
  readonly stage: string;
  readonly progress: number;
}

const START = `mutation StartTask($id: ID!, $owner: String!, $onEnd: String!, $start: StartInput!, $sold: Boolean!) {
  startTask(id: $id, owner: $owner, onEnd: $onEnd, start: $start, sold: $sold) { id }
}`;
const CHECK = `query CheckStart($start: StartInput!, $fetchInputs: Boolean!, $owner: String, $sold: Boolean!) {
  checkStart(start: $start, fetchInputs: $fetchInputs, owner: $owner, sold: $sold)
}`;
const PUBLISH = `mutation PublishEvent($id: ID!, $type: String!, $at: DateTime!, $data: JSON!) {
  publishEvent(id: $id, type: $type, at: $at, data: $data)
}`;
const ERASE = `mutation EraseOwner($owner: String!) { eraseOwner(owner: $owner) }`;
const PERSONAL = `query PersonalData($owner: String!, $after: String, $first: Int!) {
  personalData(owner: $owner, after: $after, first: $first) { kind data cursor }
}`;
const CANCEL = `mutation CancelTask($id: ID!) { cancelTask(id: $id) { id } }`;
/** Milliseconds; fetching inputs takes longer. */
const TIMEOUT_MS = 10_000;
const FETCH_TIMEOUT_MS = 60_000;
const TASKS = `query Tasks($representations: [_Any!]!) {
  _entities(representations: $representations) {
    ... on Task { id state stage progress error { code message } }
  }
}`;
const COSTS = `query TaskCosts($representations: [_Any!]!) {
  _entities(representations: $representations) { ... on Task { cost { amount currency estimated } } }
}`;
const WATCH = `subscription Watch($id: ID!, $afterSeq: Int!) {
  taskProgress(id: $id, afterSeq: $afterSeq) { seq at state stage progress }
}`;

/** Makes the client over a link to the media subgraph. */
export function createMediaClient(link: SubgraphLink): MediaClient {
  return {
    async checkStart(
      start,
      traceId,
      { fetchInputs = false, generators = null, owner = null, sold = false } = {},
    ) {
      const signal = AbortSignal.timeout(fetchInputs ? FETCH_TIMEOUT_MS : TIMEOUT_MS);
      const context = { caller: { ...internalCaller(traceId), generators }, signal };
      const variables = { start, fetchInputs, owner, sold };
      readData(await link.execute({ query: CHECK, operationName: 'CheckStart', variables, context }));
    },
    async cancelTask(id, traceId) {
      const request = { query: CANCEL, operationName: 'CancelTask', variables: { id } };
      try {
        readData(await link.execute({ ...request, context: ownContext(traceId) }));
      } catch (error) {
        if (!(error instanceof AppError) || !TOO_LATE.has(error.code)) throw error;
      }
    },
    async startTask({ traceId, signal, ...variables }) {
      const context = { caller: internalCaller(traceId), signal };
      const request = { query: START, operationName: 'StartTask', variables, context };
      readData(knownThere(await link.execute(request)));
    },
    async publishEvent({ id, type, at, data }, traceId) {
      const request = { query: PUBLISH, operationName: 'PublishEvent', variables: { id, type, at, data } };
      readData(await link.execute({ ...request, context: ownContext(traceId) }));
    },
    async eraseOwner(owner, traceId) {
      const request = { query: ERASE, operationName: 'EraseOwner', variables: { owner } };
      readData(await link.execute({ ...request, context: ownContext(traceId) }));
    },
    async personalData(variables, traceId) {
      const request = { query: PERSONAL, operationName: 'PersonalData', variables };
      const data = readData(await link.execute({ ...request, context: ownContext(traceId) }));
      return (data as { readonly personalData: readonly KeptRecord[] }).personalData;
    },
    tasks: (ids, traceId) =>
      readTasks<LiveTask>(link, { query: TASKS, operationName: 'Tasks' }, ids, traceId),
    async costs(ids, traceId) {
      const request = { query: COSTS, operationName: 'TaskCosts' };
      const tasks = await readTasks<{ readonly cost: TaskCost | null }>(link, request, ids, traceId);
      return tasks.map((task) => task?.cost ?? null);
    },
    async *watch({ id, afterSeq, traceId, signal }) {
      const context = { caller: internalCaller(traceId), signal };
      const variables = { id, afterSeq };
      const started = await link.subscribe({ query: WATCH, operationName: 'Watch', variables, context });
      if (!isStream(started)) {
        readData(started);
        return;
      }
      for await (const result of started) {
        const { taskProgress } = readData(result) as { readonly taskProgress: TaskEntry };
        // JSON has no dates.
        yield { ...taskProgress, at: new Date(taskProgress.at) };
      }
    },
  };
}

/** Of a request in nobody's name, which takes as long as one does. */
function ownContext(traceId: string) {
  return { caller: internalCaller(traceId), signal: AbortSignal.timeout(TIMEOUT_MS) };
}

/** Parts of tasks, in the order of the ids; null where media does not know the task. */
async function readTasks<Part>(
  link: SubgraphLink,
  request: { readonly query: string; readonly operationName: string },
  ids: readonly string[],
  traceId: string,
): Promise<readonly (Part | null)[]> {
  const variables = { representations: ids.map((id) => ({ __typename: 'Task', id })) };
  const result = await link.execute({ ...request, variables, context: ownContext(traceId) });
  return (readData(result) as { readonly _entities: readonly (Part | null)[] })._entities;
}

/** There is nothing to cancel. */
const TOO_LATE: ReadonlySet<AppErrorCode> = new Set(['NOT_FOUND', 'TOO_LATE']);

/** The data of a result. Throws its first error, with its code. */
function readData({ data, errors }: ExecutionResult): unknown {
  const error = errors?.[0];
  if (error !== undefined) {
    const { code, field, retryAfter, budget } = error.extensions;
    throw new AppError(toCode(code), error.message, {
      ...(typeof field === 'string' ? { field } : {}),
      ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
      ...(isLimit(budget) ? { limit: budget } : {}),
      cause: error,
    });
  }
  if (data === null || data === undefined) {
    throw new AppError('UNAVAILABLE', 'the media service gave no answer');
  }
  return data;
}

/** What graphql-js says of a member or a value that the schema does not have. */
const UNKNOWN = /is not defined by type "|does not exist in "\w+" enum/;

/**
 * The same result. UNAVAILABLE where media's schema lacks something of the request's variables: in a rolling upgrade it may be older
 * than this service. Errors of its rules have a path.
 */
function knownThere(result: ExecutionResult): ExecutionResult {
  const isUnknown = result.errors?.some(({ path, message }) => path === undefined && UNKNOWN.test(message));
  if (isUnknown !== true) return result;
  throw new AppError(
    'UNAVAILABLE',
    'the media service does not know all of this work: it may be an older one',
  );
}

const refusals: readonly AppErrorCode[] = [
  'BAD_USER_INPUT',
  'NOT_FOUND',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMITED',
  'BUDGET_EXCEEDED',
  'QUEUE_FULL',
  'EVENTS_EXPIRED',
  'TOO_LATE',
  'NOT_CONFIGURED',
  'MODEL_RETIRED',
  'NOT_INSTALLED',
];

/** Known codes are kept; any other means that media is broken. */
function toCode(code: unknown): AppErrorCode {
  return refusals.find((known) => known === code) ?? 'UNAVAILABLE';
}

/** Longest that an execution waits for its budget: a number of running tasks or a rate has room again soon. */
const BUDGET_WAIT_SECONDS = 60;

/** Whether a budget refuses for longer than anybody should wait who has asked, or paid, for it. */
export function isOverBudget(error: unknown): error is AppError {
  if (!(error instanceof AppError) || error.code !== 'BUDGET_EXCEEDED') return false;
  return (error.retryAfter ?? Infinity) > BUDGET_WAIT_SECONDS;
}

function isLimit(value: unknown): value is RefusingLimit {
  return typeof value === 'object' && value !== null && 'allowed' in value && 'left' in value;
}

/** Whether a retry would get the same refusal. */
export function isFinalRefusal(error: unknown): error is AppError {
  const final: readonly AppErrorCode[] = [
    'BAD_USER_INPUT',
    'NOT_FOUND',
    'FORBIDDEN',
    'CONFLICT',
    'NOT_CONFIGURED',
    'MODEL_RETIRED',
    'NOT_INSTALLED',
    'PAYLOAD_TOO_LARGE',
  ];
  return error instanceof AppError && final.includes(error.code);
}
