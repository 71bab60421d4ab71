import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { Results } from '../shared/results.ts';

/** What every handler of this wire works with. */
export interface MinimaxParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}

/** Tasks, files and calls are all named by digits; the first tells them apart. */
export const ID = {
  digits: 15,
  task: '1',
  upload: '2',
  call: '3',
  /** A finished video's file: its task's id behind another first digit. */
  video: '4',
} as const;

/** The file of a task's video. */
export function videoFileId(taskId: string): string {
  return ID.video + taskId.slice(1);
}
