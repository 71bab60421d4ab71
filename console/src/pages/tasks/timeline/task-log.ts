import type { TaskLogQuery } from '../../../api/documents/operations.ts';

/** A task with its log. */
export type TaskLog = NonNullable<TaskLogQuery['task']>;
