import { listedOwner, mayChange, mayRead, type Caller } from '../../../../platform/access/caller.ts';
import { batchReads, type BatchedRead } from '../../../../platform/database/batched-reads.ts';
import { AppError, type AppErrorCode, badInput, notFound } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import { isUuid } from '../../../../platform/ids.ts';
import type { Metrics } from '../../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import type { Queue } from '../../../../platform/queue/queue.ts';
import {
  lateMediaReads,
  type LateMediaReads,
  type MediaDatabase,
  type TaskRow,
} from '../../database/database.ts';
import type { StepPlanner, TaskEvent } from '../../domain/task.ts';
import type { FileService } from '../../files/files.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import type { BudgetWarnings } from '../accounting/settle.ts';
import type { WorkObserver } from '../accounting/work-observer.ts';
import { createEventHub, type EventHub, type EventHubLimits } from '../events/event-hub.ts';
import { createOwnerTaskFeed } from '../events/owner-task-feed.ts';
import { requestErasure } from '../removal/erase-owner.ts';
import { deleteTask } from '../removal/remove.ts';
import { readSeenAttempts } from '../storage/attempt-store.ts';
import { readEvents, readHeads, type LogHead } from '../storage/event-store.ts';
import { createTaskReader, neededColumns, withFiles, type ReadTaskRow } from '../storage/task-reader.ts';
import { countTasks, listTasks, readTasks } from '../storage/task-store.ts';
import { createTransactor } from '../storage/transactor.ts';
import { cancelTask } from './cancel.ts';
import type { EndListener, StartGate } from './hooks.ts';
import { createQueueLengths } from './queue-lengths.ts';
import { createSubmitter } from './submit.ts';
import type { TaskService } from './task-service.ts';
import { createTransitions } from './transitions.ts';

/** The rules of tasks: who may see and change what, and what is refused before it is written. */
export interface TaskServiceOptions {
  readonly database: MediaDatabase;
  /** Where lists are read (default: the database itself). */
  readonly readLate?: LateMediaReads | undefined;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly files: FileService;
  readonly registry: GeneratorRegistry;
  readonly planner: StepPlanner;
  readonly endListener?: EndListener | undefined;
  /** Reserves what a start is expected to cost (default: nothing is reserved). */
  readonly startGate?: StartGate | undefined;
  /** Receives every end after its commit (default: nobody). */
  readonly observer?: WorkObserver | undefined;
  /** Warns of budgets that have passed their soft amount (default: nobody). */
  readonly budgetWarnings?: BudgetWarnings | undefined;
  readonly logger: Logger;
  /** Of this process (default: none). */
  readonly metrics?: Metrics | undefined;
  /** Times of the event hub; tests shorten them. */
  readonly hub?: Partial<EventHubLimits>;
}

/** The service, and what its process must do with it at the end. */
export interface RunningTaskService extends TaskService {
  /** How many subscriptions to tasks' events are open. */
  watcherCount(): number;
  /** Ends every subscription. */
  close(): void;
}

/** Most tasks in one page, and most events in one read. */
const MAX_PAGE = 200;
const MAX_EVENTS = 1_000;

/** Makes the service over the media schema. It starts nothing upstream: that is the worker's. */
export function createTaskService(options: TaskServiceOptions): RunningTaskService {
  const { database, readLate = lateMediaReads(database, undefined), bus, logger } = options;
  const transactor = createTransactor(options);
  const transitions = createTransitions({ ...options, maxAttempts: 1 });
  const queueLengths = createQueueLengths({ database, logger });
  const hub = createEventHub({ database, bus, logger, metrics: options.metrics, ...options.hub });
  const ownerTaskFeed = createOwnerTaskFeed({ database, hub, logger });
  const submitter = createSubmitter({ ...options, transactor, queueLengths });
  const readTogether = createTaskReader(database);
  const readSharedAttempts = batchReads({
    read: (taskIds) => readSeenAttempts(database, taskIds),
    readId: ({ taskId }) => taskId,
  });
  const readSharedHeads = batchReads({ read: (ids) => readHeads(database, ids), readId: ({ id }) => id });
  return {
    submit: (caller, submission) => submitter.submit(caller, submission),
    start: (submission) => submitter.start(submission),
    check: (work, account) => submitter.check(work, account),
    readMany: (caller, ids, needs) => readMany((known) => readTogether(known, needs), caller, ids),
    list: (caller, filter, page) => list(readLate, { caller, filter, page }),
    remove: (caller, id, manageToken) => deleteTask(options, caller, { id, manageToken }),
    eraseOwner: async (owner) => {
      for (const id of await requestErasure(database, owner))
        await cancelTask({ database, transactor, transitions }, id).catch(refuseAllBut('TOO_LATE'));
    },
    cancel: async (caller, id) => {
      await readOwn(database, caller, id);
      return await cancelTask({ database, transactor, transitions }, id);
    },
    events: (taskId, after, first) => events(database, { taskId, after, first }),
    watch: (caller, id, afterSeq, signal) =>
      watch({ readHeads: readSharedHeads, hub }, { caller, id, afterSeq, signal }),
    async watchOwned(caller, { everyone, ...options }) {
      if (caller.kind === 'anonymous') throw unauthenticated();
      if (everyone && listedOwner(caller) !== null) throw ownOnly();
      return ownerTaskFeed.watch({ ...options, owner: everyone ? null : caller.id });
    },
    async attempts(taskIds) {
      const found = await readSharedAttempts(taskIds.filter(isUuid));
      return new Map(taskIds.map((taskId) => [taskId, found.get(taskId)?.attempts ?? []]));
    },
    queuePosition: (task) => (task.state === 'QUEUED' ? queueLengths.position(task.id) : null),
    watcherCount: () => hub.subscriberCount(),
    close() {
      ownerTaskFeed.close(
        new AppError('UNAVAILABLE', 'the server stops; subscribe again', { retryAfter: 1 }),
      );
      hub.close();
    },
  };
}

