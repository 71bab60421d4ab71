import type { EventBus } from '../../../../../platform/events/event-bus.ts';
import type { HttpClient } from '../../../../../platform/http/http-client.ts';
import type { Logger } from '../../../../../platform/process/logger.ts';
import type { Queue } from '../../../../../platform/queue/queue.ts';
import type { MediaDatabase } from '../../../database/database.ts';
import type { AttemptTable, TaskStepTable, TaskTable } from '../../../database/task-tables.ts';
import { isFinal, type AttemptState, type Failure, type StepInput } from '../../../domain/task.ts';
import type { FileService } from '../../../files/files.ts';
import type { InputAddress } from '../../../files/input-addresses.ts';
import type { ProviderResources } from '../../../files/provider-resources.ts';
import type { Binding, GeneratorRegistry } from '../../../generators/bindings/binding.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import {
  requestKind,
  type Connection,
  type JobCapability,
  type WorkKind,
} from '../../../providers/contract/provider.ts';
import { isTransient, START_UNKNOWN } from '../../rules/failures.ts';
import { startQueue } from '../../rules/queues.ts';
import type { Advancer } from '../../rules/transitions.ts';
import { closeAttempt, readAttempts, type AttemptKey } from '../../storage/attempt-store.ts';
import { readSteps } from '../../storage/step-store.ts';
import { lockTask, readTasks } from '../../storage/task-store.ts';
import type { Transactor } from '../../storage/transactor.ts';

/** What every part of the worker works with. */
export interface Engine {
  readonly database: MediaDatabase;
  readonly queue: Queue;
  readonly bus: EventBus;
  readonly http: HttpClient;
  readonly files: FileService;
  readonly resources: ProviderResources;
  readonly registry: GeneratorRegistry;
  readonly transactor: Transactor;
  readonly advance: Advancer;
  readonly limits: WorkerLimits;
  readonly logger: Logger;
  /** Where the upstream of a start may tell that something happened; undefined where it could not reach us. */
  readonly noticeAddress: (binding: Binding, reference: string) => string | undefined;
  /** Where the upstream of a binding can fetch an input file; null when it could not reach us. */
  readonly inputAddress: InputAddress;
}

/** Times and sizes of the worker; each has a default (worker.ts). Tests shorten them. */
export interface WorkerLimits {
  /** Seconds after which a claim that is not renewed may be taken over. */
  readonly claimStaleSeconds: number;
  /** Longest wait for the answer to a start, in milliseconds. */
  readonly startTimeoutMs: number;
  /** Longest wait for a status, find or cancel answer, in milliseconds. Shorter than the lease. */
  readonly statusTimeoutMs: number;
  /** Seconds a poller owns a due attempt. */
  readonly leaseSeconds: number;
  /** Pause between looks for due attempts, in milliseconds. */
  readonly pollTickMs: number;
  /** Most status calls at once in this process. */
  readonly maxPolls: number;
  /** Failed status calls in a row after which a job counts as lost. */
  readonly maxPollFailures: number;
  /** Pause before asking again for a start that was not found, in milliseconds: the upstream may still be writing it. */
  readonly findGraceMs: number;
  /** Seconds in which an unanswerable `find` is asked again before the start counts as unknown. */
  readonly unknownBudgetSeconds: number;
  /** Tries to store a result, and the longest pause between them in seconds. */
  readonly maxStoreTries: number;
  readonly storePauseSeconds: number;
  /** Longest time that a finished result waits for an object store that is away, in seconds. */
  readonly storeOutageSeconds: number;
  /** The same for a result whose bytes are only in the memory of this process. */
  readonly heldOutageSeconds: number;
  /** Largest input fetched from a caller's URL, and largest output, in bytes. */
  readonly maxInputBytes: number;
  readonly maxOutputBytes: number;
  /** Longest time for all inputs of a step that are fetched from callers' URLs, in milliseconds: they hold a start's place. */
  readonly inputsTimeoutMs: number;
  /** Longest time for one try to fetch a result, in milliseconds; the largest ones take minutes. */
  readonly resultTimeoutMs: number;
  /** Wait for the first bytes of a file, then between chunks, in milliseconds. */
  readonly downloadTimeoutMs: number;
}

/** One attempt with everything that is needed to work on it. */
export interface AttemptScene {
  readonly task: TaskTable;
  readonly step: TaskStepTable;
  readonly attempt: AttemptTable;
  readonly binding: Binding;
}

/** The key of an attempt's row. */
export function keyOf(attempt: Pick<AttemptTable, 'task_id' | 'step' | 'number'>): AttemptKey {
  return { taskId: attempt.task_id, step: attempt.step, number: attempt.number };
}

