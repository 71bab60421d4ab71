import type { CompositeType, Operation, SelectionSet, FieldSelection } from '@apollo/federation-internals';
import { computeResponse } from '@apollo/gateway/dist/resultShaping.js';
import { type ExecutionResult, executeSync, GraphQLError, Kind, OperationTypeNode, visit } from 'graphql';

import type { OperationContext } from '../../operation/operation-context.ts';
import { objectShape } from './object-shape.ts';
import { createConditionReader, DEVIATION, type Members, type Merged, type Shape } from './shapes.ts';
import { withRightShapes } from './wrong-shapes.ts';

/** Makes the answer of the merged data of a plan. */
export type ResultShaper = (merged: Merged) => ExecutionResult;

/** How many vectors of @skip and @include values have shapes of their own; further ones are shaped by Apollo. */
const MAX_VARIANTS = 64;

/**
 * Compiles the way from the merged data to the answer. The fast way covers data that keeps every promise of the schema,
 * with null only where it may be; anything else (null in non-null, a value of another kind, an unknown `__typename`,
 * introspection, one name for fields of several types) is a deviation, and the whole answer is Apollo's. So null
 * propagation exists once, and it is Apollo's own.
 */
export function compileShaper(model: Operation, operation: OperationContext): ResultShaper {
  const schema = model.schema();
  const readConditions = createConditionReader(model, operation);
  const variants = new Map<string, Shape>();
  const isFast = !asksIntrospection(model.selectionSet);
  let numbers = 0;

  const findVariant = (merged: Merged): Shape | null => {
    const conditions = isFast ? readConditions(merged.variables) : null;
    if (conditions === null) return null;
    const known = variants.get(conditions.key);
    if (known !== undefined || variants.size >= MAX_VARIANTS) return known ?? null;
    const root = schema.schemaDefinition.rootType(model.rootKind) as CompositeType;
    const context = { schema, conditions, nextNumber: () => (numbers += 1) };
    const made = objectShape([model.selectionSet], root, context);
    variants.set(conditions.key, made);
    return made;
  };

  return (merged) => {
    const shape = findVariant(merged);
    if (shape === null) return apolloShape(model, operation, merged);
    const { data: input, errors, isShared } = merged;
    try {
      const data = shape(input, { isShared, done: [] }) as Members;
      return errors.length === 0 ? { data } : { errors, data };
    } catch (thrown) {
      if (thrown !== DEVIATION) throw thrown;
      return apolloShape(model, operation, merged);
    }
  };
}

function asksIntrospection(set: SelectionSet): boolean {
  return set
    .selections()
    .some((selection) =>
      selection.kind === 'FieldSelection'
        ? selection.element.definition.isSchemaIntrospectionField()
        : asksIntrospection(selection.selectionSet),
    );
}

/**
 * Apollo's own way from the merged data to the answer: null propagation, `valueCompletion`, introspection. Slow and always
 * right: whatever is not as the schema promises goes through here. A deep import; shape.test.ts holds it in place.
 */
function apolloShape(model: Operation, operation: OperationContext, merged: Merged): ExecutionResult {
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
