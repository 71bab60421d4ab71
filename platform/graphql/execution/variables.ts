import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  getVariableValues,
  isEnumType,
  isInputType,
  isListType,
  isNonNullType,
  isScalarType,
  typeFromAST,
  type GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  type VariableDefinitionNode,
} from 'graphql';

import { isInt } from './value-completion.ts';

/** The variables of one request, coerced; or what is wrong with them, in the words of graphql-js. */
export type CoerceVariables = (inputs: Readonly<Record<string, unknown>>) => CoercedVariables;

type CoercedVariables =
  | { readonly coerced: Record<string, unknown>; readonly errors?: undefined }
  | { readonly coerced?: undefined; readonly errors: readonly GraphQLError[] };

/**
 * Compiles the coercion of an operation's variables: scalars, enums and lists of them that fit, or are left out where they
 * may be. Anything else (defaults, input objects, null, whatever does not fit) is left to graphql-js for the whole request, which
 * reports `maxErrors` errors (default: 50, as graphql-js executes).
 */
export function compileVariables(
  schema: GraphQLSchema,
  definitions: readonly VariableDefinitionNode[],
  maxErrors = 50,
): CoerceVariables {
  const variables = definitions.map(({ variable, type: node, defaultValue }) => {
    const type = typeFromAST(schema, node);
    const name = variable.name.value;
    if (!isInputType(type)) return { name, coerce: misfit, isOptional: false };
    const isOptional = defaultValue === undefined && !isNonNullType(type);
    return { name, coerce: coercion(type), isOptional };
  });
  return (inputs) => {
    // Without a prototype: `__proto__` is the name of a variable like any other.
    const coerced = Object.create(null) as Record<string, unknown>;
    for (const { name, coerce, isOptional } of variables) {
      const isGiven = Object.hasOwn(inputs, name);
      if (!isGiven && isOptional) continue;
      const value = isGiven ? coerce(inputs[name]) : MISFIT;
      if (value === MISFIT)
        return withoutPrototype(getVariableValues(schema, definitions, inputs, { maxErrors }));
      coerced[name] = value;
    }
    return { coerced };
  };
}

/** One that is not given is not found in what objects inherit either (`$constructor`). */
function withoutPrototype({ coerced, errors }: ReturnType<typeof getVariableValues>): CoercedVariables {
  return errors === undefined
    ? { coerced: Object.assign(Object.create(null) as Record<string, unknown>, coerced) }
    : { errors };
}

const MISFIT = Symbol('misfit');

/** The coerced value, or MISFIT where graphql-js has more to say. */
type Coerce = (value: unknown) => unknown;

const misfit: Coerce = () => MISFIT;

function coercion(type: GraphQLInputType): Coerce {
  if (isNonNullType(type)) return coercion(type.ofType);
  if (isListType(type)) return listCoercion(coercion(type.ofType));
  if (isEnumType(type)) {
    return (value) => (typeof value === 'string' ? (type.getValue(value)?.value ?? MISFIT) : MISFIT);
  }
  if (!isScalarType(type)) return misfit;
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return (value) => (typeof value === 'string' ? value : MISFIT);
    case GraphQLInt:
      return (value) => (isInt(value) ? value : MISFIT);
    case GraphQLFloat:
      return (value) => (Number.isFinite(value) ? value : MISFIT);
    case GraphQLBoolean:
      return (value) => (typeof value === 'boolean' ? value : MISFIT);
    default:
      return (value) => parsed(type.parseValue, value);
  }
}

function listCoercion(coerce: Coerce): Coerce {
  return (value) => {
    if (!Array.isArray(value)) return MISFIT;
    const coerced: unknown[] = [];
    for (const element of value) {
      const one = coerce(element);
      if (one === MISFIT) return MISFIT;
      coerced.push(one);
    }
    return coerced;
  };
}

function parsed(parseValue: (value: unknown) => unknown, value: unknown): unknown {
  if (value === null || value === undefined) return MISFIT;
  try {
    return parseValue(value) ?? MISFIT;
  } catch {
    return MISFIT;
  }
}
