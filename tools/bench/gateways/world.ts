import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { type GraphQLSchema, parse } from 'graphql';

/** The shop of the public benchmark of gateways (graphql-hive/graphql-gateways-benchmark): four subgraphs, and its query. */

export type ShopName = keyof typeof TYPES;

export const QUERY = `fragment User on User { id username name }
fragment Review on Review { id body }
fragment Product on Product { inStock name price shippingEstimate upc weight }
query TestQuery {
  users { ...User reviews { ...Review product { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } } } }
  topProducts { ...Product reviews { ...Review author { ...User reviews { ...Review product { ...Product } } } } }
}`;

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6",
  import: ["@key", "@external", "@requires", "@provides", "@shareable"])`;

const TYPES = {
  accounts: `${LINK}
    type User @key(fields: "id") { id: ID! name: String username: String @shareable birthday: Int }
    type Query { me: User user(id: ID!): User users: [User] }`,
  inventory: `${LINK}
    type Product @key(fields: "upc") {
      upc: String! weight: Int @external price: Int @external inStock: Boolean
      shippingEstimate: Int @requires(fields: "price weight")
    }`,
  products: `${LINK}
    type Product @key(fields: "upc") { upc: String! name: String price: Int weight: Int }
    type Query { topProducts(first: Int = 5): [Product] }`,
  reviews: `${LINK}
    type Review @key(fields: "id") { id: ID! body: String product: Product author: User @provides(fields: "username") }
    type User @key(fields: "id") { id: ID! username: String @external reviews: [Review] }
    type Product @key(fields: "upc") { upc: String! reviews: [Review] }`,
} as const;

const NAMES = ['Uri', 'Dotan', 'Kamil', 'Arda', 'Gil', 'Laurin'];
const USERS = NAMES.map((name, index) => ({
  id: String(index + 1),
  name: `${name} of the users`,
  username: name.toLowerCase(),
  birthday: 1_234_567_890,
}));

const PRODUCTS = [
  ['Table', 899, 100],
  ['Couch', 1299, 1000],
  ['Glass', 15, 20],
  ['Chair', 499, 100],
  ['TV', 1299, 1000],
  ['Lamp', 6999, 300],
].map(([name, price, weight], index) => ({ upc: String(index + 1), name, price, weight }));

/** Bodies as long as those of the benchmark, about 300 characters. */
const BODY = 'A review says what somebody thinks of a product, at some length, and repeats itself. '.repeat(
  4,
);
const REVIEWS = ['1', '1', '1', '1', '2', '2', '2', '2', '3', '4', '4'].map((upc, index) => ({
  id: String(index + 1),
  body: `${index}: ${BODY}`,
  product: { upc },
}));

interface Key {
  readonly id: string;
  readonly upc: string;
}

const AUTHOR = { id: '1', username: 'uri' };

const RESOLVERS = {
  accounts: {
    User: { __resolveReference: ({ id }: Key) => USERS.find((user) => user.id === id) },
    Query: { me: () => USERS[0], users: () => USERS },
  },
  inventory: {
    Product: {
      __resolveReference: (given: Key) => ({ ...given, inStock: Number(given.upc) % 2 === 1 }),
      shippingEstimate: ({ price, weight }: { price: number; weight: number }) =>
        price > 1000 ? 0 : Math.floor(weight / 2),
    },
  },
  products: {
    Product: { __resolveReference: ({ upc }: Key) => PRODUCTS.find((product) => product.upc === upc) },
    Query: { topProducts: (_: unknown, { first }: { first: number }) => PRODUCTS.slice(0, first) },
  },
  reviews: {
    Review: {
      __resolveReference: ({ id }: Key) => REVIEWS.find((review) => review.id === id),
      author: () => AUTHOR,
    },
    User: {
      __resolveReference: (given: Key) => given,
      reviews: () => REVIEWS.slice(0, 2),
    },
    Product: {
      __resolveReference: (given: Key) => given,
      reviews: ({ upc }: Key) => REVIEWS.filter(({ product }) => product.upc === upc),
    },
  },
};

export const SHOP = Object.keys(TYPES) as readonly ShopName[];

/** The schema of one of the four. */
export function buildSchemaFor(name: ShopName): GraphQLSchema {
  return buildSubgraphSchema({ typeDefs: parse(TYPES[name]), resolvers: RESOLVERS[name] });
}

/** Their supergraph, below one address. */
export function shopSupergraph(origin: string): string {
  return compose(SHOP.map((name) => ({ name, url: `${origin}/${name}`, types: TYPES[name] })));
}

export const MANY = 50;
export const MANY_QUERY = '{ thing7 { id part7 } }';

/** A supergraph of many subgraphs that all know a type of each other: what a cold start has to read. */
export function largeSupergraph(origin: string): string {
  const types = (index: number): string => {
    const fields = Array.from({ length: 20 }, (_, at) => `field${at}(size: Int = 3): String`).join(' ');
    return `${LINK}
      type Thing${index} @key(fields: "id") { id: ID! part${index}: String ${fields} next: Thing${(index + 1) % MANY} }
      type Thing${(index + 1) % MANY} @key(fields: "id") { id: ID! more${index}: String }
      type Query { thing${index}: Thing${index} things${index}(first: Int): [Thing${index}!] }`;
  };
  return compose(
    Array.from({ length: MANY }, (_, index) => ({
      name: `many${index}`,
      url: `${origin}/many`,
      types: types(index),
    })),
  );
}

function compose(
  services: readonly { readonly name: string; readonly url: string; readonly types: string }[],
): string {
  const composed = composeServices(services.map(({ types, ...one }) => ({ ...one, typeDefs: parse(types) })));
  if (composed.errors !== undefined)
    throw new AggregateError(composed.errors, String(composed.errors[0]?.message));
  return composed.supergraphSdl;
}
