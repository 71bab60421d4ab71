import { buildSubgraphSchema } from '@apollo/subgraph';
import {
  isAbstractType,
  isObjectType,
  parse,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

import type { Facts } from './facts.ts';
import { hashParts } from './hash.ts';
import { createMadeUpData, type Identity, type MadeUpData } from './made-up-data.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.7", import: ["@key", "@requires",
  "@provides", "@external", "@shareable", "@override", "@inaccessible", "@interfaceObject", "@tag", "@extends"])`;

/** The SDL of a subgraph with its `@link`. */
export function parseTypeDefs(sdl: string) {
  return parse(sdl.includes('@link') ? sdl : `${LINK}\n${sdl}`);
}

/** What the resolvers find in the context of a request, next to what is always there. */
export interface MadeUpContext {
  readonly made: { changes: number };
}

/** How many events each made-up subscription has. */
const EVENTS = 2;

/** A subgraph schema whose resolvers answer with made-up data. */
export function madeUpSchema(from: {
  readonly subgraph: string;
  readonly sdl: string;
  readonly facts: Facts;
}): GraphQLSchema {
  const { subgraph, sdl, facts } = from;
  const typeDefs = parseTypeDefs(sdl);
  const plain = buildSubgraphSchema({ typeDefs });
  const data = createMadeUpData({ subgraph, schema: plain, facts });
  const resolvers = Object.values(plain.getTypeMap())
    .filter(({ name }) => !name.startsWith('_'))
    .map((type) => [type.name, createResolvers(type, plain, data)] as const)
    .filter(([, map]) => map !== null);
  return buildSubgraphSchema({ typeDefs, resolvers: Object.fromEntries(resolvers) as never });
}

function createResolvers(type: GraphQLNamedType, schema: GraphQLSchema, data: MadeUpData): object | null {
  const resolveReference = (representation: Readonly<Record<string, unknown>>) =>
    data.findEntity(type.name, representation);
  if (isAbstractType(type)) {
    return { __resolveType: ({ __typename }: Identity) => __typename, __resolveReference: resolveReference };
  }
  if (!isObjectType(type)) return null;
  const isSubscription = type === schema.getSubscriptionType();
  const isMutation = type === schema.getMutationType();
  const fields = Object.values(type.getFields()).filter(({ name }) => !name.startsWith('_'));
  const map: Record<string, unknown> = {};
  for (const { name, type: fieldType } of fields) {
    const resolve: GraphQLFieldResolver<unknown, MadeUpContext> = (source, given, { made }) => {
      if (isMutation) made.changes += 1;
      const place = {
        parent: type.name,
        field: name,
        type: fieldType,
        arguments: given,
        changes: made.changes,
      };
      const value = data.fieldValue({ ...place, source: source as Identity | undefined });
      return hashParts(type.name, name, value, 'late') % 3 === 0 ? Promise.resolve(value) : value;
    };
    map[name] = isSubscription ? { subscribe: () => events(name), resolve } : resolve;
  }
  if (type !== schema.getQueryType() && !isMutation && !isSubscription) {
    map['__resolveReference'] = resolveReference;
  }
  return map;
}

/** The root values of a subscription's events: each is another one. */
async function* events(name: string): AsyncGenerator<Identity> {
  for (let n = 0; n < EVENTS; n += 1) yield { __typename: name, n };
}
