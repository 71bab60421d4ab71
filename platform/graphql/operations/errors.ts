import { type ExecutionResult, GraphQLError } from 'graphql';

import { databaseAway } from '../../database-away.ts';
import { AppError, type AppErrorCode, toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';

/**
 * Errors at the GraphQL edge: an AppError becomes `extensions.code`; any other error is logged with its trace id and
 * shown as "internal error".
 */

/** The origin of an error, for the log line of a masked one. */
export interface ErrorOrigin {
  readonly logger: Logger;
  readonly traceId: string;
  /** The subgraph, or `gateway`. */
  readonly subgraph: string;
  /** Aborted when the caller hangs up: errors caused by that are not logged. */
  readonly signal?: AbortSignal;
}

/** Codes of errors in the request itself, as GraphQL clients know them. */
export type RequestErrorCode =
  | 'BAD_REQUEST'
  | 'GRAPHQL_PARSE_FAILED'
  | 'GRAPHQL_VALIDATION_FAILED'
  | 'OPERATION_RESOLUTION_FAILURE';

/** Codes of a gateway of another graph, as clients know them of Apollo's router; docs/gateway.md has them. */
type GatewayErrorCode =
  | 'SUBSCRIPTION_SCHEMA_RELOAD'
  | 'UNAUTHORIZED_FIELD_OR_TYPE'
  | 'PERSISTED_QUERY_NOT_FOUND'
  | 'PERSISTED_QUERY_NOT_SUPPORTED'
  | 'PERSISTED_QUERY_NOT_IN_LIST';

/** A GraphQL error with a code, and further extensions. */
export function codedError(
  code: AppErrorCode | RequestErrorCode | GatewayErrorCode,
  message: string,
  more: Readonly<Record<string, unknown>> = {},
): GraphQLError {
  return new GraphQLError(message, { extensions: { code, ...more } });
}

/** The result of an error outside of any field: one error, mapped or masked. */
export function failedResult(thrown: unknown, origin: ErrorOrigin): ExecutionResult {
  const error = toError(thrown);
  const located =
    error instanceof GraphQLError ? error : new GraphQLError(error.message, { originalError: error });
  return { errors: [publicError(located, origin)] };
}

/** The result with every error mapped or masked; unchanged when there is none. */
export function publicResult(result: ExecutionResult, origin: ErrorOrigin): ExecutionResult {
  if (result.errors === undefined) return result;
  return { ...result, errors: result.errors.map((error) => publicError(error, origin)) };
}

/** The error as callers may see it: AppErrors with their fields, GraphQL's own with a code, anything else masked. */
function publicError(error: GraphQLError, origin: ErrorOrigin): GraphQLError {
  const thrown = innermost(error);
  const away = databaseAway(thrown);
  if (away !== undefined) origin.logger.debug({ error: toError(thrown) }, 'the database is away');
  const cause = away ?? thrown;
  if (cause instanceof AppError && cause.code !== 'INTERNAL') {
    return withExtensions(error, cause.message, appErrorExtensions(cause));
  }
  if (cause instanceof GraphQLError && typeof error.extensions['code'] === 'string') return error;
  if (isCallersMistake(error)) return withExtensions(error, error.message, { code: 'BAD_USER_INPUT' });
  if (isRefusedUpload(cause)) {
    return withExtensions(error, cause.message, {
      code: cause.status === 413 ? 'PAYLOAD_TOO_LARGE' : 'BAD_USER_INPUT',
    });
  }
  return masked(error, cause, origin);
}

function masked(error: GraphQLError, cause: unknown, origin: ErrorOrigin): GraphQLError {
  const { logger, traceId, subgraph, signal } = origin;
  if (signal?.aborted === true && cause === signal.reason) {
    return withExtensions(error, 'the caller disconnected', { code: 'UNAVAILABLE' });
  }
  logger.error({ error: cause, traceId, subgraph, path: error.path?.join('.') }, 'a resolver failed');
  return withExtensions(error, 'internal error', { code: 'INTERNAL', traceId });
}

/** The `extensions` of an AppError, without absent fields. */
function appErrorExtensions(error: AppError): Record<string, unknown> {
  return {
    code: error.code,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.problems.length === 0 ? {} : { problems: error.problems }),
    ...(error.retryAfter === undefined ? {} : { retryAfter: error.retryAfter }),
    ...(error.limit === undefined ? {} : { budget: error.limit }),
  };
}

/** The error at the same place with another message and other extensions; the original stays for the logs. */
export function withExtensions(
  error: GraphQLError,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError {
  return new GraphQLError(message, {
    nodes: error.nodes ?? null,
    source: error.source ?? null,
    positions: error.positions ?? null,
    path: error.path ?? null,
    originalError: error.originalError ?? null,
    extensions,
  });
}

function innermost(error: GraphQLError): unknown {
  let current: unknown = error;
  while (current instanceof GraphQLError && current.originalError) current = current.originalError;
  return current;
}

// graphql-js has no codes. A value that does not fit a variable or an argument is the caller's mistake; a resolver's
// value that can't be serialised is ours, and stays masked.
function isCallersMistake(error: GraphQLError): boolean {
  if (/^(Variable|Argument) "/.test(error.message)) return true;
  return error.path === undefined && !error.originalError;
}

// The multipart parser rejects an declared upload that never came with an error like those of http-errors.
function isRefusedUpload(cause: unknown): cause is Error & { status: number } {
  if (!(cause instanceof Error) || !('expose' in cause) || !('status' in cause)) return false;
  return (
    cause.expose === true && typeof cause.status === 'number' && cause.status >= 400 && cause.status < 500
  );
}
