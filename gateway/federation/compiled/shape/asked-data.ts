import {
  doTypesOverlap,
  getNamedType,
  type GraphQLNamedType,
  isCompositeType,
  Kind,
  type SelectionSetNode,
} from 'graphql';

import { isObject } from '../../../../platform/json.ts';
import type { OperationContext } from '../../operation/operation-context.ts';
import type { Members } from './shapes.ts';

/**
 * The merged data without what an operation does not ask for: keys and requirements that its plan fetches for itself. Where a caller
 * may see a part of an operation only, they may be what is withheld.
 */
export function askedData(data: Members, operation: OperationContext): Members {
  const root = operation.schema.getRootType(operation.operation.operation);
  return root
    ? (onlyAsked(data, [operation.operation.selectionSet], { type: root, operation }) as Members)
    : {};
}

interface Place {
  readonly type: GraphQLNamedType;
  readonly operation: OperationContext;
}

function onlyAsked(value: unknown, sets: readonly SelectionSetNode[], place: Place): unknown {
  if (Array.isArray(value)) return value.map((one: unknown) => onlyAsked(one, sets, place));
  if (!isObject(value)) return value;
  const { operation } = place;
  const { __typename } = value;
  const type = (typeof __typename === 'string' && operation.schema.getType(__typename)) || place.type;
  const asked = new Map<string, AskedField>();
  for (const set of sets) collect(set, { type, operation }, asked);
  // The shape of an abstract type needs its name.
  const kept = Object.entries(value).filter(([name]) => name === '__typename' || asked.has(name));
  return Object.fromEntries(
    kept.map(([name, member]) => {
      const field = asked.get(name);
      if (field?.type === undefined || field.sets.length === 0) return [name, member];
      return [name, onlyAsked(member, field.sets, { type: field.type, operation })];
    }),
  );
}

interface AskedField {
  readonly type: GraphQLNamedType | undefined;
  /** None for what has no members of its own. */
  readonly sets: SelectionSetNode[];
}

/** The fields of an object by their names in the answer, through the fragments that fit its type. */
function collect(set: SelectionSetNode, { type, operation }: Place, asked: Map<string, AskedField>): void {
  const { schema, fragments } = operation;
  for (const selection of set.selections) {
    if (selection.kind !== Kind.FIELD) {
      const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
      const condition = schema.getType(fragment?.typeCondition?.name.value ?? type.name);
      if (fragment === undefined || !isCompositeType(condition) || !isCompositeType(type)) continue;
      if (doTypesOverlap(schema, condition, type)) collect(fragment.selectionSet, { type, operation }, asked);
      continue;
    }
    const { name, alias = name, selectionSet } = selection;
    const definition = 'getFields' in type ? type.getFields()[name.value] : undefined;
    const named = definition && getNamedType(definition.type);
    const field = asked.get(alias.value) ?? { type: named, sets: [] };
    asked.set(alias.value, field);
    if (selectionSet !== undefined) field.sets.push(selectionSet);
  }
}
