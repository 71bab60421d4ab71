import type { Json, JsonObject } from '../../../platform/json.ts';
import type { Failure } from './failure.ts';
import type { StepLabel } from './words/stages.ts';
import type { Work, StepInput } from './work/work.ts';

/** The words of a task (docs/architecture.md). Pure: no SQL, no clock, no GraphQL here. */

/** Every state of a task. */
export const taskStates = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;

/** The state of a task; the last three are final. */
export type TaskState = (typeof taskStates)[number];

/** What a task makes. */
export type TaskKind = Work['kind'];

/** A task as everything outside tasks/ sees it. */
export interface Task {
  readonly id: string;
  readonly owner: string;
  readonly kind: TaskKind;
  readonly generator: string;
  /** Task type of the video template, for recipes. */
  readonly taskType: string | null;
  /** Whether any attempt ran on the sandbox instead of a real upstream. */
  readonly sandbox: boolean;
  readonly input: JsonObject;
  readonly state: TaskState;
  readonly stage: string;
  /** 0 to 100; never falls. */
  readonly progress: number;
  /** True when the upstream reports no progress and the number is our estimate. */
  readonly progressEstimated: boolean;
  readonly lastSeq: number;
  readonly cancelRequestedAt: Date | null;
  readonly error: Failure | null;
  readonly result: TaskOutcome | null;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** The trace in which it was submitted (W3C trace context). */
  readonly traceparent: string | null;
  /** Whether it is what somebody has bought. */
  readonly sold: boolean;
  /** Deletes what it makes. Only in the answer to the submission of a caller without a credential. */
  readonly manageToken?: string;
}

/** What a finished task made. Media ids in order; texts for descriptions and analyses; notes say what is missing and why. */
export interface TaskOutcome {
  readonly mediaIds: readonly string[];
  readonly texts: readonly string[];
  readonly notes: readonly string[];
  /** Facts for the typed results (Description, Character, ...), by kind. */
  readonly facts: JsonObject;
}

/** Filter of a list of tasks; absent members do not filter. */
export interface TaskFilter {
  readonly states?: readonly TaskState[];
  readonly kinds?: readonly TaskKind[];
  readonly generator?: string;
  /** Asked for by name, or taken by one of its attempts. */
  readonly model?: string;
  /** Part of the prompt, or of the text to be spoken, in any case. */
  readonly text?: string;
  /** `usr_...`, `key_...` or `anon`; within what the caller may list. */
  readonly owner?: string;
  /** Id of a file among its inputs. */
  readonly file?: string;
  readonly createdAfter?: Date;
  readonly createdBefore?: Date;
}

/** A page of tasks, newest first. */
export interface TaskPage {
  readonly tasks: readonly Task[];
  readonly hasNextPage: boolean;
  /** Counts the tasks of all pages. */
  readonly count: () => Promise<number>;
}

/** One numbered entry of a task's log. */
export interface TaskEvent {
  readonly taskId: string;
  readonly seq: number;
  readonly at: Date;
  readonly state: TaskState;
  readonly stage: string;
  readonly progress: number;
  readonly progressEstimated: boolean;
}

/** True when nothing comes after this state. */
export function isFinal(state: TaskState): boolean {
  return state === 'SUCCEEDED' || state === 'FAILED' || state === 'CANCELLED';
}

/** JSON of a value that is known to be JSON already (stored input, handles). */
export function asJson(value: unknown): Json {
  return value as Json;
}

/** Whom work that was sold is accounted to, in place of its owner: the buyer has paid for it. */
export const SOLD = 'sold';

/** Whom the cost of a task is accounted to, in usage and budgets. Pure. */
export function chooseAccount({ owner, sold }: { readonly owner: string; readonly sold?: boolean }): string {
  return sold === true ? SOLD : owner;
}

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
  findGenerator(work: Work): string;
  /** What comes next, given every step so far in order. Steps that failed never get here: the task has ended then. */
  next(work: Work, steps: readonly StepSoFar[]): NextSteps;
  /** Task progress, 0 to 100, over the steps that are planned. */
  progress(work: Work, steps: readonly Pick<StepSoFar, 'input' | 'progress'>[]): number;
}
