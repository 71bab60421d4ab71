import type { JsonObject } from '../../../platform/json.ts';
import type { AttemptState } from '../domain/attempt.ts';
import type { Failure } from '../domain/failure.ts';
import type { StepState } from '../domain/steps.ts';
import type { TaskKind, TaskOutcome, TaskState } from '../domain/task.ts';
import type { StepInput, Work } from '../domain/work/work.ts';

/** Table types of the task engine (migrations/0001-tasks.ts says why each column and index is there). */

/** One piece of long work. `last_seq` is the number of its newest event. */
export interface TaskTable {
  readonly id: string;
  readonly owner: string;
  readonly kind: TaskKind;
  readonly generator: string;
  readonly task_type: string | null;
  readonly sandbox: boolean;
  readonly input: Work & JsonObject;
  readonly state: TaskState;
  readonly stage: string;
  readonly progress: number;
  readonly progress_estimated: boolean;
  readonly last_seq: number;
  readonly cancel_requested_at: Date | null;
  /** Queue that gets a job at the end; chosen by the requester, opaque here. */
  readonly on_end: string | null;
  /** Address that the result webhook is sent to, as it was submitted. */
  readonly callback_url: string | null;
  readonly error: Failure | null;
  readonly result: TaskOutcome | null;
  readonly events_pruned: boolean;
  readonly created_at: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
  /** Of the token that deletes what it makes (platform/access/manage-token.ts); null: its owner alone does. */
  readonly manage_token_hash: string | null;
}

/** One unit of work of a task at one generator. */
export interface TaskStepTable {
  readonly task_id: string;
  readonly step: number;
  /** Says which step it is, in front of its stages; empty for a plain task. */
  readonly label: string;
  readonly input: StepInput & JsonObject;
  readonly state: StepState;
  /** The binding that it is queued at, or that did the work last. */
  readonly binding: string;
  readonly progress: number;
  /** What the upstream finished with, while it is being stored; null when it must be fetched again. */
  readonly finished: FinishedWork | null;
  /** Media ids of the files stored so far, by position. */
  readonly stored: Readonly<Record<string, string>>;
  readonly store_tries: number;
  readonly outcome: TaskOutcome | null;
  /** Since when it waits for its start (QUEUED) or to be stored (STORING). */
  readonly waiting_since: Date;
  readonly started_at: Date | null;
  readonly ended_at: Date | null;
}

/** An outcome that may be written down: addresses without credentials. */
export interface FinishedWork {
  readonly urls: readonly string[];
  readonly texts: readonly string[];
  readonly facts: JsonObject;
}

/** One start at one provider. `claim` is the right to send it; `handle` is what the upstream answered. */
export interface AttemptTable {
  readonly task_id: string;
  readonly step: number;
  readonly number: number;
  readonly binding: string;
  readonly provider: string;
  readonly model: string | null;
  readonly reference: string;
  readonly state: AttemptState;
  readonly handle: JsonObject | null;
  readonly claim: string | null;
  readonly claimed_at: Date | null;
  readonly running_at: Date | null;
  readonly next_poll_at: Date | null;
  readonly poll_failures: number;
  /** The process that follows the upstream's stream of it, and when its lease ends. */
  readonly watcher: string | null;
  readonly watched_until: Date | null;
  readonly error: Failure | null;
  readonly started_at: Date;
  readonly ended_at: Date | null;
}

/** The log: numbered from 1 without a gap; the last entry of an ended task carries its final state. */
interface TaskEventTable {
  readonly task_id: string;
  readonly seq: number;
  readonly state: TaskState;
  readonly stage: string;
  readonly progress: number;
  readonly progress_estimated: boolean;
  readonly at: Date;
}

/** The task of an idempotency key. Keys are stored as hashes. */
interface IdempotencyTable {
  readonly owner: string;
  readonly key: string;
  readonly fingerprint: string;
  readonly task_id: string;
  readonly created_at: Date;
}

/** The tables of the task engine. */
export interface TaskTables {
  readonly 'media.tasks': TaskTable;
  readonly 'media.task_steps': TaskStepTable;
  readonly 'media.attempts': AttemptTable;
  readonly 'media.task_events': TaskEventTable;
  readonly 'media.idempotency': IdempotencyTable;
}
