import {
  type ArgumentNode,
  type FieldNode,
  getNamedType,
  getNullableType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  isCompositeType,
  isInputObjectType,
  isListType,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  valueFromAST,
  valueFromASTUntyped,
} from 'graphql';

import type { OperationContext } from '../federation/operation/operation-context.ts';
import type { CostDirectives, ListSize } from './cost-directives.ts';

type Variables = Readonly<Record<string, unknown>>;

export interface OperationCostOptions {
  readonly directives: CostDirectives;
  /** The length of a list of which nothing is said. */
  readonly listSize: number;
}

const MUTATION_COST = 10;
/** Beyond this nothing more is added up. */
const MOST = 1e12;

interface Walk {
  readonly operation: OperationContext;
  readonly variables: Variables;
  readonly costs: OperationCostOptions;
}

/** In the place of data that is not there yet. */
const ESTIMATE = Symbol('estimate');

/** Counts what operations cost, as Apollo's demand control does: objects and mutations, by their directives. */
export function createOperationCost(costs: OperationCostOptions) {
  const total = (operation: OperationContext, given: Variables, data: unknown): number => {
    const variables = { ...readDefaults(operation), ...given };
    const { schema, operation: definition } = operation;
    const root = schema.getRootType(definition.operation);
    if (!root) return 0;
    const own = definition.operation === OperationTypeNode.MUTATION ? MUTATION_COST : 0;
    return Math.min(
      MOST,
      own + selectionCost(definition.selectionSet, root, data, { operation, variables, costs }),
    );
  };
  return {
    /** Before it runs: lists have the length that their arguments or directives say. */
    estimated: (operation: OperationContext, variables: Variables) => total(operation, variables, ESTIMATE),
    /** Of an answer: lists have the length that they have. */
    actual: (operation: OperationContext, variables: Variables, data: unknown) =>
      data === null || data === undefined ? 0 : total(operation, variables, data),
  };
}

/** What variables are that a request does not give. */
function readDefaults({ operation }: OperationContext): Variables {
  return Object.fromEntries(
    (operation.variableDefinitions ?? []).flatMap(({ variable, defaultValue }) =>
      defaultValue === undefined ? [] : [[variable.name.value, valueFromASTUntyped(defaultValue)]],
    ),
  );
}

/** The length that a field above gives to fields of this selection. */
interface Sized {
  readonly fields: readonly string[];
  readonly size: number;
}

function selectionCost(
  { selections }: SelectionSetNode,
  parent: GraphQLNamedType,
  data: unknown,
  walk: Walk,
  sized: Sized | null = null,
): number {
  const { operation, variables } = walk;
  const { schema, fragments } = operation;
  let cost = 0;
  for (const selection of selections) {
    if (cost >= MOST) return MOST;
    if (isLeftOut(selection.directives, variables)) continue;
    if (selection.kind === Kind.FIELD) {
      cost += fieldCost(selection, parent, data, walk, sized);
      continue;
    }
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
    if (fragment === undefined) continue;
    const name = fragment.typeCondition?.name.value;
    const type = name === undefined ? parent : (schema.getType(name) ?? parent);
    if (data !== ESTIMATE && !fits(data, type)) continue;
    cost += selectionCost(fragment.selectionSet, type, data, walk, sized);
  }
  return cost;
}

/** Whether an object of an answer may be of a type: one that does not say its type is taken for it. */
function fits(data: unknown, type: GraphQLNamedType): boolean {
  const { __typename: typename } = Object(data) as { readonly __typename?: unknown };
  return typename === undefined || typename === type.name || 'getTypes' in type || !('isTypeOf' in type);
}

