import type { GraphQLError } from 'graphql';

import { codedError } from '../../platform/graphql/operations/errors.ts';

/** The limits of documents; callers see the name as `extensions.limit`. */
export type LimitName =
  | 'query-length'
  | 'tokens'
  | 'nesting'
  | 'operations'
  | 'depth'
  | 'aliases'
  | 'root-fields'
  | 'fields'
  | 'introspection-depth'
  | 'cost'
  | 'batch'
  | 'concurrent-operations';

/** The error of a document over a limit: QUERY_REFUSED with the limit's name, what is allowed and what was found. */
export function refusal(limit: LimitName, allowed: number, found: number | string): GraphQLError {
  const message = `refused before execution: ${limit} is ${found}, at most ${allowed} is allowed`;
  return codedError('QUERY_REFUSED', message, { limit, allowed, found });
}
