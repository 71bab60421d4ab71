import type { Caller } from '../../../../platform/access/caller.ts';
import { MOST_COUNTED } from '../../../../platform/paging.ts';
import type { TaskFilter } from '../../domain/task.ts';

/** What is done to each task. */
export const bulkActions = ['CANCEL', 'RESTART'] as const;
/** Where an operation stands. */
export const bulkStates = ['RUNNING', 'DONE', 'STOPPED'] as const;

/** One of the actions. */
export type BulkAction = (typeof bulkActions)[number];
type BulkState = (typeof bulkStates)[number];

/** Queue of the operations, and what a job of it names. */
export const BULK_QUEUE = 'media.bulk-operations';
/** The operation that a job moves on. */
export interface BulkJob {
  readonly id: string;
}

/** Most tasks of one operation: as many as are counted. */
export const MOST_TASKS = MOST_COUNTED;
/** Most operations of one owner that run at once. */
export const MOST_RUNNING = 5;

/** One action on all tasks that match a filter, and how far it is. */
export interface BulkOperation {
  readonly id: string;
  /** Who began it. */
  readonly owner: string;
  readonly action: BulkAction;
  readonly state: BulkState;
  /** How many tasks matched when it began. */
  readonly total: number;
  /** Those of them that it was done to. */
  readonly done: number;
  /** Those that it could not be done to. */
  readonly refused: number;
  /** Why the first of them was refused. */
  readonly problem: string | null;
  readonly createdAt: Date;
  readonly endedAt: Date | null;
}

/** Begins, stops and reports operations. */
export interface BulkService {
  /** UNAUTHENTICATED without a caller, BAD_USER_INPUT for more than 10,000 tasks, CONFLICT beyond five at once. */
  begin(caller: Caller, action: BulkAction, filter: TaskFilter): Promise<BulkOperation>;
  /** Ends it before the next task. NOT_FOUND for those of others; one that has ended stays as it is. */
  stop(caller: Caller, id: string): Promise<BulkOperation>;
  /** The newest of the caller's, or of everybody for administrators. */
  list(caller: Caller, first: number): Promise<readonly BulkOperation[]>;
}
