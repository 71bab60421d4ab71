import type { Caller } from '../../../../platform/access/caller.ts';
import type { Attempt } from '../../domain/attempt.ts';
import type { Task, TaskEvent, TaskFilter, TaskPage } from '../../domain/task.ts';
import type { Work } from '../../domain/work/work.ts';
import type { StoredFile } from '../../files/files.ts';
import type { OwnedSubscription, PlacedEvent } from '../events/owned-tasks.ts';
import type { TaskNeeds } from '../storage/task-reader.ts';

export type { TaskNeeds } from '../storage/task-reader.ts';

/** A task, with what was read along with it: whoever reads many at once, or knows only one of its own, has none. */
export interface ReadTask extends Task {
  /** Provider and model of the attempt that made the result, else of the newest one; null before the first. */
  readonly doneBy?: Pick<Attempt, 'provider' | 'model'> | null;
  /** The files that it made, in order, without deleted ones. */
  readonly files?: readonly StoredFile[];
}

/** Which page of a list, and what of it is read. */
interface TaskPageRequest extends TaskNeeds {
  readonly first: number;
  readonly after: string | null;
}

/** The tasks, as the GraphQL schema uses them. Implemented by createTaskService (service.ts). */
export interface TaskService {
  /**
   * Accepts work: in one transaction the task, its first step, its first event, its queue job, the claimed files and
   * the idempotency record. Fails before anything is written with BAD_USER_INPUT, NOT_CONFIGURED, QUEUE_FULL,
   * BUDGET_EXCEEDED or IDEMPOTENCY_CONFLICT.
   */
  submit(caller: Caller, submission: Submission): Promise<Task>;
  /** startTask: the same with an id that the requester chose; the same id again answers the same task. Service callers only. */
  start(
    submission: Submission & {
      readonly id: string;
      readonly owner: string;
      readonly onEnd: string | null;
      /** Whether it is what somebody has bought (default: no). */
      readonly sold?: boolean;
      /** Of the request that started it. */
      readonly traceId?: string;
    },
  ): Promise<Task>;
  /**
   * Throws what `submit` would refuse because of the work itself: BAD_USER_INPUT, NOT_CONFIGURED; and BUDGET_EXCEEDED where
   * it is known whom it is accounted to. Writes nothing.
   */
  check(work: Work, account: string | null): Promise<void>;
  /**
   * The tasks this caller may read, in the order of the ids; null where there is none (or it is somebody else's). Without
   * `needs` they have everything.
   */
  readMany(caller: Caller, ids: readonly string[], needs?: TaskNeeds): Promise<readonly (ReadTask | null)[]>;
  /** Newest first, the caller's own; empty for anonymous callers. Admins and Kiln itself see all. */
  list(caller: Caller, filter: TaskFilter, page: TaskPageRequest): Promise<TaskPage>;
  /**
   * Removes a task that has ended, with the files that it made. NOT_FOUND for those of others and of nobody without the token
   * of who made it, CONFLICT while it runs or an execution may ask for it.
   */
  remove(caller: Caller, id: string, manageToken: string | null): Promise<void>;
  /** Cancels what an owner has running, and has all of theirs erased as it ends. Again is harmless. */
  eraseOwner(owner: string): Promise<void>;
  /** Sets the cancel request once. NOT_FOUND, or TOO_LATE when it has ended otherwise or is storing its result. */
  cancel(caller: Caller, id: string): Promise<Task>;
  /** Events with seq > after, oldest first. EVENTS_EXPIRED when the log was pruned. */
  events(taskId: string, after: number, first: number): Promise<readonly TaskEvent[]>;
  /** Every event after `afterSeq`, then live ones, until the end event. NOT_FOUND and EVENTS_EXPIRED are thrown before the first. */
  watch(
    caller: Caller,
    id: string,
    afterSeq: number,
    signal: AbortSignal,
  ): Promise<AsyncIterableIterator<TaskEvent>>;
  /**
   * The newest entry of each open task of the caller, or of `everyone` for administrators (with `endedSince`, also the last of those that have ended after
   * it), then every entry of these and of later ones. UNAUTHENTICATED for anonymous callers.
   */
  watchOwned(
    caller: Caller,
    options: Omit<OwnedSubscription, 'owner'> & { readonly everyone: boolean },
  ): Promise<AsyncIterableIterator<PlacedEvent>>;
  attempts(taskIds: readonly string[]): Promise<ReadonlyMap<string, readonly Attempt[]>>;
  /** Queue position (1 = next), from a snapshot refreshed about once a second; null once it runs. */
  queuePosition(task: Task): number | null;
}

/** Checked work, about to become a task. */
export interface Submission {
  readonly work: Work;
  /** Files of ours among the inputs: claimed (no longer temporary) in the same transaction. */
  readonly fileIds: readonly string[];
  readonly idempotencyKey: string | null;
  /** Seconds from its acceptance in which the running task of the key is answered; absent: any task of the key is. */
  readonly joinSeconds?: number | null | undefined;
  /** Checked address of the result webhook. Not part of the fingerprint: the first one stays. */
  readonly callbackUrl?: string | null;
  /**
   * What makes two submissions the same one: the operation's name and its normalised variables, files by their sha256.
   * The submission builds it; the service hashes it.
   */
  readonly fingerprint: unknown;
}
