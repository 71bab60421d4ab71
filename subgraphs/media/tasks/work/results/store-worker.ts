import { toError } from '../../../../../platform/errors.ts';
import type { Job, JobHandler, JobOutcome } from '../../../../../platform/queue/queue.ts';
import { withSpan } from '../../../../../platform/tracing/span.ts';
import type { AttemptRow, StepRow, TaskRow } from '../../../database/database.ts';
import { UpstreamError } from '../../../domain/failure.ts';
import type { TaskOutcome } from '../../../domain/task.ts';
import { findRules } from '../../../domain/work/work.ts';
import type { Outcome, RemoteFile } from '../../../providers/contract/provider.ts';
import {
  PermanentResultError,
  isSourceAway,
  isStoreUnavailable,
  storageFailure,
  storeResultFile,
  type ResultDependencies,
} from '../../../result-files/store-result-file.ts';
import { settle } from '../../accounting/settle.ts';
import { startQueue, type StepJob } from '../../rules/queues.ts';
import { closeAttempt, readAttempts } from '../../storage/attempt-store.ts';
import { countStoreTry, readSteps, rememberStored } from '../../storage/step-store.ts';
import { noteUnknownAttempt } from '../../storage/sweep-store.ts';
import { lockOpenTask } from '../../storage/task-store.ts';
import type { TransactionScope } from '../../storage/transactor.ts';
import {
  attemptSpan,
  connectionFor,
  findJob,
  toAttemptKey,
  readContext,
  newestAttempt,
  type AttemptContext,
} from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { measuredUnits, collectNotes, createOutcome } from './outcomes.ts';

/** What storing results needs. */
export interface StoreDependencies extends WorkerDependencies, ResultDependencies {
  readonly limits: WorkerDependencies['limits'];
}

const NOT_CONFIGURED = 'the generator that made it is no longer configured';

/**
 * Fetches the files of finished work into the object store, then ends the step in one transaction. A file that can't be
 * stored is tried again with a growing pause, from a fresh address where the upstream gives one, while the upstream
 * keeps it; then the task fails with STORAGE_FAILED. While our own store or the upstream is away no try is counted.
 */
export function createStoreHandler(dependencies: StoreDependencies): JobHandler {
  return async (job): Promise<JobOutcome> => {
    const { taskId, step } = job.data as StepJob;
    const attempt = await newestAttempt(dependencies.database, { taskId, step });
    const context = attempt === null ? null : await readContext(dependencies, attempt);
    if (context === null) return handBack(dependencies, { taskId, step }, attempt);
    if (context.step.state !== 'STORING') return;
    const span = attemptSpan(dependencies, 'store results', { ...context.task, attempt: context.attempt });
    return withSpan(span, () => storeOrRetry(dependencies, context, job));
  };
}

/** Seconds until another process may take up what this one has no binding for. */
const UNKNOWN_PAUSE_SECONDS = 2;

/** Another process may know the binding; the finished work is given up when none has for a while. */
async function handBack(
  dependencies: StoreDependencies,
  key: StepJob,
  attempt: AttemptRow | null,
): Promise<JobOutcome> {
  const seconds =
    attempt === null ? Infinity : await noteUnknownAttempt(dependencies.database, toAttemptKey(attempt));
  if (seconds <= dependencies.limits.unconfiguredSeconds) return { againInSeconds: UNKNOWN_PAUSE_SECONDS };
  return failStorage(dependencies, key, new PermanentResultError(NOT_CONFIGURED));
}

async function storeOrRetry(
  dependencies: StoreDependencies,
  context: AttemptContext,
  { data, signal }: Job,
): Promise<JobOutcome> {
  try {
    const outcome = await storeAll(dependencies, context, signal);
    await completeStep(dependencies, { ...(data as StepJob), outcome });
  } catch (error) {
    signal.throwIfAborted();
    return retryLater(dependencies, context, error);
  }
}

async function storeAll(
  dependencies: StoreDependencies,
  context: AttemptContext,
  signal: AbortSignal,
): Promise<TaskOutcome> {
  const { task, step, binding, attempt } = context;
  const outcome =
    step.finished === null ? await refetchOutcome(dependencies, context) : outcomeOfFinished(step.finished);
  const mediaIds: string[] = [];
  for (const [position, file] of outcome.files.entries()) {
    const known = step.stored[String(position)];
    mediaIds.push(known ?? (await storeOne(position, file)));
  }
  return createOutcome(outcome, {
    mediaIds,
    provider: attempt.provider,
    notes: collectNotes(step.input, binding),
  });

  async function storeOne(position: number, file: RemoteFile): Promise<string> {
    const { id } = await storeResultFile(dependencies, {
      file,
      binding,
      owner: task.owner,
      kind: findRules(step.input).result,
      position,
      signal,
    });
    await rememberStored(dependencies.database, { taskId: task.id, step: step.step, position, mediaId: id });
    return id;
  }
}

function outcomeOfFinished(finished: NonNullable<AttemptContext['step']['finished']>): Outcome {
  return { files: finished.urls.map((url) => ({ url })), texts: finished.texts, facts: finished.facts };
}

