import { entitiesField } from '@apollo/subgraph/dist/types.js';
import {
  isObjectType,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
} from 'graphql';
import { toError } from 'graphql/jsutils/toError.js';

import { isPromise } from './run.ts';

/**
 * `_entities` as @apollo/subgraph resolves it, without a promise for each entity: most references are resolved at once.
 * Only its own resolvers are replaced, in schemas of Pothos and of `buildSubgraphSchema`; references to interfaces are left
 * to it.
 */

type Resolve = GraphQLFieldResolver<unknown, unknown>;
type Reference = Readonly<Record<string, unknown>>;
type ResolveReference = (reference: Reference, context: unknown, info: GraphQLResolveInfo) => unknown;

/** The resolver of a field, or what does the same sooner. */
export function quickResolver({ resolve }: GraphQLField<unknown, unknown>): Resolve | undefined {
  return resolve !== undefined && isApolloResolver(resolve) ? resolveEntities : resolve;
}

function isApolloResolver(resolve: Resolve): boolean {
  if (resolve === entitiesField.resolve) return true;
  // `buildSubgraphSchema` makes its resolver anew for each schema: what has its whole text does the same.
  return resolve.name === '_entities' && String(resolve) === BUILT_RESOLVER;
}

const BUILT_RESOLVER =
  '(_source, { representations }, context, info) => (0, types_1.entitiesResolver)({ representations, context, info })';

const resolveEntities: Resolve = (source, values, context, info) => {
  const references = values['representations'] as readonly Reference[];
  const types = references.map(({ __typename: name }) => info.schema.getType(String(name)));
  if (!types.every(isObjectType)) return entitiesField.resolve?.(source, values, context, info);
  return references.map((reference, index) => {
    const type = types[index] as GraphQLObjectType;
    const resolveReference = findReferenceResolver(type);
    try {
      const found = resolveReference === undefined ? reference : resolveReference(reference, context, info);
      if (!isPromise(found)) return named(found, type.name);
      return found.then((there) => named(there, type.name));
    } catch (thrown) {
      // Of this entity alone: with @apollo/subgraph the whole list would fail.
      return toError(thrown);
    }
  });
};

function findReferenceResolver({ extensions }: GraphQLObjectType): ResolveReference | undefined {
  const { apollo } = extensions as { apollo?: { subgraph?: { resolveReference?: ResolveReference } } };
  return apollo?.subgraph?.resolveReference;
}

/** An entity that says its type, which the union `_Entity` is resolved by. */
function named(entity: unknown, name: string): unknown {
  if (typeof entity !== 'object' || entity === null) return entity;
  if ('__typename' in entity && entity.__typename !== name) return { ...entity, __typename: name };
  // Not enumerable, so that the entity's owner does not find it among its members.
  return Object.defineProperty(entity, '__typename', { value: name });
}
