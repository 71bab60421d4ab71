import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Files } from './files.ts';

/** The context of one machine's handlers. */
export interface ComfyuiContext {
  readonly runner: JobRunner;
  readonly files: Files;
  /** Node classes and model files that are not installed. */
  readonly lacking: () => ReadonlySet<string>;
}
