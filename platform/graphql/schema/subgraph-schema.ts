import { EntityType, entitiesField, serviceField } from '@apollo/subgraph/dist/types.js';
import { hasResolvableKey } from '@pothos/plugin-federation';
import {
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLUnionType,
  isObjectType,
  lexicographicSortSchema,
} from 'graphql';

import { once } from '../../once.ts';

/** The specification of federation that the subgraphs keep to. */
const LINK_URL = 'https://specs.apollo.dev/federation/v2.6';

/** What is used of a Pothos builder with the federation plugin. */
interface FederatedBuilder {
  toSchema(options: { readonly sortSchema: boolean }): GraphQLSchema;
  toSubGraphSchema(options: { readonly linkUrl: string }): GraphQLSchema;
}

/**
 * The executable schema of a subgraph, with the fields that federation adds to its queries. The plugin's own
 * `toSubGraphSchema` builds everything twice and prints the SDL at once, which is 0.4 s of a start; here the SDL is printed
 * by it when a router first asks for it.
 */
export function subgraphSchema(builder: FederatedBuilder): GraphQLSchema {
  const schema = builder.toSchema({ sortSchema: false });
  const query = schema.getQueryType();
  if (query == null) throw new Error('the subgraph has no queries');
  const types = Object.values(schema.getTypeMap()).filter((type) => type !== query);
  const entities = new GraphQLUnionType({
    ...EntityType.toConfig(),
    types: types.filter(isObjectType).filter((type) => hasResolvableKey(type)),
  });
  const sdl = once(() => printSdl(builder));
  const federated = new GraphQLObjectType({
    ...query.toConfig(),
    fields: {
      ...query.toConfig().fields,
      _entities: { ...entitiesField, type: new GraphQLNonNull(new GraphQLList(entities)) },
      _service: { ...serviceField, resolve: () => ({ sdl: sdl() }) },
    },
  });
  return lexicographicSortSchema(
    new GraphQLSchema({ ...schema.toConfig(), query: federated, types: [...types, federated] }),
  );
}

function printSdl(builder: FederatedBuilder): string {
  const service = builder.toSubGraphSchema({ linkUrl: LINK_URL }).getQueryType()?.getFields()['_service'];
  const resolve = service?.resolve as (() => { readonly sdl: string }) | undefined;
  if (resolve === undefined) throw new Error('the federation plugin made no _service');
  return resolve().sdl;
}
