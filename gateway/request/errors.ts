import type { ServerResponse } from 'node:http';

import {
  type ExecutionResult,
  type FormattedExecutionResult,
  GraphQLError,
  type GraphQLFormattedError,
  Kind,
} from 'graphql';

import { isWhole, isAnswered } from '../../platform/graphql/operations/answers.ts';
import type { Logger } from '../../platform/process/logger.ts';

/**
 * Formats errors for callers, the same on HTTP, WebSocket, SSE and multipart: errors with a code keep their message and
 * public extensions; any other is shown as INTERNAL with the traceId of its log line. Stack traces and names of
 * subgraphs are never shown.
 */
export type ErrorFormatter = ReturnType<typeof createErrorFormatter>;

/** Extensions that callers may see. */
const PUBLIC_EXTENSIONS = [
  'code',
  'field',
  'problems',
  'retryAfter',
  'limit',
  'budget',
  'allowed',
  'found',
  'argumentName',
];
/** Codes of unexpected errors, as other layers set them. */
const UNKNOWN_CODES = new Set<unknown>([undefined, 'INTERNAL_SERVER_ERROR', 'DOWNSTREAM_SERVICE_ERROR']);

/** Options of the formatter. */
export interface ErrorFormatterOptions {
  readonly logger: Logger;
  /** Keeps suggestions of names ("Did you mean ...?"), which tell the schema without introspection. */
  readonly suggestions: boolean;
}

const SUGGESTION = / ?Did you mean [^?]*\?/g;

/** Makes the formatter; masked errors are logged. */
export function createErrorFormatter({ logger, suggestions }: ErrorFormatterOptions) {
  function formatError(thrown: unknown, traceId: string): GraphQLFormattedError {
    const error = toGraphqlError(thrown);
    const code = readCode(error);
    const place = pickPlace(error);
    if (isWhole(error)) {
      const { stacktrace: _stacktrace, exception: _exception, ...extensions } = error.extensions;
      return { message: error.message, ...place, extensions };
    }
    if (UNKNOWN_CODES.has(code)) {
      logger.error(
        { traceId, error: error.originalError ?? error, path: error.path },
        'masked an unknown error',
      );
      return { message: 'internal error', ...place, extensions: { code: 'INTERNAL', traceId } };
    }
    if (code === 'INTERNAL') {
      // Masked and logged already where it happened; its traceId joins the log lines of both processes.
      const known = error.extensions['traceId'];
      return {
        message: 'internal error',
        ...place,
        extensions: { code, traceId: typeof known === 'string' ? known : traceId },
      };
    }
    const message = suggestions ? error.message : error.message.replace(SUGGESTION, '');
    return { message, ...place, extensions: { ...pickPublic(error.extensions), code } };
  }

  return {
    formatError,
    /** Formats the errors of a result; the data is unchanged. */
    formatResult({ errors, ...rest }: ExecutionResult, traceId: string): FormattedExecutionResult {
      if (errors === undefined || errors.length === 0) return rest;
      return { errors: errors.map((error) => formatError(error, traceId)), ...rest };
    },
  };
}

function toGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new GraphQLError(message, thrown instanceof Error ? { originalError: thrown } : {});
}

function readCode(error: GraphQLError): unknown {
  const { code } = error.extensions;
  if (code !== undefined || error.originalError !== undefined) return code;
  // graphql-js has no codes: a value that does not fit a variable's type is the caller's input.
  const isVariable =
    error.nodes?.length && error.nodes.every(({ kind }) => kind === Kind.VARIABLE_DEFINITION);
  return isVariable ? 'BAD_USER_INPUT' : undefined;
}

function pickPlace({ path, locations }: GraphQLError): Pick<GraphQLFormattedError, 'path' | 'locations'> {
  return {
    ...(path === undefined ? {} : { path }),
    ...(locations === undefined ? {} : { locations }),
  };
}

function pickPublic(extensions: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    PUBLIC_EXTENSIONS.filter((name) => extensions[name] !== undefined).map((name) => [
      name,
      extensions[name],
    ]),
  );
}

/** An answer that has no data because something is away: 503, which proxies and clients know to send again. */
interface Unavailable {
  readonly status: 503;
  readonly retryAfterSeconds: number;
}

/** Seconds when no error names any. */
const USUAL_SECONDS = 2;

/**
 * Whether all of an answer is missing because something is away; partial answers (also one that is null because a subgraph
 * said so), and other errors, keep their status.
 */
export function findUnavailable({
  data,
  errors = [],
}: {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFormattedError[] | undefined;
}): Unavailable | null {
  if (errors.length === 0) return null;
  const isUnavailable = ({ extensions }: GraphQLFormattedError): boolean =>
    extensions?.['code'] === 'UNAVAILABLE';
  const hasData = isAnswered(data) || Object.values(data ?? {}).some((value) => value !== null);
  if (hasData || !errors.every(isUnavailable)) return null;
  return { status: 503, retryAfterSeconds: longestWait(errors) || USUAL_SECONDS };
}

/** Retry-After of an answer, in seconds: the longest wait that its errors ask for, also where others have data; 0: none. */
export function findRetryAfter(answer: Parameters<typeof findUnavailable>[0]): number {
  return findUnavailable(answer)?.retryAfterSeconds ?? longestWait(answer.errors ?? []);
}

function longestWait(errors: readonly GraphQLFormattedError[]): number {
  const waits = errors.map(({ extensions }) => extensions?.['retryAfter']);
  return Math.max(0, ...waits.filter((wait) => typeof wait === 'number'));
}

/** An answer with errors is not to be stored, whatever its subgraphs have said of their parts. */
export function forbidStoring(response: Pick<ServerResponse, 'getHeader' | 'setHeader'>): void {
  if (response.getHeader('cache-control') !== undefined) response.setHeader('Cache-Control', 'no-store');
}
