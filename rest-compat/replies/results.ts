import type { ExecutionResult, GraphQLError } from 'graphql';

import { AppError, type Problem } from '../../platform/errors.ts';
import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';
import { type Immutable, type Operation, printDocument } from '../documents/graphql.ts';
import { isKnownCode } from './failures.ts';

/** Results of GraphQL: their data, or the AppError that their first error stands for. */

/** Where documents are run, and for whom. */
export interface Execution {
  readonly executor: GraphqlExecutor;
  readonly context: RequestContext;
}

/** Runs a query or a mutation. Throws its first error as an AppError. */
export async function runDocument<Data, Variables extends object>(
  { executor, context }: Pick<Execution, 'context'> & { readonly executor: Pick<GraphqlExecutor, 'execute'> },
  document: Operation<Data, Variables>,
  variables: Immutable<Variables>,
): Promise<Immutable<Data>> {
  const request = { query: printDocument(document), variables: { ...(variables as object) }, context };
  return requireData(await executor.execute(request)) as Immutable<Data>;
}

/** The data of a result. Throws its first error as an AppError with the code it carries (unknown ones: INTERNAL). */
export function requireData(result: ExecutionResult): object {
  const [error] = result.errors ?? [];
  if (error !== undefined) throw toAppError(error);
  if (result.data === null || result.data === undefined) {
    throw new AppError('INTERNAL', 'a GraphQL result without data and without errors');
  }
  return result.data;
}

function toAppError(error: GraphQLError): AppError {
  const { code, retryAfter, field, problems } = error.extensions;
  return new AppError(isKnownCode(code) ? code : 'INTERNAL', error.message, {
    cause: error,
    ...(typeof retryAfter === 'number' ? { retryAfter } : {}),
    ...(typeof field === 'string' ? { field } : {}),
    ...(Array.isArray(problems) ? { problems: problems.filter(isProblem) } : {}),
  });
}

/** Results may come from another process, so their form is checked. */
function isProblem(value: unknown): value is Problem {
  const { field, message } = Object(value) as Readonly<Record<string, unknown>>;
  return typeof field === 'string' && typeof message === 'string';
}
