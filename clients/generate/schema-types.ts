import {
  getNamedType,
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isEnumType,
  isInputObjectType,
  isUnionType,
} from 'graphql';

import { argumentsOf, type Selection, type Start } from './selection.ts';

/** The types that the clients need, each once and by name. */
export interface NeededTypes {
  readonly enums: readonly GraphQLEnumType[];
  readonly inputs: readonly GraphQLInputObjectType[];
  /** Unions by name with the names of their members. */
  readonly unions: readonly { readonly name: string; readonly members: readonly string[] }[];
}

/** What starts and selections need, and what those need themselves. */
export function neededTypes(
  schema: GraphQLSchema,
  starts: readonly Start[],
  selection: Selection,
): NeededTypes {
  const seen = new Map<string, GraphQLNamedType>();
  const take = (type: GraphQLNamedType) => {
    if (seen.has(type.name)) return;
    seen.set(type.name, type);
    if (isInputObjectType(type))
      for (const field of Object.values(type.getFields())) take(getNamedType(field.type));
  };
  for (const start of starts) for (const { type } of argumentsOf(start)) take(getNamedType(type));
  for (const field of [...selection.values()].flat()) take(getNamedType(field.type));
  for (const name of ['ChatInput', 'TaskFilter']) {
    const type = schema.getType(name);
    if (type) take(type);
  }
  const types = [...seen.values()].toSorted((one, other) => one.name.localeCompare(other.name));
  return {
    enums: types.filter(isEnumType),
    inputs: types.filter(isInputObjectType),
    unions: types
      .filter(isUnionType)
      .map((union) => ({ name: union.name, members: union.getTypes().map(({ name }) => name) })),
  };
}
