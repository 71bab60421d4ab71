import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  isNonNullType,
  Kind,
} from 'graphql';

import type { Caller } from '../../platform/access/caller.ts';
import type { AppError } from '../../platform/errors.ts';
import { operationContext } from './operation/operation-context.ts';

/** Why a caller may not use a root field; null when that is not known, or they may. */
export type RefuseRootField = (
  kind: 'query' | 'mutation' | 'subscription',
  name: string,
  caller: Caller,
) => AppError | null;

interface Request {
  readonly document: DocumentNode;
  readonly operationName?: string | undefined;
  readonly context: { readonly caller: Caller };
}

/**
 * The answer to an operation of which the caller may use no root field, so that it need not be planned: the same as the
 * subgraphs would give. Null for any other, and where fragments or directives decide which fields there are.
 */
export function refusedOperation(
  schema: GraphQLSchema,
  { document, operationName, context }: Request,
  refuse: RefuseRootField,
): ExecutionResult | null {
  const { operation } = operationContext({ schema, document, operationName });
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
  const data: Record<string, null> = {};
  const errors: GraphQLError[] = [];
  for (const selection of operation.selectionSet.selections) {
    if (selection.kind !== Kind.FIELD || (selection.directives ?? []).length > 0) return null;
    const { name, alias = name } = selection;
    const key = alias.value;
    const refusal = refuse(operation.operation, name.value, context.caller);
    if (refusal === null || isNonNullType(fields[name.value]?.type)) return null;
    if (key in data) continue;
    data[key] = null;
    errors.push(new GraphQLError(refusal.message, { path: [key], originalError: refusal }));
  }
  return operation.operation === 'subscription' ? { errors } : { errors, data };
}
