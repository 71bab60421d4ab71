import { createHash } from 'node:crypto';

import type { Cost } from './cost.ts';
import type { Failure } from './failure.ts';

/** Every state of an attempt. */
export const attemptStates = ['STARTING', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'UNKNOWN'] as const;

/** The state of an attempt; UNKNOWN is one whose start may or may not have happened. */
export type AttemptState = (typeof attemptStates)[number];

/** One start at one provider. */
export interface Attempt {
  readonly taskId: string;
  readonly step: number;
  readonly number: number;
  readonly provider: string;
  readonly model: string | null;
  /** What upstreams know of it (`hashTaskId`): travels in the wire's own field, so that a start can be found again. */
  readonly reference: string;
  readonly state: AttemptState;
  readonly error: Failure | null;
  readonly startedAt: Date;
  readonly endedAt: Date | null;
  /** Null until it has ended and its result is stored. */
  readonly cost: Cost | null;
}

/** Names one attempt. */
export interface AttemptKey {
  readonly taskId: string;
  readonly step: number;
  readonly number: number;
}

/**
 * What the references of a task's attempts begin with, before `/step/number`: upstreams, and whoever reads what they log,
 * see them, so the task's id, which opens and cancels it, can't be learned from them.
 */
export function hashTaskId(taskId: string): string {
  return createHash('sha256').update(`attempts of ${taskId}`).digest('hex').slice(0, 32);
}
