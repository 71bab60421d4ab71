import type { CompositeType, Operation, SelectionSet } from '@apollo/federation-internals';
import type { ExecutionResult } from 'graphql';

import type { OperationContext } from '../../operation/operation-context.ts';
import { apolloShape } from './apollo-shaping.ts';
import { createConditionReader } from './conditions.ts';
import { DEVIATION } from './deviation.ts';
import type { Members, Merged } from './merged.ts';
import { objectShape } from './object-shape.ts';
import type { Shape } from './shapes.ts';

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

  const variantOf = (merged: Merged): Shape | null => {
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
    const shape = variantOf(merged);
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
