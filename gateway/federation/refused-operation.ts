import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  OperationTypeNode,
  type FragmentDefinitionNode,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';

import type { Caller } from '../../platform/access/caller.ts';
import type { AppError } from '../../platform/errors.ts';
import { publicResult } from '../../platform/graphql/operations/errors.ts';
import type { GraphqlRequest } from '../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { operationContext } from './operation/operation-context.ts';

/** Why a caller may not use a root field; null when that is not known, or they may. */
export type RefuseRootField = (
  kind: 'query' | 'mutation' | 'subscription',
  name: string,
  caller: Caller,
) => AppError | null;

interface Refusals {
  readonly planner: { readonly apiSchema: GraphQLSchema };
  readonly logger: Logger;
  readonly refuseRootField?: RefuseRootField | undefined;
}

/**
 * The answer to an operation of which the caller may use no root field, so that it need not be planned: the same as the
 * subgraphs would give. Null for any other, and where fragments or directives decide which fields there are.
 */
export function refusedOperation(
  document: DocumentNode,
  { operationName, context: { caller } }: Pick<GraphqlRequest, 'operationName' | 'context'>,
  { planner: { apiSchema: schema }, logger, refuseRootField: refuse }: Refusals,
): ExecutionResult | null {
  if (refuse === undefined) return null;
  const { operation } = operationContext({ schema, document, operationName });
  const fields = schema.getRootType(operation.operation)?.getFields() ?? {};
  const data: Record<string, null> = {};
  const errors: GraphQLError[] = [];
  for (const selection of operation.selectionSet.selections) {
    if (selection.kind !== Kind.FIELD || (selection.directives ?? []).length > 0) return null;
    const { name, alias = name } = selection;
    const refusal = refuse(operation.operation, name.value, caller);
    if (refusal === null || isNonNullType(fields[name.value]?.type)) return null;
    if (Object.hasOwn(data, alias.value)) continue;
    data[alias.value] = null;
    errors.push(new GraphQLError(refusal.message, { path: [alias.value], originalError: refusal }));
  }
  const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
  const origin = { logger, traceId: caller.traceId, subgraph: 'gateway' };
  return publicResult(isSubscription ? { errors } : { errors, data }, origin);
}

/** Refuses @skip and @include on the root of a subscription, which could not be planned without a root field. */
export const SubscriptionRootRule: ValidationRule = (context) => ({
  OperationDefinition(operation) {
    if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return;
    const visited = new Set<FragmentDefinitionNode>();
    if (!isConditional(operation.selectionSet, (name) => unvisited(context.getFragment(name), visited)))
      return;
    context.reportError(
      new GraphQLError('@skip and @include are not allowed at the root of a subscription', {
        nodes: [operation],
      }),
    );
  },
});

function isConditional(
  { selections }: SelectionSetNode,
  fragment: (name: string) => FragmentDefinitionNode | undefined,
): boolean {
  return selections.some((selection) => {
    if (selection.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include'))
      return true;
    if (selection.kind === Kind.FIELD) return false;
    const inner =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection.selectionSet
        : fragment(selection.name.value)?.selectionSet;
    return inner !== undefined && isConditional(inner, fragment);
  });
}

// Each fragment once: fragments in a circle (which another rule refuses) must end.
function unvisited(
  fragment: FragmentDefinitionNode | null | undefined,
  visited: Set<FragmentDefinitionNode>,
): FragmentDefinitionNode | undefined {
  if (fragment === null || fragment === undefined || visited.has(fragment)) return undefined;
  visited.add(fragment);
  return fragment;
}
