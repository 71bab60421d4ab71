import type { TaskLogQuery } from '../../../api/operations.ts';

/** A task with its log. */
export type TaskLog = NonNullable<TaskLogQuery['task']>;
