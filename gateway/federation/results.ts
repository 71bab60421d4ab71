import { type ExecutionResult, GraphQLError } from 'graphql';

import { remade } from '../../platform/graphql/operations/answers.ts';
import type { SharedForm } from '../../platform/graphql/operations/documents.ts';
import { failedResult, withExtensions } from '../../platform/graphql/operations/errors.ts';
import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { renamedExtensions } from './operation/own-names.ts';

/** The result of a request that could not be run; an unexpected error is masked and logged. */
export function gatewayFailure(thrown: unknown, context: RequestContext, logger: Logger): ExecutionResult {
  return failedResult(thrown, { logger, traceId: context.caller.traceId, subgraph: 'gateway' });
}

/** Characters left of a message about a variable: its beginning names the variable, its end the problem. */
const MESSAGE_START = 200;
const MESSAGE_END = 300;

/** Errors of variables that do not fit their types, with a code and without the middle of long values. */
export function variableErrors(errors: readonly GraphQLError[]): ExecutionResult {
  return {
    errors: errors.map((error) =>
      withExtensions(error, shortened(error.message), { code: 'BAD_USER_INPUT' }),
    ),
  };
}

function shortened(message: string): string {
  if (message.length <= MESSAGE_START + MESSAGE_END) return message;
  return `${message.slice(0, MESSAGE_START)} ... ${message.slice(-MESSAGE_END)}`;
}

/** The result of a shared document under the names of the one that was sent. */
export function renamedResult(result: ExecutionResult, { names }: SharedForm): ExecutionResult {
  const { data, errors, extensions } = result;
  if (names.size === 0) return result;
  const findSentName = (key: string): string => names.get(key) ?? key;
  return {
    ...result,
    ...(errors !== undefined && { errors: errors.map((error) => renamedError(error, findSentName)) }),
    ...(data && {
      data: remade(
        data,
        Object.fromEntries(Object.entries(data).map(([key, value]) => [findSentName(key), value])),
      ),
    }),
    ...(extensions !== undefined && {
      extensions: renamedExtensions(extensions, (error) => renamedError(error, findSentName)),
    }),
  };
}

/** A name of a shared document in a message: of a null in a root field that may not be null. */
const SHARED_NAME = /\b_r\d+\b/g;

function renamedError(error: GraphQLError, findSentName: (key: string) => string): GraphQLError {
  const [first, ...further] = error.path ?? [];
  if (typeof first !== 'string') return error;
  return new GraphQLError(error.message.replaceAll(SHARED_NAME, findSentName), {
    path: [findSentName(first), ...further],
    originalError: error.originalError ?? null,
    extensions: error.extensions,
  });
}
