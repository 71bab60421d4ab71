import type { FederatedSource } from './source.ts';

/** Entities that are found by keys of several forms. */

/** One key each, in a chain of three subgraphs and back. */
export const chain: FederatedSource = {
  name: 'chain',
  subgraphs: {
    users: `
      type User @key(fields: "id") { id: ID! name: String! age: Int friends: [User!]! }
      type Query { user(id: ID!): User users(first: Int = 3): [User!]! maybe: [User] }`,
    orders: `
      type User @key(fields: "id") { id: ID! orders(open: Boolean, first: Int! = 2): [Order!]! last: Order }
      type Order @key(fields: "id") { id: ID! total: Float! buyer: User! lines: [Line!]! }
      type Line { count: Int! item: Item }
      type Item @key(fields: "id", resolvable: false) { id: ID! }
      type Query { orders: [Order]! }`,
    items: `
      type Item @key(fields: "id") { id: ID! title: String! price: Float! similar: [Item] sellers: [User!] }
      type User @key(fields: "id") { id: ID! wished: [Item!]! }
      type Query { item(id: ID!): Item items(ids: [ID!]! = ["i-1", "i-2"]): [Item] }`,
  },
};

/** The same entity under keys that not every subgraph knows, so that one is reached by way of another. */
export const severalKeys: FederatedSource = {
  name: 'several keys',
  subgraphs: {
    catalog: `
      type Product @key(fields: "upc") { upc: String! title: String! related: [Product!]! }
      type Query { products: [Product!]! product(upc: String!): Product }`,
    registry: `
      type Product @key(fields: "upc") @key(fields: "id") @key(fields: "sku brand { code }") {
        upc: String! id: ID! sku: Int! brand: Brand! registered: Boolean }
      type Brand @shareable { code: ID! }
      type Query { byId(id: ID!): Product }`,
    stock: `
      type Product @key(fields: "id") { id: ID! inStock: Int! places: [Place] }
      type Place { shelf: String! holds: [Product!] }
      type Query { stocked: [Product]! }`,
    prices: `
      type Product @key(fields: "sku brand { code }") { sku: Int! brand: Brand! price(currency: String): Float cheaper: Product }
      type Brand @shareable { code: ID! }
      type Query { cheapest: Product! }`,
  },
};

/** Keys of several fields and of fields of fields, in lists of lists. */
export const compoundKeys: FederatedSource = {
  name: 'compound keys',
  subgraphs: {
    people: `
      type Member @key(fields: "id team { id office { code } }") { id: ID! team: Team! name: String! boss: Member }
      type Team @key(fields: "id office { code }") { id: ID! office: Office! motto: String members: [[Member!]!]! }
      type Office @shareable { code: String! }
      type Query { members: [Member!]! grid: [[Member]]! team: Team }`,
    payroll: `
      type Member @key(fields: "id team { id office { code } }") { id: ID! team: Team! salary: Int! deputies: [Member] }
      type Team @key(fields: "id office { code }") { id: ID! office: Office! budget: Float }
      type Office @shareable { code: String! }
      type Query { payroll: [[Team!]!] }`,
    buildings: `
      type Team @key(fields: "id office { code }") { id: ID! office: Office! rooms(floor: Int): [Room!]! }
      type Office @shareable { code: String! }
      type Room { number: Int! host: Team }
      type Query { rooms: [[[Room]!]] }`,
  },
};

/** Entities in circles, so that the same one is needed at many places at once. */
export const circles: FederatedSource = {
  name: 'circles',
  subgraphs: {
    authors: `
      type Author @key(fields: "id") { id: ID! name: String! nick: String mentor: Author }
      type Query { authors: [Author!]! me: Author }`,
    posts: `
      type Author @key(fields: "id") { id: ID! posts: [Post!]! pinned: Post }
      type Post @key(fields: "id") { id: ID! title: String! author: Author! answers: [Post!]! }
      type Query { posts: [Post!]! }`,
    votes: `
      type Post @key(fields: "id") { id: ID! score: Int! voters: [Author!]! }
      type Author @key(fields: "id") { id: ID! karma: Int! likes: [Post] }
      type Query { trending: [Post] }`,
  },
};
