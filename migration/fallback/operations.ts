import { getOperationAST, OperationTypeNode } from 'graphql';

import type { Route } from '../../rest-compat/route/route.ts';

/** Which documented operations an old service is asked for: reads of one thing by its id, and lists of one user. Pure. */

/** What a request asks for. */
export interface FallbackTarget {
  readonly service: 'media' | 'workflow';
  /** Such as `GET /task/{taskId}`. */
  readonly operation: string;
  readonly id: string;
}

/** The parameters that name a thing of the old service. */
const ID_PARAMETERS = ['task_id', 'taskId', 'paymentId'] as const;

/** The lists that are joined, and where their items are. */
const LISTS: Readonly<Record<string, { readonly items: string; readonly id: string }>> = {
  '/payment/history': { items: 'payments', id: 'id' },
  '/templates/executions/user/{userId}': { items: 'executions', id: 'executionId' },
};

/** Paths of the workflow service that read by id. */
const WORKFLOW_PATH = /^\/(task|payment|templates)\//;

/** The values of a request's path and query. */
export interface RequestValues {
  readonly pathParams: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
}

/** The thing that a request reads by its id; null for every other operation. */
export function readTarget(route: Route, { pathParams, query }: RequestValues): FallbackTarget | null {
  if (route.document === null || route.first !== undefined) return null;
  if (getOperationAST(route.document)?.operation !== OperationTypeNode.QUERY) return null;
  const name = ID_PARAMETERS.find((parameter) => parameter in route.params);
  const id = name === undefined ? undefined : (decoded(pathParams[name]) ?? query.get(name));
  if (!id) return null;
  const service = WORKFLOW_PATH.test(route.path) ? 'workflow' : 'media';
  return { service, operation: `${route.method} ${route.path}`, id };
}

/** The list of a user that a request reads from its beginning; null for every other operation. */
export function listTarget(route: Route, { pathParams, query }: RequestValues) {
  const list = route.method === 'GET' ? LISTS[route.path] : undefined;
  const id = decoded(pathParams['userId']) ?? query.get('userId');
  if (list === undefined || !id || Number(query.get('offset') ?? 0) > 0) return null;
  const target: FallbackTarget = { service: 'workflow', operation: `GET ${route.path}`, id };
  return { ...target, list };
}

function decoded(value: string | undefined): string | undefined {
  try {
    return value === undefined ? undefined : decodeURIComponent(value);
  } catch {
    return value;
  }
}
