import {
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLInt,
  GraphQLString,
  isEnumType,
  isLeafType,
  isNonNullType,
  type GraphQLLeafType,
  type GraphQLOutputType,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

/** Turns what a resolver returned into what the response has. */
export type Serialize = (value: unknown) => unknown;

const MAX_INT = 2_147_483_647;
const MIN_INT = -2_147_483_648;

/** The serialisation of a leaf type. */
export function createSerializer(type: GraphQLLeafType): Serialize {
  const quick = quickCompleter(type) ?? (() => undefined);
  return (value) => {
    const known = quick(value);
    if (known !== undefined) return known;
    const serialized = type.serialize(value);
    if (serialized !== null && serialized !== undefined) return serialized;
    throw new Error(
      `Expected \`${inspect(type)}.serialize(${inspect(value)})\` to return non-nullable value, returned: ${inspect(serialized)}`,
    );
  };
}

/**
 * A leaf's value from what its object has: undefined unless it can be said at once and without any doubt (it is no
 * promise, function or error, it fits, and it is not null where it must not be).
 */
export type LeafCompleter = (value: unknown) => unknown;

/** The quick completion of a leaf type, with or without null; null for any other type. */
export function leafCompleter(type: GraphQLOutputType): LeafCompleter | null {
  const isNullable = !isNonNullType(type);
  const named = isNonNullType(type) ? type.ofType : type;
  if (!isLeafType(named)) return null;
  const quick = quickCompleter(named);
  if (quick === null || !isNullable) return quick;
  return (value) => (value === null || value === undefined ? null : quick(value));
}

function quickCompleter(type: GraphQLLeafType): LeafCompleter | null {
  switch (type) {
    case GraphQLString:
    case GraphQLID:
      return (value) => (typeof value === 'string' ? value : undefined);
    case GraphQLInt:
      return (value) => (isInt(value) ? value : undefined);
    case GraphQLFloat:
      return (value) => (Number.isFinite(value) ? value : undefined);
    case GraphQLBoolean:
      return (value) => (typeof value === 'boolean' ? value : undefined);
    default: {
      if (!isEnumType(type)) return null;
      const names = new Map(type.getValues().map(({ name, value }) => [value as unknown, name]));
      return (value) => names.get(value);
    }
  }
}

/** Whether GraphQL's Int can say a value. */
export function isInt(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) <= MAX_INT && (value as number) >= MIN_INT;
}
