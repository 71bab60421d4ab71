import { AppError } from '../../platform/errors.ts';
import type { ExecutionAnswer, ExecutionWord } from './documents/execution.ts';

/** Executions as the workflow service's document shows them: as tasks. Pure. */

const WORDS: Readonly<Record<ExecutionWord, string>> = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'failed',
};

/** The document's word for a status; it has none of its own for cancelled ones. */
export function taskWord(status: ExecutionWord): string {
  return WORDS[status];
}

/** What a finished one made; images count, too. Both null until then. */
export function resultOf({ status, task }: ExecutionAnswer): object {
  const urls = status === 'COMPLETED' && task !== null ? task.outputs.map(({ url }) => url) : null;
  return { videoUrl: urls?.[0] ?? null, urls };
}

/** How a task is named in a path: by our id, or by one that its caller chose. */
export function taskNamed(id: string): {
  readonly taskId: string | null;
  readonly externalId: string | null;
} {
  return UUID.test(id) ? { taskId: id, externalId: null } : { taskId: null, externalId: id };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The execution, or NOT_FOUND naming what was asked for. */
export function foundTask(execution: ExecutionAnswer | null, id: string): ExecutionAnswer {
  if (execution !== null) return execution;
  throw new AppError('NOT_FOUND', `no task ${JSON.stringify(id.slice(0, 100))}`);
}
