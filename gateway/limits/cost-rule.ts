import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLNamedType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

import { refusal } from './refusal.ts';

/** Arguments for the number of entries of a field. */
export const SIZE_ARGUMENTS = ['first', 'last', 'limit', 'pageSize'];
/** Assumed size when a variable gives it: documents are validated before their variables are known. */
const SIZE_OF_VARIABLE = 100;
/** Assumed length of a list whose field takes no size. */
const SIZE_OF_LIST = 5;

/**
 * Refuses costly operations: each field costs 1, and the selection below a list costs its sum times the length of the
 * list. A validation rule, because it needs the schema.
 */
export function createCostRule(maxCost: number): ValidationRule {
  return (context) => {
    const costOf = createCost(context);
    return {
      OperationDefinition(operation) {
        const root = context.getSchema().getRootType(operation.operation);
        if (!root) return;
        const cost = costOf(operation.selectionSet, root, false);
        if (cost > maxCost) context.reportError(refusal('cost', maxCost, cost));
      },
    };
  };
}

type Cost = (selectionSet: SelectionSetNode, type: GraphQLNamedType, isSized: boolean) => number;

function createCost(context: ValidationContext): Cost {
  const known = new Map<FragmentDefinitionNode, number>();

  function costOfFragment(name: string, isSized: boolean): number {
    const fragment = context.getFragment(name);
    if (!fragment) return 0;
    const found = known.get(fragment);
    if (found !== undefined) return found;
    known.set(fragment, 0);
    const type = context.getSchema().getType(fragment.typeCondition.name.value);
    const cost = type === undefined ? 0 : costOf(fragment.selectionSet, type, isSized);
    known.set(fragment, cost);
    return cost;
  }

  function costOfField(node: FieldNode, type: GraphQLNamedType, isSized: boolean): number {
    const field = fieldOf(type, node.name.value);
    if (field === undefined || node.selectionSet === undefined) return 1;
    const size = sizeOf(node, field);
    const isList = isListType(getNullableType(field.type));
    // `tasks(first: 50) { edges { ... } }`: the connection has the size, so its list is not counted again.
    const times = size ?? (isList && !isSized ? SIZE_OF_LIST : 1);
    return 1 + times * costOf(node.selectionSet, getNamedType(field.type), size !== undefined && !isList);
  }

  const costOf: Cost = (selectionSet, type, isSized) => {
    let cost = 0;
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) cost += costOfField(selection, type, isSized);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) cost += costOfFragment(selection.name.value, isSized);
      else {
        const name = selection.typeCondition?.name.value;
        const inner = name === undefined ? type : (context.getSchema().getType(name) ?? type);
        cost += costOf(selection.selectionSet, inner, isSized);
      }
    }
    return cost;
  };
  return costOf;
}

function fieldOf(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

function sizeOf(node: FieldNode, field: GraphQLField<unknown, unknown>): number | undefined {
  for (const { name, defaultValue } of field.args) {
    if (!SIZE_ARGUMENTS.includes(name)) continue;
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return Math.max(0, Number(value.value));
    if (value?.kind === Kind.VARIABLE) return SIZE_OF_VARIABLE;
    if (value === undefined && typeof defaultValue === 'number') return defaultValue;
  }
  return undefined;
}
