import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Files } from './files.ts';

/** What the handlers of one machine work with. */
export interface ComfyuiContext {
  readonly runner: JobRunner;
  readonly files: Files;
}
