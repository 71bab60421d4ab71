import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { Results } from '../shared/results.ts';

/** The context of this wire's handlers. */
export interface MinimaxParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}

/** Ids of tasks, files and calls are digits; the first digit is their type. */
export const ID = {
  digits: 15,
  task: '1',
  upload: '2',
  call: '3',
  /** A finished video's file: its task's id with another first digit. */
  video: '4',
} as const;

/** The file of a task's video. */
export function videoFileId(taskId: string): string {
  return ID.video + taskId.slice(1);
}
