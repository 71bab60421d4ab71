import { notFound } from '../../../platform/errors.ts';
import type { ExecutionFields, NamedExecution } from '../../documents/workflow/execution.ts';

/** Executions in the words of the workflow service's document, where they are tasks. Pure. */

const statuses: Readonly<Record<ExecutionFields['status'], string>> = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'failed',
};

/** The status in the words of the document, which has none for cancelled ones. */
export function taskStatus(status: ExecutionFields['status']): string {
  return statuses[status];
}

/**
 * An execution in the words of the document, under the id that it was asked by: ours, or the caller's own. Only a
 * finished one has results, images among them, and 100 percent.
 */
export function taskData(execution: ExecutionFields, taskId: string) {
  const { id, status, progress, error, createdAt, endedAt, task } = execution;
  const isCompleted = status === 'COMPLETED';
  const urls = isCompleted && task !== null ? task.outputs.map(({ url }) => url) : null;
  return {
    executionId: id,
    taskId,
    status: taskStatus(status),
    progress: isCompleted ? 100 : progress,
    result: { videoUrl: urls?.[0] ?? null, urls },
    error: taskError(status, error),
    createdAt,
    completedAt: endedAt,
  };
}

/** The document has no status for what was cancelled: its error says so. */
function taskError(status: ExecutionFields['status'], error: ExecutionFields['error']) {
  if (status === 'CANCELLED') return { code: 'CANCELLED', message: 'it was cancelled' };
  if (status !== 'FAILED') return null;
  const { code, message } = error ?? { code: 'INTERNAL', message: 'it failed' };
  return { code, message };
}

/** Variables of ExecutionByTask: a task in a path is named by our id, or by one of the caller's, which may look like ours. */
export function executionByTask({ taskId }: { readonly taskId: string }) {
  return { taskId, externalId: taskId };
}

/** The execution that was found. Throws NOT_FOUND. */
export function requireExecution({ byTaskId, byExternalId }: NamedExecution, id: string): ExecutionFields {
  const found = byTaskId ?? byExternalId;
  if (found === null) throw notFound('task', id);
  return found;
}
