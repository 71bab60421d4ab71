import {
  GraphQLError,
  type GraphQLInputType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type ValueNode,
} from 'graphql';

/**
 * The error of an argument with the reason of a scalar of ours added: "... has invalid value ...; a DateTime is ...". graphql-js
 * gives the reason for variables only. The same error where no scalar refuses the literal.
 */
export function withReason(error: unknown, literal: ValueNode | undefined, type: GraphQLInputType): unknown {
  if (!(error instanceof GraphQLError) || literal === undefined || error.nodes?.[0] !== literal) return error;
  const reason = refusalOf(literal, type);
  if (reason === null) return error;
  return new GraphQLError(`${error.message.replace(/\.$/, '')}; ${reason}`, { nodes: error.nodes });
}

/** Why the first scalar in a literal refuses it. */
function refusalOf(literal: ValueNode, type: GraphQLInputType): string | null {
  if (literal.kind === Kind.VARIABLE || literal.kind === Kind.NULL) return null;
  if (isNonNullType(type)) return refusalOf(literal, type.ofType);
  if (isListType(type)) {
    const items = literal.kind === Kind.LIST ? literal.values : [literal];
    return firstOf(items, (item) => refusalOf(item, type.ofType));
  }
  if (isInputObjectType(type)) {
    if (literal.kind !== Kind.OBJECT) return null;
    const members = type.getFields();
    return firstOf(literal.fields, ({ name, value }) => {
      const member = members[name.value];
      const reason = member === undefined ? null : refusalOf(value, member.type);
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

function firstOf<Item>(items: readonly Item[], reasonOf: (item: Item) => string | null): string | null {
  for (const item of items) {
    const reason = reasonOf(item);
    if (reason !== null) return reason;
  }
  return null;
}