/** The upstream's answer once more: with fresh addresses, or with credentials that are never written down. */
async function refetchOutcome(
  dependencies: StoreDependencies,
  { attempt, binding, step }: AttemptContext,
): Promise<Outcome> {
  const capability = findJob(binding, step.input.kind);
  if (capability === undefined || attempt.handle === null) {
    throw new PermanentResultError('its address has expired, and this upstream gives no other');
  }
  const status = await capability.status(attempt.handle, {
    connection: connectionFor(binding, step.input),
    signal: AbortSignal.timeout(dependencies.limits.statusTimeoutMs),
  });
  if (status.state === 'finished') return status.outcome;
  if (status.state === 'failed') throw status.error;
  // It may have to get its results together again: they are waited for, as for one that is away.
  throw new UpstreamError('UNAVAILABLE', `the upstream says ${status.state} of work that it had finished`);
}

/** What a step ends with; `open` is an attempt that is still to be closed, under its claim. */
export interface CompletedStep extends StepJob {
  readonly outcome: TaskOutcome;
  readonly open?: { readonly attempt: AttemptRow; readonly claim: string };
}

/** One transaction: the files are the task's own, the step has ended, and whatever follows from that. */
export async function completeStep(
  dependencies: StoreDependencies,
  { taskId, step, outcome, open }: CompletedStep,
): Promise<void> {
  await dependencies.transactor.run(async (scope) => {
    const task = await lockOpenTask(scope.transaction, taskId);
    if (task === null) return;
    if (open !== undefined) {
      const change = { from: ['STARTING'], to: 'SUCCEEDED', claim: open.claim } as const;
      if (!(await closeAttempt(scope.transaction, toAttemptKey(open.attempt), change))) return;
      scope.freed(startQueue(open.attempt.binding));
    }
    const steps = await readSteps(scope.transaction, taskId);
    if (steps.find((entry) => entry.step === step)?.state !== 'STORING') return;
    await dependencies.files.attach(scope.transaction, outcome.mediaIds, {
      id: taskId,
      manageTokenHash: task.manageTokenHash,
    });
    await settleStored(dependencies, { scope, task, steps }, { step, outcome });
    await dependencies.transitions.finishSteps(scope, [{ task, steps, step, outcome }]);
  });
}

interface StoredStep {
  readonly scope: TransactionScope;
  readonly task: TaskRow;
  readonly steps: readonly StepRow[];
}

/** The attempt whose result has been stored, with what the files say of it. */
async function settleStored(
  dependencies: StoreDependencies,
  { scope, task, steps }: StoredStep,
  { step, outcome }: Pick<CompletedStep, 'step' | 'outcome'>,
): Promise<void> {
  const attempts = await readAttempts(scope.transaction, [task.id]);
  const attempt = attempts.findLast((entry) => entry.step === step);
  const input = steps.find((entry) => entry.step === step)?.input;
  if (attempt === undefined || input === undefined) return;
  const measured = await measuredUnits(dependencies.files, input, outcome.mediaIds);
  await settle(dependencies, { scope, task }, { attempt, input, ending: 'finished', measured });
}

async function retryLater(
  dependencies: StoreDependencies,
  context: AttemptContext,
  error: unknown,
): Promise<JobOutcome> {
  const { task, step } = context;
  const { maxStoreTries, storePauseSeconds } = dependencies.limits;
  const key = { taskId: task.id, step: step.step };
  const pause = pauseOfOutage(dependencies, context, error);
  if (pause !== null) {
    const waits = isStoreUnavailable(error) ? 'the object store' : 'its provider';
    const details = { error: toError(error), taskId: task.id, pause };
    dependencies.logger.warn(details, `a result waits for ${waits}`);
    return { againInSeconds: pause };
  }
  const tries = await countStoreTry(dependencies.database, { ...key, stale: true });
  dependencies.logger.warn({ error: toError(error), taskId: task.id, tries }, 'a result could not be stored');
  if (tries < maxStoreTries && !(error instanceof PermanentResultError)) {
    return { againInSeconds: Math.min(storePauseSeconds, 2 ** (tries - 1)) };
  }
  await failStorage(dependencies, key, error);
}

/**
 * Seconds to wait with a finished result until our store, or the upstream that keeps it, is back, growing with the time
 * waited so far; null: neither is away, or it was for too long.
 */
function pauseOfOutage(
  { limits }: StoreDependencies,
  { attempt, binding }: AttemptContext,
  error: unknown,
): number | null {
  const longest = isStoreUnavailable(error)
    ? limits.storeOutageSeconds
    : isSourceAway(error)
      ? binding.budgetSeconds
      : 0;
  const finishedAt = attempt.endedAt ?? attempt.startedAt;
  const waited = (Date.now() - finishedAt.getTime()) / 1000;
  if (waited > longest) return null;
  return Math.min(limits.storePauseSeconds, Math.max(1, Math.ceil(waited)));
}

/** Ends the task as STORAGE_FAILED, when its step is still being stored. */
async function failStorage(
  { transactor, transitions }: StoreDependencies,
  { taskId, step }: StepJob,
  error: unknown,
): Promise<void> {
  await transactor.run(async (scope) => {
    const task = await lockOpenTask(scope.transaction, taskId);
    if (task === null) return;
    const steps = await readSteps(scope.transaction, taskId);
    if (steps.find((entry) => entry.step === step)?.state !== 'STORING') return;
    await transitions.failStep(scope, task, { step, failure: storageFailure(error) });
  });
}
