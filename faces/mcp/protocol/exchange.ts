import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Caller } from '../../../platform/access/caller.ts';
import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';

/** One request to the endpoint, whose caller is known. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

/** What a request counts as. */
export type RateClass = 'status' | 'read' | 'start' | 'write';

/** What is left of a caller's rate, and whether this request is allowed. */
export interface RateResult {
  readonly allowed: boolean;
  readonly limit: number;
  /** Seconds to wait when not allowed. */
  readonly retryAfter: number;
}

/** Counts requests against their callers. */
export interface RateCounter {
  take(caller: Caller, rateClass: RateClass): Promise<RateResult> | RateResult;
  /** Counts a start that was refused as a write instead. */
  refuseStart(caller: Caller): Promise<RateResult> | RateResult;
}

/** The extension of the protocol by which a call answers a task. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The extension as a capability. */
export const TASKS_CAPABILITY = { extensions: { [TASKS_EXTENSION]: {} } } as const;

/** The capabilities that a request declares in its envelope, of the version of July 2026. */
export function declaresTasks(capabilities: unknown): boolean {
  const { extensions } = Object(capabilities) as { readonly extensions?: unknown };
  return Object.hasOwn(Object(extensions) as object, TASKS_EXTENSION);
}
