import { isFinal } from '../../../domain/task.ts';
import { stageOf } from '../../../domain/words/stages.ts';
import type { Handle } from '../../../providers/contract/provider.ts';
import { saveHandle } from '../../storage/attempt-store.ts';
import { pollNow } from '../../storage/poll-store.ts';
import { lockTask } from '../../storage/task-store.ts';
import { keyOf, type AttemptContext } from '../attempts/attempt-context.ts';
import type { WorkerDependencies } from '../attempts/dependencies.ts';

/** Saves the handle under our claim. A cancel request that came meanwhile is served by the poller at once. */
export async function recordHandle(
  dependencies: WorkerDependencies,
  { task, step, attempt }: AttemptContext,
  { claim, handle, pollMs }: { claim: string; handle: Handle; pollMs: number },
): Promise<boolean> {
  return dependencies.transactor.run(async (scope) => {
    const current = await lockTask(scope.transaction, task.id);
    const saved = await saveHandle(scope.transaction, keyOf(attempt), { claim, handle, pollMs });
    if (!saved || current === null) return false;
    if (isFinal(current.state) || current.cancelRequestedAt !== null) {
      await pollNow(scope.transaction, task.id);
      return true;
    }
    const stage = stageOf(step, 'queued upstream');
    await scope.append([{ taskId: task.id, stage, runningStep: step.step }]);
    return true;
  });
}
