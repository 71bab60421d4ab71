import {
  type FieldNode,
  getArgumentValues,
  GraphQLError,
  type GraphQLField,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type ValueNode,
} from 'graphql';

import type { CoercedArguments, Run } from './run.ts';

type Field = GraphQLField<unknown, unknown>;

/** Reads the arguments of a field in a run: coerced once, an object of its own for each call. */
export function argumentReader(
  definition: Field,
  node: FieldNode,
  nextNumber: () => number,
): (run: Run) => Record<string, unknown> {
  if (definition.args.length === 0) return () => ({});
  const number = nextNumber();
  const fromVariables = variablesReader(definition, node);
  return (run) => {
    const { values, error } = (run.coercedArguments[number] ??=
      fromVariables(run) ?? coerced(definition, node, run));
    if (values === undefined) throw error;
    return { ...values };
  };
}

/** Arguments that are all variables with a value: these have been coerced. Null where graphql-js has more to say. */
function variablesReader(
  { args }: Field,
  { arguments: given = [] }: FieldNode,
): (run: Run) => CoercedArguments | null {
  const variables = new Map<string, string>();
  for (const { name, value } of given) {
    if (value.kind === Kind.VARIABLE) variables.set(name.value, value.name.value);
  }
  // One that is not given may have a default, or be missed.
  const isPlain = variables.size === args.length && given.length === args.length;
  if (!isPlain) return () => null;
  const pairs = args.map(({ name }) => [name, variables.get(name) ?? ''] as const);
  return ({ variableValues }) => {
    const values: Record<string, unknown> = {};
    for (const [name, variable] of pairs) {
      const value = variableValues[variable];
      if (value === undefined || value === null) return null;
      values[name] = value;
    }
    return { values };
  };
}

function coerced(definition: Field, node: FieldNode, run: Run): CoercedArguments {
  try {
    return { values: getArgumentValues(definition, node, run.variableValues) };
  } catch (error) {
    return { error: reasoned(error, definition, node) };
  }
}

function reasoned(error: unknown, { args }: Field, node: FieldNode): unknown {
  return (node.arguments ?? []).reduce((found, { name, value }) => {
    const argument = args.find((one) => one.name === name.value);
    return argument === undefined ? found : withReason(found, value, argument.type);
  }, error);
}

/**
 * The error of an argument with the reason of a scalar of ours added: "... has invalid value ...; a DateTime is ...". graphql-js
 * gives the reason for variables only. The same error where no scalar refuses the literal.
 */
function withReason(error: unknown, literal: ValueNode | undefined, type: GraphQLInputType): unknown {
  if (!(error instanceof GraphQLError) || literal === undefined || error.nodes?.[0] !== literal) return error;
  const reason = findRefusal(literal, type);
  if (reason === null) return error;
  return new GraphQLError(`${error.message.replace(/\.$/, '')}; ${reason}`, { nodes: error.nodes });
}

/** Why the first scalar in a literal refuses it. */
function findRefusal(literal: ValueNode, type: GraphQLInputType): string | null {
  if (literal.kind === Kind.VARIABLE || literal.kind === Kind.NULL) return null;
  if (isNonNullType(type)) return findRefusal(literal, type.ofType);
  if (isListType(type)) {
    const items = literal.kind === Kind.LIST ? literal.values : [literal];
    return findFirst(items, (item) => findRefusal(item, type.ofType));
  }
  if (isInputObjectType(type)) {
    if (literal.kind !== Kind.OBJECT) return null;
    const members = type.getFields();
    return findFirst(literal.fields, ({ name, value }) => {
      const member = members[name.value];
      const reason = member === undefined ? null : findRefusal(value, member.type);
      return reason === null ? null : `${name.value}: ${reason}`;
    });
  }
  // What is wrong with the others is found before anything runs.
  if (!isScalarType(type) || isSpecifiedScalarType(type)) return null;
  try {
    type.parseLiteral(literal);
    return null;
  } catch (error) {
    return error instanceof GraphQLError ? error.message : null;
  }
}

function findFirst<Item>(items: readonly Item[], findReason: (item: Item) => string | null): string | null {
  for (const item of items) {
    const reason = findReason(item);
    if (reason !== null) return reason;
  }
  return null;
}
