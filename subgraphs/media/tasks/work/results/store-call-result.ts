import { setTimeout as pause } from 'node:timers/promises';

import { databaseAway } from '../../../../../platform/database-away.ts';
import { isFinal } from '../../../domain/task.ts';
import { formatStage } from '../../../domain/words/stages.ts';
import { findRules } from '../../../domain/work/work.ts';
import type { Outcome } from '../../../providers/contract/provider.ts';
import {
  isStoreUnavailable,
  PermanentResultError,
  storageFailure,
  storeResultFile,
} from '../../../result-files/store-result-file.ts';
import { settle } from '../../accounting/settle.ts';
import { startQueue } from '../../rules/queues.ts';
import { closeAttempt, renewClaim } from '../../storage/attempt-store.ts';
import { moveStep } from '../../storage/step-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import { keepUnits } from '../../storage/usage-store.ts';
import { toAttemptKey, type AttemptContext } from '../attempts/attempt-context.ts';
import { endAttempt } from '../attempts/end-attempt.ts';
import { collectNotes, createOutcome, toFinishedWork } from './outcomes.ts';
import { completeStep, type StoreDependencies } from './store-worker.ts';

interface CallResult {
  /** The claim under which the call was made. */
  readonly claim: string;
  readonly outcome: Outcome;
  /** Aborted when the process stops. */
  readonly signal: AbortSignal;
}

/** Stores what a call answered, while its claim is held: bytes that no other process has. */
export async function storeCallResult(
  dependencies: StoreDependencies,
  context: AttemptContext,
  { claim, outcome, signal }: CallResult,
): Promise<void> {
  const { attempt, binding, step } = context;
  // Texts need no storing, and addresses survive a crash: both end the claim at once.
  if (outcome.files.length === 0 || toFinishedWork(outcome) !== null) {
    const finish = { attempt, from: 'STARTING', claim, outcome } as const;
    await withRetries(dependencies, signal, () => dependencies.finishAttempt(finish));
    return;
  }
  const begin = () => beginStoring(dependencies, context, { claim, outcome });
  if (!(await withRetries(dependencies, signal, begin))) return;
  try {
    const mediaIds = await storeBytes(dependencies, context, { outcome, signal });
    const { taskId, provider } = attempt;
    const notes = collectNotes(step.input, binding);
    const completed = {
      taskId,
      step: attempt.step,
      outcome: createOutcome(outcome, { mediaIds, provider, notes }),
      open: { attempt, claim },
    };
    await withRetries(dependencies, signal, () => completeStep(dependencies, completed));
  } catch (error) {
    signal.throwIfAborted();
    await endAttempt(dependencies, attempt, { from: ['STARTING'], claim, failure: storageFailure(error) });
  }
}

/** From here on it is too late to cancel. False when it was cancelled before, or is not ours any more. */
async function beginStoring(
  dependencies: StoreDependencies,
  { task, step, attempt }: AttemptContext,
  { claim, outcome }: Pick<CallResult, 'claim' | 'outcome'>,
): Promise<boolean> {
  const { transactor, transitions } = dependencies;
  return transactor.run(async (scope) => {
    const { transaction } = scope;
    const current = await lockTask(transaction, task.id);
    // The worker that has taken the attempt over decides about its step.
    if (!(await renewClaim(transaction, toAttemptKey(attempt), claim))) return false;
    if (current !== null && !isFinal(current.state) && current.cancelRequestedAt === null) {
      await moveStep(transaction, { taskId: task.id, step: step.step, state: 'STORING', finished: null });
      await keepUnits(transaction, [{ ...toAttemptKey(attempt), units: outcome.units ?? {} }]);
      await scope.append([{ taskId: task.id, stage: formatStage(step, 'storing result') }]);
      return true;
    }
    await closeAttempt(transaction, toAttemptKey(attempt), { from: ['STARTING'], to: 'CANCELLED', claim });
    const done = { attempt, input: step.input, ending: 'finished', measured: outcome.units ?? {} } as const;
    await settle(dependencies, { scope, task }, done);
    scope.freed(startQueue(attempt.binding));
    if (current !== null && !isFinal(current.state)) await transitions.settleCancel(scope, current);
    return false;
  });
}

async function storeBytes(
  dependencies: StoreDependencies,
  { task, binding, step }: AttemptContext,
  { outcome, signal }: Pick<CallResult, 'outcome' | 'signal'>,
): Promise<readonly string[]> {
  const mediaIds: string[] = [];
  for (const [position, file] of outcome.files.entries()) {
    const result = { file, binding, owner: task.owner, kind: findRules(step.input).result, position, signal };
    const store = () => storeResultFile(dependencies, result);
    mediaIds.push((await withRetries(dependencies, signal, store)).id);
  }
  return mediaIds;
}

/**
 * The result exists only in this process, so storing and recording it is retried, and for longer while our store or the database is
 * away. What was committed without an acknowledgement changes nothing the second time.
 */
async function withRetries<Result>(
  { limits }: StoreDependencies,
  signal: AbortSignal,
  body: () => Promise<Result>,
): Promise<Result> {
  const outageEnd = Date.now() + limits.inMemoryOutageSeconds * 1000;
  for (let tries = 1; ; tries += 1) {
    try {
      return await body();
    } catch (error) {
      signal.throwIfAborted();
      const isUnavailable = isStoreUnavailable(error) || databaseAway(error) !== undefined;
      const isWaiting = isUnavailable && Date.now() < outageEnd;
      if (error instanceof PermanentResultError || (tries >= limits.maxStoreTries && !isWaiting)) throw error;
      const pauseSeconds = Math.min(limits.storePauseSeconds, 2 ** (tries - 1));
      await pause(pauseSeconds * 1000, undefined, { signal });
    }
  }
}
