import type { PlanNode, QueryPlan, SubscriptionNode } from '@apollo/query-planner';
import { GraphQLError, Kind, type SelectionSetNode } from 'graphql';

import type { OperationContext } from './operation-context.ts';

/** Refuses an operation whose plan leaves out a root field: Apollo's planner does so where no way leads to what is asked of it, without a word. */
export function refuseUnplanned({ operation, fragments }: OperationContext, { node }: QueryPlan): void {
  const planned = new Set<string>();
  if (node !== undefined) collectPlanned(node, planned);
  const missing = listResponseNames(operation.selectionSet, fragments).find((name) => !planned.has(name));
  if (missing === undefined) return;
  throw new GraphQLError(`no subgraph can give what is asked of "${missing}"`, {
    path: [missing],
    extensions: { code: 'BAD_USER_INPUT' },
  });
}

/** Root members that are fetched whatever the variables are. */
function listResponseNames(
  set: SelectionSetNode,
  fragments: OperationContext['fragments'],
): readonly string[] {
  return set.selections.flatMap((one) => {
    if ((one.directives ?? []).length > 0) return [];
    if (one.kind === Kind.FIELD)
      return one.name.value.startsWith('__') ? [] : [(one.alias ?? one.name).value];
    const inner = one.kind === Kind.INLINE_FRAGMENT ? one : fragments[one.name.value];
    return inner === undefined ? [] : listResponseNames(inner.selectionSet, fragments);
  });
}

function collectPlanned(node: PlanNode | SubscriptionNode, into: Set<string>): void {
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      for (const one of node.nodes) collectPlanned(one, into);
      return;
    case 'Subscription':
      collectPlanned(node.primary, into);
      return;
    case 'Condition':
      if (node.ifClause !== undefined) collectPlanned(node.ifClause, into);
      if (node.elseClause !== undefined) collectPlanned(node.elseClause, into);
      return;
    case 'Defer':
      for (const { node: one } of [node.primary, ...node.deferred])
        if (one !== undefined) collectPlanned(one, into);
      return;
    case 'Fetch':
      for (const definition of node.operationDocumentNode?.definitions ?? [])
        if (definition.kind === Kind.OPERATION_DEFINITION) collectNames(definition.selectionSet, into);
  }
}

function collectNames({ selections }: SelectionSetNode, into: Set<string>): void {
  for (const one of selections) {
    if (one.kind === Kind.FIELD) into.add((one.alias ?? one.name).value);
    else if (one.kind === Kind.INLINE_FRAGMENT) collectNames(one.selectionSet, into);
  }
}
