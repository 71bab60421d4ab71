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
  GraphQLError,
  isObjectType,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

/** Turns what a resolver returned into what the response has. */
type Serialize = (value: unknown) => unknown;

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
type LeafCompleter = (value: unknown) => unknown;

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

/** The field that a value of an abstract type was returned for. */
interface FieldPlace {
  readonly parentName: string;
  readonly fieldName: string;
  readonly nodes: readonly FieldNode[];
}

/** The object type that an abstract type was resolved to. Throws, in the words of graphql-js, when it is none. */
export function runtimeType(
  name: unknown,
  value: unknown,
  at: { readonly schema: GraphQLSchema; readonly type: GraphQLAbstractType; readonly field: FieldPlace },
): GraphQLObjectType {
  const { schema, type, field } = at;
  const { nodes } = field;
  const place = `${field.parentName}.${field.fieldName}`;
  const must = `Abstract type "${type.name}" must resolve to an Object type at runtime for field "${place}"`;
  if (name === null || name === undefined) {
    const remedy = `Either the "${type.name}" type should provide a "resolveType" function or each possible type should provide an "isTypeOf" function.`;
    throw new GraphQLError(`${must}. ${remedy}`, { nodes });
  }
  if (isObjectType(name)) {
    throw new GraphQLError(
      'Support for returning GraphQLObjectType from resolveType was removed in graphql-js@16.0.0 please return type name instead.',
    );
  }
  if (typeof name !== 'string') {
    throw new GraphQLError(`${must} with value ${inspect(value)}, received "${inspect(name)}".`);
  }
  const resolved = schema.getType(name);
  const was = `Abstract type "${type.name}" was resolved to a`;
  if (resolved === undefined) {
    throw new GraphQLError(`${was} type "${name}" that does not exist inside the schema.`, { nodes });
  }
  if (!isObjectType(resolved)) throw new GraphQLError(`${was} non-object type "${name}".`, { nodes });
  if (!schema.isSubType(type, resolved)) {
    throw new GraphQLError(`Runtime Object type "${name}" is not a possible type for "${type.name}".`, {
      nodes,
    });
  }
  return resolved;
}
