import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { Studio } from '../../studio/types/studio.ts';
import type { Results } from '../shared/results.ts';

/** The context of Hedra's routes, of both its APIs. */
export interface HedraParts {
  readonly studio: Studio;
  readonly runner: JobRunner;
  readonly journal: Journal;
  readonly results: Results;
}
