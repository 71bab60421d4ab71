import type { Caller } from '../../../../platform/access/caller.ts';
import {
  idempotencyConflict,
  toIdempotencyRecord,
  type IdempotencyRecord,
} from '../../../../platform/access/idempotency.ts';
import { newManageToken } from '../../../../platform/access/manage-token.ts';
import { AppError, badInput } from '../../../../platform/errors.ts';
import { isUuid, newId } from '../../../../platform/ids.ts';
import { once } from '../../../../platform/once.ts';
import type { Queue } from '../../../../platform/queue/queue.ts';
import { createTraceparent } from '../../../../platform/tracing/span.ts';
import type { MediaDatabase, TaskRow } from '../../database/database.ts';
import { type StepPlanner, chooseAccount, type Task } from '../../domain/task.ts';
import type { Work } from '../../domain/work/work.ts';
import type { FileService } from '../../files/files.ts';
import type { Binding, GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { findIdempotency, insertTask, type NewStep, type NewTask } from '../storage/submission-store.ts';
import { readTasks } from '../storage/task-store.ts';
import type { Transactor } from '../storage/transactor.ts';
import type { EndListener, StartGate } from './hooks.ts';
import type { QueueLengths } from './queue-lengths.ts';
import { defineTaskQueues, startJobs, stepRows } from './queues.ts';
import type { Submission, TaskService } from './task-service.ts';

/** Accepting work: everything that can be refused is refused before the one transaction that writes. */
export interface SubmitOptions {
  readonly database: MediaDatabase;
  readonly transactor: Transactor;
  readonly queue: Queue;
  readonly files: FileService;
  readonly registry: GeneratorRegistry;
  readonly queueLengths: QueueLengths;
  readonly planner: StepPlanner;
  readonly endListener?: EndListener | undefined;
  readonly startGate?: StartGate | undefined;
}

/** The part of the service that accepts work. */
export type Submitter = Pick<TaskService, 'submit' | 'start' | 'check'>;

/** Makes the submitter; the queues are defined at the first submission. */
export function createSubmitter(options: SubmitOptions): Submitter {
  const queuesDefined = once(() => defineTaskQueues(options));
  return {
    async submit(caller, submission) {
      await queuesDefined();
      return submit(options, caller, submission);
    },
    async start(submission) {
      if (!isUuid(submission.id)) throw badInput('id', 'must be a UUID');
      await queuesDefined();
      return start(options, submission);
    },
    async check(work, account) {
      checkedSteps(options, work);
      if (account !== null) await options.startGate?.check({ owner: account, work });
    },
  };
}

async function submit(options: SubmitOptions, caller: Caller, submission: Submission): Promise<Task> {
  const entry = toIdempotencyRecord(caller, submission.idempotencyKey, submission.fingerprint);
  // A repeated request is answered before anything else is checked: it must not fail for a full queue.
  const found = entry && (await sameTask(options.database, entry));
  const replaces = found !== null && isPast(found, submission.joinSeconds) ? found.id : null;
  if (found && replaces === null) return found;
  const managed = caller.kind === 'anonymous' ? newManageToken() : null;
  const accepted = await accept(options, submission, {
    id: newId(),
    owner: caller.id,
    onEnd: null,
    idempotency: entry && { ...entry, replaces },
    manageTokenHash: managed?.hash ?? null,
    traceparent: createTraceparent(caller.traceId),
  });
  if (accepted && managed) return { ...accepted, manageToken: managed.token };
  // Nothing was written: another request with the key was faster.
  const task = accepted ?? (entry && (await sameTask(options.database, entry)));
  if (!task) throw new AppError('INTERNAL', 'a submission was neither written nor found');
  return task;
}

async function start(options: SubmitOptions, submission: Parameters<TaskService['start']>[0]): Promise<Task> {
  const { id, owner, onEnd, traceId, sold } = submission;
  const [known] = await readTasks(options.database, [id]);
  // The end of a task is written with this job in one transaction: it could never end.
  if (known === undefined && onEnd !== null && !(await options.queue.isDefined(onEnd))) {
    throw badInput('onEnd', `onEnd: there is no queue ${JSON.stringify(onEnd.slice(0, 100))}`);
  }
  const task =
    known ??
    (await accept(options, submission, {
      id,
      owner,
      onEnd,
      idempotency: null,
      traceparent: createTraceparent(traceId),
      sold: sold ?? false,
    }));
  const [other] = task ? [task] : await readTasks(options.database, [id]);
  if (other === undefined) throw new AppError('INTERNAL', 'a task was neither written nor found');
  return other;
}

/** Whether a key that stands for running work only is free again. */
function isPast({ endedAt, createdAt }: TaskRow, joinSeconds: number | null | undefined): boolean {
  if (joinSeconds === null || joinSeconds === undefined) return false;
  return endedAt !== null || Date.now() - createdAt.getTime() >= joinSeconds * 1_000;
}

/** The task of a key, null when the key is free. IDEMPOTENCY_CONFLICT when it stands for another request. */
async function sameTask(database: MediaDatabase, entry: IdempotencyRecord): Promise<TaskRow | null> {
  const record = await findIdempotency(database, entry.owner, entry.key);
  if (record === null) return null;
  if (record.fingerprint !== entry.fingerprint) throw idempotencyConflict();
  const [task] = await readTasks(database, [record.taskId]);
  return task ?? null;
}

type Identity = Pick<
  NewTask,
  'id' | 'owner' | 'onEnd' | 'idempotency' | 'manageTokenHash' | 'traceparent' | 'sold'
>;

/** Checks the work, reserves room in the queues, and writes. Null when the key or id was taken meanwhile. */
async function accept(
  options: SubmitOptions,
  { work, fileIds, callbackUrl = null }: Pick<Submission, 'work' | 'fileIds' | 'callbackUrl'>,
  identity: Identity,
): Promise<TaskRow | null> {
  const { registry, queueLengths, planner } = options;
  const steps = checkedSteps(options, work);
  const reserved: (readonly [Binding, number])[] = [];
  let task: TaskRow | null = null;
  try {
    for (const [binding, count] of countSteps(registry, steps)) {
      await queueLengths.reserve(binding, count);
      reserved.push([binding, count]);
    }
    const { kind } = work;
    const taskType = kind === 'RECIPE' ? work.taskType : null;
    const named = { kind, generator: planner.findGenerator(work), taskType };
    task = await write(options, { ...identity, ...named, callbackUrl, input: work, steps }, fileIds);
    return task;
  } finally {
    for (const [binding, count] of reserved) queueLengths.settle(binding, count, task !== null);
  }
}

/** The first steps of work that can be done here; NOT_CONFIGURED or BAD_USER_INPUT when it can't. */
function checkedSteps(
  { registry, planner }: Pick<SubmitOptions, 'registry' | 'planner'>,
  work: Work,
): readonly NewStep[] {
  planner.check(work);
  const first = planner.next(work, []);
  if (first.kind !== 'start') throw new Error('a task begins with no step');
  return stepRows(registry, first.steps, 0);
}

function countSteps(
  registry: GeneratorRegistry,
  steps: readonly NewStep[],
): readonly (readonly [Binding, number])[] {
  const counts = Map.groupBy(steps, (step) => step.binding);
  return [...counts].flatMap(([id, own]) => {
    const binding = registry.byId(id);
    return binding === null ? [] : [[binding, own.length] as const];
  });
}

/**
 * The one transaction: task, steps, first event, idempotency record, reserved budgets, claimed files, start jobs. Without
 * budgets and files it is one statement, as every submission waits for its round trips.
 */
async function write(
  { transactor, queue, files, startGate }: SubmitOptions,
  task: NewTask,
  fileIds: readonly string[],
): Promise<TaskRow | null> {
  const reserve =
    (await startGate?.open({ id: task.id, owner: chooseAccount(task), work: task.input })) ?? null;
  const jobs = startJobs(task, task.steps);
  if (reserve === null && fileIds.length === 0) {
    const enqueueing = await queue.enqueueing(...jobs);
    const queues = jobs.map((job) => job.queue);
    return transactor.runAlone((database) => insertTask(database, task, enqueueing), queues);
  }
  return transactor.run(async (scope) => {
    const row = await insertTask(scope.transaction, task);
    if (row === null) return null;
    await reserve?.(scope);
    if (fileIds.length > 0) await files.claim(scope.transaction, fileIds, task.owner);
    await scope.enqueue(...jobs);
    return row;
  });
}
