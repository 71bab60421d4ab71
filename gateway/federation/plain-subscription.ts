import type { FetchNode } from '@apollo/query-planner';
import { getNamedType, isEnumType, isLeafType, isObjectType, Kind, print, TypeInfo, visit } from 'graphql';
import { visitWithTypeInfo } from 'graphql';
import type { GraphQLEnumType, GraphQLOutputType, GraphQLSchema, OperationDefinitionNode } from 'graphql';

import type { OperationContext } from './plans.ts';

/**
 * Whether a subscription that needs one subgraph only gets from it exactly what the caller asked for: the same fields
 * in the same order, of object types, scalars and enums without hidden values, with nothing renamed on the way. Then an
 * event needs no second shaping, which is most of what an event costs.
 */
export function isPlainSubscription(subscription: {
  readonly operation: OperationContext;
  readonly primary: FetchNode;
  readonly supergraphSchema: GraphQLSchema;
}): boolean {
  const { operation, primary, supergraphSchema } = subscription;
  const fetched = primary.operationDocumentNode?.definitions.find(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION,
  );
  if (
    fetched === undefined ||
    primary.outputRewrites !== undefined ||
    primary.contextRewrites !== undefined
  ) {
    return false;
  }
  if (print(fetched.selectionSet) !== print(operation.operation.selectionSet)) return false;
  return hasPlainFields(operation.operation, { schema: operation.schema, supergraphSchema });
}

function hasPlainFields(
  operation: OperationDefinitionNode,
  { schema, supergraphSchema }: { schema: GraphQLSchema; supergraphSchema: GraphQLSchema },
): boolean {
  let isPlain = true;
  const types = new TypeInfo(schema);
  visit(
    operation,
    visitWithTypeInfo(types, {
      Field() {
        isPlain &&= isPlainType(types.getType(), supergraphSchema);
      },
      // Fragments and conditions are shaped by Apollo's executor.
      FragmentSpread() {
        isPlain = false;
      },
      InlineFragment() {
        isPlain = false;
      },
      Directive() {
        isPlain = false;
      },
    }),
  );
  return isPlain;
}

function isPlainType(type: GraphQLOutputType | null | undefined, supergraphSchema: GraphQLSchema): boolean {
  const named = getNamedType(type ?? undefined);
  if (isEnumType(named)) {
    const whole = supergraphSchema.getType(named.name) as GraphQLEnumType;
    return whole.getValues().length === named.getValues().length;
  }
  return isLeafType(named) || isObjectType(named);
}
