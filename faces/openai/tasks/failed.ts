import type { FaceTask } from '../documents/task.ts';

/** A task that has ended without result: the answer says why, and that trying again would ask for the same one. */
export class TaskFailed extends Error {
  readonly task: FaceTask;

  constructor(task: FaceTask) {
    super(task.error?.message ?? 'the work was cancelled');
    this.name = 'TaskFailed';
    this.task = task;
  }
}
