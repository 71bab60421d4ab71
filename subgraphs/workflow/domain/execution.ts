import { type Caller, mayRead } from '../../../platform/access/caller.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import type { TaskCost } from './margin.ts';
import type { Page, PageRequest } from './page.ts';

/**
 * PENDING until the media service has the task, RUNNING until that ended, then one of the others. Only forward.
 */
export const executionStatuses = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED'] as const;

/** The status of an execution; the last three are final. */
export type ExecutionStatus = (typeof executionStatuses)[number];

/** Why an execution failed. */
export interface ExecutionError {
  /** A failure code of the task, or the code with which the start was refused. */
  readonly code: string;
  readonly message: string;
}

/** One run of a template; owns exactly one task. */
export interface Execution {
  readonly id: string;
  /** An id the caller chose, unique per owner. */
  readonly externalId: string | null;
  /** Allocated here, before media knows the task. */
  readonly taskId: string;
  readonly owner: string;
  /** The user it runs for, if one was named. */
  readonly userId: string | null;
  readonly templateCode: string;
  readonly status: ExecutionStatus;
  readonly stage: string;
  /** 0 to 100. */
  readonly progress: number;
  readonly parameters: JsonObject;
  readonly error: ExecutionError | null;
  /** Rises with each change; published on the bus. */
  readonly version: number;
  readonly createdAt: Date;
  /** When media took its task; null when it never did. */
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

/** One entry of an execution's log, made from its task's entry. */
export interface ExecutionEvent {
  readonly executionId: string;
  /** The task's seq. */
  readonly seq: number;
  readonly at: Date;
  readonly status: ExecutionStatus;
  readonly stage: string;
  readonly progress: number;
}

/** A request to run a template. */
export interface ExecuteRequest {
  readonly code: string;
  readonly parameters: Json;
  /** The user it runs for: a user names only themselves, a service key anyone. */
  readonly onBehalfOf: string | null;
  readonly externalId: string | null;
  readonly idempotencyKey: string | null;
}

/** The current state of a running execution's task, from media. */
export interface LiveTask {
  readonly id: string;
  readonly state: string;
  readonly stage: string;
  readonly progress: number;
  readonly error: ExecutionError | null;
}

/** The key of one execution; exactly one member is set. */
export interface ExecutionKey {
  readonly id?: string | number | null | undefined;
  readonly taskId?: string | number | null | undefined;
  readonly externalId?: string | null | undefined;
}

/** Executions and their rules. Implemented by createExecutionService (service.ts). */
export interface ExecutionService {
  /**
   * Starts a template: one transaction writes execution, task id, idempotency record and backstop job; then media gets
   * the start, for at most 2 s. NOT_FOUND, BAD_USER_INPUT, FORBIDDEN, IDEMPOTENCY_CONFLICT or CONFLICT before
   * anything is written.
   */
  execute(caller: Caller, request: ExecuteRequest): Promise<Execution>;
  /** BAD_USER_INPUT unless exactly one key is given; null where there is none (or it is somebody else's). */
  find(caller: Caller, key: ExecutionKey): Promise<Execution | null>;
  /** By execution id, in the order of the ids; null where there is none the caller may read. */
  byIds(caller: Caller, ids: readonly string[]): Promise<readonly (Execution | null)[]>;
  /** The ids of their tasks, without an ownership check; null where there is none. */
  readTaskIds(ids: readonly string[]): Promise<readonly (string | null)[]>;
  /** By task id, likewise. */
  byTaskIds(caller: Caller, taskIds: readonly string[]): Promise<readonly (Execution | null)[]>;
  /** Stage and progress of running tasks as media has them, in the order of the ids; null where media does not say. */
  liveTasks(taskIds: readonly string[]): Promise<readonly (LiveTask | null)[]>;
  /** What tasks cost, in the order of the ids, without an ownership check; null where media does not say. */
  taskCosts(taskIds: readonly string[]): Promise<readonly (TaskCost | null)[]>;
  /** Newest first: the caller's own, or of one user; empty without a caller. */
  list(caller: Caller, request: PageRequest): Promise<Page<Execution>>;
  /** Every event after `afterSeq`, then live ones until the execution has ended. NOT_FOUND before the first. */
  watch(
    caller: Caller,
    id: string,
    afterSeq: number,
    signal: AbortSignal,
  ): Promise<AsyncIterableIterator<ExecutionEvent>>;
}

/** Whether the status is final. */
export function isEnded(status: ExecutionStatus): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED';
}

/** The execution status of a task state. An unknown state means running, never failed. */
export function statusOfTask(state: string): ExecutionStatus {
  if (state === 'SUCCEEDED') return 'COMPLETED';
  return state === 'FAILED' || state === 'CANCELLED' ? state : 'RUNNING';
}

/** Who may see an execution, and for whom one may be started. Pure. */

/** The rule of tasks, and also the user it runs for, unless an anonymous caller named that user. */
export function mayReadExecution(caller: Caller, { owner, userId }: Execution): boolean {
  if (mayRead(caller, owner)) return true;
  return caller.kind === 'user' && userId === caller.id && owner !== 'anon';
}

/** The user that an execution runs for, and the owner of its task. */
interface Beneficiary {
  readonly userId: string | null;
  readonly taskOwner: string;
}

/**
 * Users act for themselves; admins, service keys and Kiln itself for any user, who then owns the task; a user named by an
 * anonymous caller is only a label.
 */
export function findBeneficiary(caller: Caller, onBehalfOf: string | null): Beneficiary {
  if (onBehalfOf === null) {
    return { userId: caller.kind === 'user' ? caller.id : null, taskOwner: caller.id };
  }
  if (!/^[^\s\0]{1,128}$/.test(onBehalfOf)) {
    throw badInput('onBehalfOf', 'onBehalfOf must be a user id of 1 to 128 characters without spaces');
  }
  if (caller.kind === 'anonymous') return { userId: onBehalfOf, taskOwner: caller.id };
  if (caller.id === onBehalfOf) return { userId: onBehalfOf, taskOwner: caller.id };
  if (caller.kind === 'user' && !caller.scopes.includes('admin')) {
    throw new AppError('FORBIDDEN', 'users start executions for themselves only', { field: 'onBehalfOf' });
  }
  // Only a user's own id is an owner: a text such as "anon" must not make the task everybody's.
  return { userId: onBehalfOf, taskOwner: onBehalfOf.startsWith('usr_') ? onBehalfOf : caller.id };
}