function fieldCost(
  node: FieldNode,
  parent: GraphQLNamedType,
  data: unknown,
  walk: Walk,
  sized: Sized | null,
): number {
  const { directives } = walk.costs;
  const field =
    'getFields' in parent
      ? (parent.getFields()[node.name.value] as GraphQLField<unknown, unknown>)
      : undefined;
  if (field === undefined) return 0;
  const place = `${parent.name}.${field.name}`;
  const type = getNamedType(field.type);
  const ofType = directives.findWeight(type.name) ?? (isCompositeType(type) ? 1 : 0);
  const weight = directives.findWeight(place) ?? ofType;
  const given = argumentsCost(node, field, place, walk);
  const rule = directives.findListSize(place);
  const inner = (value: unknown, below: Sized | null) =>
    node.selectionSet === undefined ? 0 : selectionCost(node.selectionSet, type, value, walk, below);
  if (data !== ESTIMATE) {
    const values = flat((data as Readonly<Record<string, unknown>>)[(node.alias ?? node.name).value]);
    return values.reduce((sum: number, value) => sum + weight + inner(value, null), given);
  }
  const isList = isListType(getNullableType(field.type));
  const length = rule === undefined ? undefined : estimateLength(rule, node, field, walk);
  const fromAbove = sized?.fields.includes(field.name) === true ? sized.size : undefined;
  const own = rule !== undefined && rule.sizedFields.length === 0 ? length : undefined;
  const times = isList ? (fromAbove ?? own ?? walk.costs.listSize) : 1;
  const below =
    rule !== undefined && rule.sizedFields.length > 0 && length !== undefined
      ? { fields: rule.sizedFields, size: length }
      : null;
  return given + times * (weight + inner(ESTIMATE, below));
}

function flat(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value.flatMap(flat) : [value];
}

/** The largest of the slicing arguments, else the assumed size. */
function estimateLength(
  rule: ListSize,
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  { variables }: Walk,
): number | undefined {
  const sizes = rule.slicingArguments.flatMap((name) => {
    const definition = field.args.find((one) => one.name === name);
    const argument = node.arguments?.find((one) => one.name.value === name);
    const value: unknown =
      argument === undefined || definition === undefined
        ? definition?.defaultValue
        : readValue(argument, definition.type, variables);
    return typeof value === 'number' ? [Math.max(0, value)] : [];
  });
  return sizes.length > 0 ? Math.max(...sizes) : rule.assumedSize;
}

function readValue({ value }: ArgumentNode, type: GraphQLInputType, variables: Variables): unknown {
  return valueFromAST(value, type, { ...variables });
}

function argumentsCost(
  node: FieldNode,
  field: GraphQLField<unknown, unknown>,
  place: string,
  walk: Walk,
): number {
  const { directives } = walk.costs;
  let cost = 0;
  for (const argument of node.arguments ?? []) {
    const definition = field.args.find((one) => one.name === argument.name.value);
    if (definition === undefined) continue;
    const own = directives.findWeight(`${place}(${definition.name})`);
    cost += inputCost(readValue(argument, definition.type, walk.variables), definition.type, directives, own);
  }
  return cost;
}

function inputCost(value: unknown, type: GraphQLInputType, directives: CostDirectives, own?: number): number {
  if (value === undefined || value === null) return 0;
  if (Array.isArray(value))
    return value.reduce((sum: number, one) => sum + inputCost(one, type, directives, own), 0);
  const named = getNamedType(type);
  if (!isInputObjectType(named)) return own ?? directives.findWeight(named.name) ?? 0;
  let cost = own ?? directives.findWeight(named.name) ?? 1;
  const fields = named.getFields();
  for (const [name, one] of Object.entries(value)) {
    const field = fields[name];
    if (field !== undefined)
      cost += inputCost(one, field.type, directives, directives.findWeight(`${named.name}.${name}`));
  }
  return cost;
}

function isLeftOut(directives: FieldNode['directives'], variables: Variables): boolean {
  return (directives ?? []).some(({ name, arguments: given }) => {
    const condition = given?.find((one) => one.name.value === 'if')?.value;
    const holds =
      condition?.kind === Kind.VARIABLE
        ? variables[condition.name.value]
        : condition?.kind === Kind.BOOLEAN && condition.value;
    return (name.value === 'skip' && holds === true) || (name.value === 'include' && holds === false);
  });
}
