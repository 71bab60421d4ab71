import {
  isEnumType,
  isInputObjectType,
  isObjectType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

/** The types, fields, arguments and values of a subgraph's schema that have no description. */
export function undescribed(schema: GraphQLSchema): string[] {
  const ours = Object.values(schema.getTypeMap()).filter(
    ({ name }) => !/^_|^federation__|^link__|^(String|Int|Float|Boolean|ID)$/.test(name),
  );
  return ours.flatMap(undescribedIn).filter((name) => !name.startsWith('Query._'));
}

function undescribedIn(type: GraphQLNamedType): string[] {
  const missing = type.description ? [] : [type.name];
  if (isObjectType(type)) {
    for (const field of Object.values(type.getFields())) {
      if (!field.description) missing.push(`${type.name}.${field.name}`);
      for (const argument of field.args) {
        if (!argument.description) missing.push(`${type.name}.${field.name}(${argument.name})`);
      }
    }
  }
  if (isInputObjectType(type)) {
    for (const field of Object.values(type.getFields()))
      if (!field.description) missing.push(`${type.name}.${field.name}`);
  }
  if (isEnumType(type)) {
    for (const value of type.getValues()) if (!value.description) missing.push(`${type.name}.${value.name}`);
  }
  return missing;
}
