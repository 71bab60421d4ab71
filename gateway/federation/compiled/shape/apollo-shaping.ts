import type { FieldSelection, Operation } from '@apollo/federation-internals';
import { computeResponse } from '@apollo/gateway/dist/resultShaping.js';
import { executeSync, type ExecutionResult, GraphQLError, Kind, OperationTypeNode, visit } from 'graphql';

import type { OperationContext } from '../../operation/operation-context.ts';
import type { Merged } from './merged.ts';
import { withRightShapes } from './wrong-shapes.ts';

/**
 * Apollo's own way from the merged data to the answer: null propagation, `valueCompletion`, introspection. Slow and always
 * right: whatever is not as the schema promises goes through here. A deep import; shape.test.ts holds it in place.
 */
export function apolloShape(model: Operation, operation: OperationContext, merged: Merged): ExecutionResult {
  const { variables } = merged;
  const { data: input, errors: misshapen } = withRightShapes(model, merged.data);
  const errors = [...merged.errors, ...misshapen];
  try {
    const shaped = computeResponse({
      operation: model,
      variables,
      input,
      introspectionHandling: (field) => introspect(operation, field, variables),
    });
    const data = shaped.data ?? null;
    if (errors.length > 0) return { errors, data };
    return shaped.errors.length > 0 ? { extensions: { valueCompletion: shaped.errors }, data } : { data };
  } catch (thrown) {
    return { errors: [asGraphqlError(thrown)] };
  }
}

function asGraphqlError(thrown: unknown): GraphQLError {
  if (thrown instanceof GraphQLError) return thrown;
  if (thrown instanceof Error) return new GraphQLError(thrown.message, { originalError: thrown });
  return new GraphQLError('Unexpected error during query plan execution');
}

/** The answer of `__schema` or `__type`, from the schema that callers see. */
function introspect(
  { schema, operation }: OperationContext,
  field: FieldSelection,
  variableValues: Merged['variables'],
): unknown {
  const selection = field.expandFragments().toSelectionNode();
  const used = new Set<string>();
  visit(selection, { Variable: ({ name }) => void used.add(name.value) });
  const variableDefinitions = (operation.variableDefinitions ?? []).filter(({ variable }) =>
    used.has(variable.name.value),
  );
  const selectionSet = { kind: Kind.SELECTION_SET, selections: [selection] } as const;
  const { data, errors } = executeSync({
    schema,
    rootValue: {},
    variableValues,
    document: {
      kind: Kind.DOCUMENT,
      definitions: [
        {
          kind: Kind.OPERATION_DEFINITION,
          operation: OperationTypeNode.QUERY,
          variableDefinitions,
          selectionSet,
        },
      ],
    },
  });
  if (errors !== undefined || data === null || data === undefined) {
    throw new AggregateError(errors ?? [], 'introspection failed');
  }
  return data[selection.alias?.value ?? selection.name.value];
}
