import type { FetchNode } from '@apollo/query-planner';
import {
  type FragmentDefinitionNode,
  getNamedType,
  type GraphQLAbstractType,
  type GraphQLCompositeType,
  type GraphQLEnumType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isAbstractType,
  isCompositeType,
  isEnumType,
  isLeafType,
  isObjectType,
  isUnionType,
  Kind,
  type OperationDefinitionNode,
  print,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

import type { OperationContext } from './operation-context.ts';

/**
 * Whether the only fetch of a plan returns exactly what the caller requested: the same fields in the same order, of
 * types without hidden parts, with nothing renamed. Then its result is passed through without shaping, which is most of
 * the gateway's own cost. In doubt the answer is no.
 */
export function isPassThrough(requested: {
  readonly operation: OperationContext;
  readonly fetch: FetchNode;
  readonly supergraphSchema: GraphQLSchema;
}): boolean {
  const { operation, fetch, supergraphSchema } = requested;
  const { outputRewrites, contextRewrites, requires } = fetch;
  if (outputRewrites !== undefined || contextRewrites !== undefined || requires !== undefined) return false;
  const { schema } = operation;
  const definitions = fetch.operationDocumentNode?.definitions ?? [];
  const fetched = definitions.find((definition) => definition.kind === Kind.OPERATION_DEFINITION);
  if (fetched === undefined) return false;
  const fragments = definitions.filter((definition) => definition.kind === Kind.FRAGMENT_DEFINITION);
  const fetchedFragments = Object.fromEntries(fragments.map((fragment) => [fragment.name.value, fragment]));
  const ours = flatText(operation.operation, { schema, supergraphSchema, fragments: operation.fragments });
  return (
    ours !== null && ours === flatText(fetched, { schema, supergraphSchema, fragments: fetchedFragments })
  );
}

interface Reading {
  readonly schema: GraphQLSchema;
  readonly supergraphSchema: GraphQLSchema;
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>;
}

/**
 * The selections of an operation with fragments inlined where that changes nothing; null when it can't pass through.
 */
function flatText({ operation, selectionSet }: OperationDefinitionNode, reading: Reading): string | null {
  const root = reading.schema.getRootType(operation);
  const selections = root == null ? null : flatten(selectionSet, root, reading);
  return selections === null ? null : print({ kind: Kind.SELECTION_SET, selections });
}

function flatten(
  { selections }: SelectionSetNode,
  parent: GraphQLCompositeType,
  reading: Reading,
): SelectionNode[] | null {
  const flat: SelectionNode[] = [];
  for (const selection of selections) {
    // @skip and @include are left to the executor: a plan may place them elsewhere.
    if ((selection.directives ?? []).length > 0) return null;
    const parts = flattenOne(selection, parent, reading);
    if (parts === null) return null;
    flat.push(...parts);
  }
  return flat;
}

function flattenOne(
  selection: SelectionNode,
  parent: GraphQLCompositeType,
  reading: Reading,
): SelectionNode[] | null {
  if (selection.kind === Kind.FIELD) {
    if (selection.name.value === '__typename') return [selection];
    const field = isUnionType(parent) ? undefined : parent.getFields()[selection.name.value];
    const type = getNamedType(field?.type);
    if (type === undefined || !isPlainType(type, reading)) return null;
    if (selection.selectionSet === undefined || !isCompositeType(type)) return [selection];
    const selections = flatten(selection.selectionSet, type, reading);
    return selections && [{ ...selection, selectionSet: { ...selection.selectionSet, selections } }];
  }
  const fragment =
    selection.kind === Kind.INLINE_FRAGMENT ? selection : reading.fragments[selection.name.value];
  const condition = fragment?.typeCondition?.name.value ?? parent.name;
  const type = reading.schema.getType(condition);
  if (fragment === undefined || !isCompositeType(type)) return null;
  const selections = flatten(fragment.selectionSet, type, reading);
  if (selections === null || condition === parent.name) return selections;
  const typeCondition = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: condition } } as const;
  const selectionSet = { kind: Kind.SELECTION_SET, selections } as const;
  return [{ kind: Kind.INLINE_FRAGMENT, typeCondition, selectionSet }];
}

/** Whether every value of a type is visible to callers. */
function isPlainType(type: GraphQLNamedType, { schema, supergraphSchema }: Reading): boolean {
  if (isEnumType(type)) {
    const whole = supergraphSchema.getType(type.name) as GraphQLEnumType;
    return whole.getValues().length === type.getValues().length;
  }
  if (isAbstractType(type)) {
    const whole = supergraphSchema.getType(type.name) as GraphQLAbstractType;
    return supergraphSchema.getPossibleTypes(whole).length === schema.getPossibleTypes(type).length;
  }
  return isLeafType(type) || isObjectType(type);
}
