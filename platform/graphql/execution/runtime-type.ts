import {
  GraphQLError,
  isObjectType,
  type FieldNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLSchema,
} from 'graphql';
import { inspect } from 'graphql/jsutils/inspect.js';

/** The field that a value of an abstract type was returned for. */
export interface FieldPlace {
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