function ownOnly(): AppError {
  return new AppError('FORBIDDEN', 'only administrators follow the tasks of everyone; leave `everyone` out', {
    field: 'everyone',
  });
}

function unauthenticated(): AppError {
  return new AppError(
    'UNAUTHENTICATED',
    'only known callers have tasks of their own to follow: sign in, or send Authorization: Bearer with a service key',
  );
}

async function readMany(read: BatchedRead<ReadTaskRow>, caller: Caller, ids: readonly string[]) {
  const wanted = ids.map((id) => id.toLowerCase());
  const byId = await read(wanted.filter(isUuid));
  return wanted.map((id) => {
    const row = byId.get(id);
    return row !== undefined && mayRead(caller, row.owner) ? row : null;
  });
}

/** A task that this caller may change; NOT_FOUND for others. */
async function readOwn(database: MediaDatabase, caller: Caller, id: string): Promise<TaskRow> {
  const [row] = isUuid(id) ? await readTasks(database, [id]) : [];
  if (row === undefined || !mayChange(caller, row.owner)) throw notFound('task', id);
  return row;
}

type ListOptions = {
  readonly caller: Caller;
  readonly filter: Parameters<TaskService['list']>[1];
  readonly page: Parameters<TaskService['list']>[2];
};

async function list(readLate: LateMediaReads, { caller, filter, page }: ListOptions) {
  if (page.first < 0 || page.first > MAX_PAGE) throw badInput('first', `must be from 0 to ${MAX_PAGE}`);
  if (page.after !== null && !isUuid(page.after)) throw badInput('after', 'is not a cursor of this list');
  if (caller.kind === 'anonymous') return { tasks: [], hasNextPage: false, count: async () => 0 };
  const listed = { owner: listedOwner(caller), filter };
  const { isFileNeeded } = page;
  const columns = neededColumns(page);
  const { first, after } = page;
  // The tasks and their files of one moment.
  return readLate(async (at) => {
    const rows = await listTasks(at, { ...listed, first: first + 1, after, columns });
    const tasks = rows.slice(0, first);
    return {
      tasks: isFileNeeded === undefined ? tasks : await withFiles(at, tasks, isFileNeeded),
      hasNextPage: rows.length > first,
      count: () => readLate((there) => countTasks(there, listed)),
    };
  });
}

async function events(
  database: MediaDatabase,
  { taskId, after, first }: { taskId: string; after: number; first: number },
): Promise<readonly TaskEvent[]> {
  if (first < 0 || first > MAX_EVENTS) throw badInput('first', `must be from 0 to ${MAX_EVENTS}`);
  const [row] = isUuid(taskId) ? await readTasks(database, [taskId]) : [];
  if (row === undefined) throw notFound('task', taskId);
  if (after < row.lastSeq) refuseExpired(row);
  return readEvents(database, [{ taskId, after }], first);
}

function refuseExpired(row: Pick<TaskRow, 'eventsPruned'>): void {
  if (!row.eventsPruned) return;
  throw new AppError(
    'EVENTS_EXPIRED',
    'the event log of this task is no longer kept; the task itself is readable',
  );
}

async function watch(
  // Shared: thousands may come at once, many of them for the same task.
  { readHeads: read, hub }: { readHeads: BatchedRead<LogHead>; hub: EventHub },
  { caller, id, afterSeq, signal }: { caller: Caller; id: string; afterSeq: number; signal: AbortSignal },
): Promise<AsyncIterableIterator<TaskEvent>> {
  const known = id.toLowerCase();
  const row = isUuid(known) ? (await read([known])).get(known) : undefined;
  if (row === undefined || !mayRead(caller, row.owner)) throw notFound('task', id);
  const after = Math.max(0, Math.trunc(afterSeq));
  if (after < row.lastSeq) refuseExpired(row);
  return hub.subscribe({ taskId: row.id, after, signal, state: row.state, lastSeq: row.lastSeq });
}

/** A handler of failures that lets one code pass. */
function refuseAllBut(code: AppErrorCode): (thrown: unknown) => void {
  return (thrown) => {
    if (!(thrown instanceof AppError) || thrown.code !== code) throw thrown;
  };
}
