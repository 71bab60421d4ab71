import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse, type GraphQLSchema } from 'graphql';

/**
 * A shop of four subgraphs, and a query that goes through all of them several times: the same users and products at many
 * places, a list of lists, and a field that requires two of another subgraph. 16 fetches, 87 KB.
 */

export const SUBGRAPHS = ['accounts', 'inventory', 'products', 'reviews'] as const;
export type SubgraphName = (typeof SUBGRAPHS)[number];

export const QUERY = `
  fragment User on User { id username name }
  fragment Review on Review { id body }
  fragment Product on Product { inStock name price shippingEstimate upc weight }
  query Shop($top: Int!) {
    users {
      ...User
      reviews { ...Review product { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } } }
    }
    topProducts(first: $top) {
      ...Product
      alike { ...Product }
      reviews { ...Review author { id reviews { ...Review product { ...Product } } } }
    }
  }`;
export const VARIABLES = { top: 5 };

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@external", "@requires"])`;

const TYPES: Readonly<Record<SubgraphName, string>> = {
  accounts: `${LINK}
    type Query { users: [User] }
    type User @key(fields: "id") { id: ID! name: String username: String }`,
  inventory: `${LINK}
    type Product @key(fields: "upc") {
      upc: String! weight: Int @external price: Int @external
      inStock: Boolean shippingEstimate: Int @requires(fields: "price weight")
    }`,
  products: `${LINK}
    type Query { topProducts(first: Int = 5): [Product] }
    type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int alike: [[Product]] }`,
  reviews: `${LINK}
    type Review @key(fields: "id") { id: ID! body: String author: User product: Product }
    type User @key(fields: "id") { id: ID! reviews: [Review] }
    type Product @key(fields: "upc") { upc: String! reviews: [Review] }`,
};

const USERS = [
  'Uri Goldshtein',
  'Dotan Simha',
  'Kamil Kisiela',
  'Arda Tanrikulu',
  'Gil Gardosh',
  'Laurin Quast',
];
const PRODUCTS = ['Table', 'Couch', 'Glass', 'Chair', 'TV', 'Lamp', 'Grill', 'Fridge', 'Sofa'];

const product = (at: number) => ({
  upc: String(at + 1),
  name: PRODUCTS[at],
  price: 100 * (at + 1) + at,
  weight: 50 * (at + 2),
});
const user = (at: number) => ({ id: String(at + 1), name: USERS[at], username: `user-${at + 1}` });

/** How many products each user wrote about. */
const REVIEWS = 4;

const REVIEWS_WITH_AUTHORS = Array.from({ length: USERS.length * REVIEWS }, (_none, at) => ({
  id: String(at + 1),
  body: `Review number ${at + 1}: it came in time, as was ordered.`,
  author: { id: String(Math.floor(at / REVIEWS) + 1) },
  product: { upc: String(((at * 4) % 7) + 1) },
}));

interface Upc {
  readonly upc: string;
}
interface Id {
  readonly id: string;
}

const RESOLVERS = {
  accounts: {
    Query: { users: () => USERS.map((_name, at) => user(at)) },
    User: { __resolveReference: ({ id }: Id) => user(Number(id) - 1) },
  },
  inventory: {
    Product: {
      __resolveReference: (reference: Upc) => reference,
      inStock: ({ upc }: Upc) => Number(upc) % 3 !== 0,
      shippingEstimate: ({ price, weight }: { readonly price: number; readonly weight: number }) =>
        price > 500 ? 0 : weight / 2,
    },
  },
  products: {
    Query: {
      topProducts: (_none: unknown, { first }: { readonly first: number }) =>
        PRODUCTS.slice(0, first).map((_name, at) => product(at)),
    },
    Product: {
      __resolveReference: ({ upc }: Upc) => product(Number(upc) - 1),
      alike: ({ upc }: Upc) =>
        [1, 2].map((row) => [2, 4].map((more) => product((Number(upc) + row * more) % PRODUCTS.length))),
    },
  },
  reviews: {
    Review: { __resolveReference: ({ id }: Id) => REVIEWS_WITH_AUTHORS[Number(id) - 1] },
    User: { reviews: ({ id }: Id) => REVIEWS_WITH_AUTHORS.filter(({ author }) => author.id === id) },
    Product: {
      reviews: ({ upc }: Upc) => REVIEWS_WITH_AUTHORS.filter((review) => review.product.upc === upc),
    },
  },
};

/** The schema of one subgraph, as any federated subgraph has it. */
export function buildSchemaFor(name: SubgraphName): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(TYPES[name]), resolvers: RESOLVERS[name] });
}

/** Their supergraph. */
export function composeSupergraph(urls: Readonly<Record<SubgraphName, string>>): string {
  const composed = composeServices(
    SUBGRAPHS.map((name) => ({ name, url: urls[name], typeDefs: parse(TYPES[name]) })),
  );
  if (composed.errors !== undefined)
    throw new AggregateError(composed.errors, 'the supergraph does not compose');
  return composed.supergraphSdl;
}
