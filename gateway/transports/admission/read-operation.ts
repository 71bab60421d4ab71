import { GraphQLError } from 'graphql';

import { codedError } from '../../../platform/graphql/operations/errors.ts';
import { MAX_NESTING, nestsDeeperThan } from '../../../platform/graphql/operations/inspect-document.ts';
import { isObject } from '../../../platform/json.ts';
import { refusal } from '../../limits/refusal.ts';

/** One GraphQL operation as a client sent it. */
export interface OperationRequest {
  readonly query: string;
  readonly operationName: string | undefined;
  readonly variables: Readonly<Record<string, unknown>>;
}

/** Reads the operation of a JSON body or a WebSocket payload; a GraphQLError describes the problem, also one that is handed in. */
export function readOperation(body: unknown): OperationRequest | GraphQLError {
  if (body instanceof GraphQLError) return body;
  if (Array.isArray(body)) return refusal('batch', 1, body.length);
  if (!isObject(body)) return badRequest('send a JSON object with a query');
  const { query, operationName, variables } = body;
  if (typeof query !== 'string' || query === '') return badRequest('query must be a text that is not empty');
  if (operationName !== undefined && operationName !== null && typeof operationName !== 'string') {
    return badRequest('operationName must be a text');
  }
  if (variables !== undefined && variables !== null && !isObject(variables)) {
    return badRequest('variables must be an object');
  }
  if (nestsDeeperThan(variables, MAX_NESTING)) {
    return refusal('nesting', MAX_NESTING, `more than ${MAX_NESTING}`);
  }
  return { query, operationName: operationName || undefined, variables: variables ?? {} };
}

/** Reads the operation of a GET request: `?query=...&variables={...}&operationName=...`. */
export function readUrlOperation(url: string): OperationRequest | GraphQLError {
  const { searchParams } = new URL(url, 'http://localhost');
  const text = searchParams.get('variables');
  let variables: unknown;
  try {
    variables = text === null || text === '' ? undefined : JSON.parse(text);
  } catch {
    return badRequest('variables must be a JSON object');
  }
  return readOperation({
    query: searchParams.get('query'),
    operationName: searchParams.get('operationName'),
    variables,
  });
}

function badRequest(message: string): GraphQLError {
  return codedError('BAD_REQUEST', message);
}
