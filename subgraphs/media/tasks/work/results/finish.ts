import type { FinishedWork } from '../../../database/column-types.ts';
import type { AttemptRow, TaskRow } from '../../../database/database.ts';
import type { AttemptState } from '../../../domain/attempt.ts';
import type { Failure } from '../../../domain/failure.ts';
import { approximations } from '../../../domain/inputs/options.ts';
import { stageOf } from '../../../domain/steps.ts';
import { isFinal, type TaskOutcome } from '../../../domain/task.ts';
import { rulesOf, type StepInput } from '../../../domain/work/work.ts';
import type { Binding } from '../../../generators/bindings/binding.ts';
import { modelFor } from '../../../generators/limits/limits.ts';
import type { Outcome, RemoteFile } from '../../../providers/contract/provider.ts';
import { settle } from '../../accounting/settle.ts';
import { startQueue, storeJob } from '../../rules/queues.ts';
import { closeAttempt } from '../../storage/attempt-store.ts';
import { moveStep, readSteps } from '../../storage/step-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import type { TransactionScope } from '../../storage/transactor.ts';
import { keepUnits } from '../../storage/usage-store.ts';
import { keyOf } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/** Finished upstreams: the attempt is closed, and its files are fetched or its texts stored. */

/** A finished upstream without anything that its kind of work makes. */
const EMPTY_RESULT: Failure = {
  code: 'UNAVAILABLE',
  message: 'the upstream finished without a result',
  retryable: false,
};

/** What an upstream has finished, and the attempt it belongs to. */
export interface UpstreamFinish {
  readonly attempt: AttemptRow;
  readonly from: AttemptState;
  readonly claim?: string;
  readonly outcome: Outcome;
}

/**
 * Closes the attempt and moves its step to STORING with a job that fetches the files; a result of texts alone ends the
 * step at once. The result of a task that was cancelled (or has ended) meanwhile is discarded. False when the attempt
 * was no longer open.
 */
export async function finishAttempt(
  dependencies: WorkerDependencies,
  finish: UpstreamFinish,
): Promise<boolean> {
  const { attempt, outcome } = finish;
  return dependencies.transactor.run(async (scope) => {
    const task = await lockTask(scope.transaction, attempt.taskId);
    if (task === null) return false;
    const discarded = isFinal(task.state) || task.cancelRequestedAt !== null;
    const closed = await closeAttempt(scope.transaction, keyOf(attempt), {
      from: [finish.from],
      to: discarded ? 'CANCELLED' : 'SUCCEEDED',
      claim: finish.claim,
    });
    if (!closed) return false;
    scope.wake(startQueue(attempt.binding));
    await keepOrSettle(dependencies, { scope, task, attempt, outcome }, discarded);
    if (isFinal(task.state)) return true;
    if (discarded) await dependencies.transitions.settleCancel(scope, task);
    else await storeOrFinish(dependencies, { scope, task, attempt, outcome });
    return true;
  });
}

interface Finished {
  readonly scope: TransactionScope;
  readonly task: TaskRow;
  readonly attempt: AttemptRow;
  readonly outcome: Outcome;
}

/** What has files is settled when they are stored and measured; the rest now, also what nobody wants any more. */
async function keepOrSettle(
  dependencies: WorkerDependencies,
  { scope, task, attempt, outcome }: Finished,
  discarded: boolean,
): Promise<void> {
  const { units = {}, files } = outcome;
  if (files.length > 0 && !discarded) {
    if (Object.keys(units).length > 0) await keepUnits(scope.transaction, keyOf(attempt), units);
    return;
  }
  const steps = await readSteps(scope.transaction, task.id);
  const input = steps.find(({ step }) => step === attempt.step)?.input;
  if (input === undefined) return;
  await settle(dependencies, { scope, task }, { attempt, input, ending: 'finished', measured: units });
}

async function storeOrFinish(
  { transitions, registry }: WorkerDependencies,
  { scope, task, attempt, outcome }: Finished,
): Promise<void> {
  const { step, provider } = attempt;
  const steps = await readSteps(scope.transaction, task.id);
  const current = steps.find((entry) => entry.step === step);
  if (current === undefined) return;
  if (outcome.files.length > 0) {
    await moveStep(scope.transaction, {
      taskId: task.id,
      step,
      state: 'STORING',
      finished: toFinishedWork(outcome),
    });
    await scope.append([{ taskId: task.id, stage: stageOf(current, 'storing result') }]);
    await scope.enqueue(storeJob(task, { step, binding: attempt.binding }));
  } else if (rulesOf(current.input).result.needsFile || isEmpty(outcome)) {
    await transitions.failStep(scope, task, { step, failure: EMPTY_RESULT });
  } else {
    await transitions.finishStep(scope, task, {
      step,
      outcome: outcomeOf(outcome, {
        mediaIds: [],
        provider,
        notes: notesOf(current.input, registry.byId(attempt.binding)),
      }),
    });
  }
}

function isEmpty({ texts, facts = {} }: Outcome): boolean {
  return texts.length === 0 && Object.keys(facts).length === 0;
}

/** What may be written down of an outcome: null when its files carry credentials or bytes. */
export function toFinishedWork(outcome: Outcome): FinishedWork | null {
  const urls = outcome.files.flatMap((file) => (isPlainUrl(file) ? [file.url] : []));
  if (urls.length !== outcome.files.length) return null;
  return { urls, texts: outcome.texts, facts: outcome.facts ?? {} };
}

function isPlainUrl(file: RemoteFile): file is Extract<RemoteFile, { url: string }> {
  return 'url' in file && Object.keys(file.headers ?? {}).length === 0;
}

/** The outcome as the task stores it; facts name the provider that they come from. */
export function outcomeOf(
  { texts, facts = {} }: Pick<Outcome, 'texts' | 'facts'>,
  { mediaIds, provider, notes }: Pick<TaskOutcome, 'mediaIds' | 'notes'> & { readonly provider: string },
): TaskOutcome {
  const known = Object.keys(facts).length > 0;
  return { mediaIds, texts, notes, facts: known ? { ...facts, provider } : facts };
}

/** What the result of this work at this binding only meets approximately. */
export function notesOf(input: StepInput, binding: Binding | null): readonly string[] {
  return binding === null ? [] : approximations(input, modelFor(binding, input));
}
