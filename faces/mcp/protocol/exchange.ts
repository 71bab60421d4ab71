import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RequestContext } from '../../../platform/graphql/operations/executor.ts';

/** One request to the endpoint, whose caller is known. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
}

/** The extension of the protocol by which a call answers a task. */
const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** The extension as a capability. */
export const TASKS_CAPABILITY = { extensions: { [TASKS_EXTENSION]: {} } } as const;

/** The capabilities that a request declares in its envelope, of the version of July 2026. */
export function declaresTasks(capabilities: unknown): boolean {
  const { extensions } = Object(capabilities) as { readonly extensions?: unknown };
  return Object.hasOwn(Object(extensions) as object, TASKS_EXTENSION);
}