/**
 * The connection for one piece of work: with the model that the caller named, else the binding's first for this kind
 * of work. A binding without a model of its own names none on the wire.
 */
export function connectionFor(binding: Binding, input: StepInput): Connection {
  const { connection } = binding;
  if (connection.model === null) return connection;
  return { ...connection, model: input.model ?? modelFor(binding, input)?.id ?? connection.model };
}

/** A stage as callers read it: which step, when there are several, and what it does. */
export function stageOf(step: { readonly label: string }, stage: string): string {
  return step.label === '' ? stage : `${step.label}: ${stage}`;
}

/** Reads what belongs to an attempt; null when its task or binding is gone. */
export async function loadScene(engine: Engine, attempt: AttemptTable): Promise<AttemptScene | null> {
  const [task] = await readTasks(engine.database, [attempt.task_id]);
  const steps = await readSteps(engine.database, attempt.task_id);
  const step = steps.find((entry) => entry.step === attempt.step);
  const binding = engine.registry.byId(attempt.binding);
  return task === undefined || step === undefined || binding === null
    ? null
    : { task, step, attempt, binding };
}

/** The newest attempt of a step. */
export async function newestAttempt(
  database: MediaDatabase,
  { taskId, step }: { taskId: string; step: number },
): Promise<AttemptTable | null> {
  const attempts = await readAttempts(database, [taskId]);
  return attempts.findLast((attempt) => attempt.step === step) ?? null;
}

/** How an attempt ended badly. */
export interface AttemptEnd {
  readonly from: readonly AttemptState[];
  readonly failure: Failure;
  /** Only when the attempt is still under this claim. */
  readonly claim?: string;
  readonly retryAfter?: number | undefined;
  /** The start may have happened: UNKNOWN instead of FAILED, and no next attempt unless `restart`. */
  readonly unknown?: { readonly restart: boolean };
}

/**
 * Closes an attempt that failed and lets its task go on: another attempt, the end of the task, or the end of its
 * cancelling. False when the attempt was no longer ours to close.
 */
export async function endAttempt(
  engine: Engine,
  attempt: Pick<AttemptTable, 'task_id' | 'step' | 'number' | 'binding'>,
  end: AttemptEnd,
): Promise<boolean> {
  const { transactor, advance } = engine;
  return transactor.run(async (scope) => {
    const task = await lockTask(scope.transaction, attempt.task_id);
    if (task === null) return false;
    const over = task.cancel_requested_at !== null || isFinal(task.state);
    const cancelled = over && end.unknown === undefined;
    const closed = await closeAttempt(scope.transaction, keyOf(attempt), {
      from: end.from,
      to: end.unknown ? 'UNKNOWN' : cancelled ? 'CANCELLED' : 'FAILED',
      error: end.unknown ? START_UNKNOWN : end.failure,
      ...(end.claim === undefined ? {} : { claim: end.claim }),
    });
    if (!closed) return false;
    const { code } = end.unknown ? START_UNKNOWN : end.failure;
    engine.logger.info(
      { taskId: task.id, step: attempt.step, number: attempt.number, code },
      'an attempt ended',
    );
    scope.wake(startQueue(attempt.binding));
    if (isFinal(task.state)) return true;
    if (task.cancel_requested_at !== null) await advance.settleCancel(scope, task);
    else await goOn(engine, { scope, task, attempt, end });
    return true;
  });
}

type Scope = Parameters<Parameters<Transactor['run']>[0]>[0];

async function goOn(
  { advance }: Engine,
  {
    scope,
    task,
    attempt,
    end,
  }: {
    scope: Scope;
    task: TaskTable;
    attempt: Pick<AttemptTable, 'task_id' | 'step' | 'number' | 'binding'>;
    end: AttemptEnd;
  },
): Promise<void> {
  const { step } = attempt;
  if (end.unknown && !end.unknown.restart) {
    await advance.failStep(scope, task, { step, failure: START_UNKNOWN });
    return;
  }
  const failure = end.unknown ? { ...START_UNKNOWN, retryable: true } : end.failure;
  if (!isTransient(failure)) {
    await advance.failStep(scope, task, { step, failure });
    return;
  }
  await advance.tryAgain(scope, task, {
    step,
    failure,
    retryAfter: end.retryAfter,
    attempt: { ...keyOf(attempt), binding: attempt.binding },
  });
}

/** Pause before a new job is asked for the first time, in milliseconds: at once where it can be followed from then on. */
export function firstPollMs({ watch, pollMs }: Pick<JobCapability, 'watch' | 'pollMs'>): number {
  return watch === undefined ? pollMs : 0;
}

/** A job capability of a binding for a kind of work, when it has one. */
export function jobOf(binding: Binding, kind: WorkKind) {
  return binding.provider.jobs?.[requestKind(kind)];
}
