import { type FieldNode, getArgumentValues, type GraphQLField, Kind } from 'graphql';

import { withReason } from './literal-reasons.ts';
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
