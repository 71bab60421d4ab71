import { AppError } from '../../../platform/errors.ts';
import type { ExecutionFields, NamedExecution } from '../../documents/workflow/execution.ts';

/** Executions as the workflow service's document shows them: as tasks. Pure. */

const WORDS: Readonly<Record<ExecutionFields['status'], string>> = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'failed',
};

/** The document's word for a status; it has none of its own for cancelled ones. */
export function taskStatus(status: ExecutionFields['status']): string {
  return WORDS[status];
}

/** What a finished one made; images count, too. Both null until then. */
export function resultOf({ status, task }: ExecutionFields): object {
  const urls = status === 'COMPLETED' && task !== null ? task.outputs.map(({ url }) => url) : null;
  return { videoUrl: urls?.[0] ?? null, urls };
}

/** 0 to 100, and 100 only of finished ones. */
export function progressOf({ status, progress }: ExecutionFields): number {
  return status === 'COMPLETED' ? 100 : progress;
}

/** How a task is named in a path: by our id, or by one that its caller chose, which may look like ours. */
export function executionByTask({ taskId }: { readonly taskId: string }) {
  return { taskId, externalId: taskId };
}

/** The execution, or NOT_FOUND naming what was asked for. */
export function requireExecution({ ours, chosen }: NamedExecution, id: string): ExecutionFields {
  const found = ours ?? chosen;
  if (found !== null) return found;
  throw new AppError('NOT_FOUND', `no task ${JSON.stringify(id.slice(0, 100))}`);
}
