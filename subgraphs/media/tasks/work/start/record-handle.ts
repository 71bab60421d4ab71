import { UpstreamError } from '../../../domain/failure.ts';
import { isFinal } from '../../../domain/task.ts';
import { stageOf } from '../../../domain/words/stages.ts';
import type { Handle } from '../../../providers/contract/provider.ts';
import { startUnknown } from '../../rules/failures.ts';
import { isHandleTaken, saveHandle } from '../../storage/attempt-store.ts';
import { pollNow } from '../../storage/poll-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import { keyOf, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';
import { endAttempt } from '../attempts/end-attempt.ts';

interface Saved {
  readonly claim: string;
  readonly handle: Handle;
  readonly pollMs: number;
}

/**
 * Saves the handle under our claim, true when that was still ours. A handle that another attempt has is its owner's: nobody may
 * cancel it or get its result through this one, which ends as a start of which nothing is known.
 */
export async function recordHandle(
  dependencies: WorkerDependencies,
  context: AttemptContext,
  saved: Saved,
): Promise<boolean> {
  try {
    return await save(dependencies, context, saved);
  } catch (error) {
    if (!isHandleTaken(error)) throw error;
    const { attempt, binding } = context;
    const { reference, provider } = attempt;
    dependencies.logger.error(
      { reference, provider },
      'a provider answered a start with work of another one',
    );
    const cause = new UpstreamError('UNAVAILABLE', 'it answered with work that another start has');
    const failure = startUnknown({ retry: binding.retryUnknownStart, cause });
    return endAttempt(dependencies, attempt, { from: ['STARTING'], claim: saved.claim, failure });
  }
}

/** A cancel request that came meanwhile is served by the poller at once. */
async function save(
  dependencies: WorkerDependencies,
  { task, step, attempt }: AttemptContext,
  saved: Saved,
): Promise<boolean> {
  return dependencies.transactor.run(async (scope) => {
    const current = await lockTask(scope.transaction, task.id);
    const isSaved = await saveHandle(scope.transaction, keyOf(attempt), saved);
    if (!isSaved || current === null) return false;
    if (isFinal(current.state) || current.cancelRequestedAt !== null) {
      await pollNow(scope.transaction, task.id);
      return true;
    }
    const stage = stageOf(step, 'queued upstream');
    await scope.append([{ taskId: task.id, stage, runningStep: step.step }]);
    return true;
  });
}
