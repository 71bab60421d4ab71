import type { TaskOutcome } from './task.ts';
import type { StepLabel } from './words/stages.ts';
import type { StepInput, Work } from './work/work.ts';

/** QUEUED waits for its binding; STORING means the upstream is done and its files are being fetched. */
export type StepState = 'QUEUED' | 'RUNNING' | 'STORING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';

/** A step of a task as the planning of its next ones sees it. */
export interface StepSoFar {
  readonly input: StepInput;
  readonly state: StepState;
  readonly progress: number;
  readonly outcome: TaskOutcome | null;
}

/** A step that is to be started. */
export interface PlannedStep {
  readonly label: StepLabel;
  readonly input: StepInput;
}

/** What follows when a step has ended. */
export type NextSteps =
  | { readonly kind: 'start'; readonly steps: readonly PlannedStep[] }
  | { readonly kind: 'wait' }
  | { readonly kind: 'done'; readonly outcome: TaskOutcome };

/** Which steps a task has, in which order: pure functions of its work. */
export interface StepPlanner {
  /** Throws BAD_USER_INPUT with every problem of the work, or NOT_CONFIGURED. */
  check(work: Work): void;
  /** The generator that the task is listed under. */
  generatorOf(work: Work): string;
  /** What comes next, given every step so far in order. Steps that failed never get here: the task has ended then. */
  next(work: Work, steps: readonly StepSoFar[]): NextSteps;
  /** Task progress, 0 to 100, over the steps that are planned. */
  progress(work: Work, steps: readonly Pick<StepSoFar, 'input' | 'progress'>[]): number;
}
