import type { FederatedSource } from './source.ts';

/** Interfaces and unions, also where subgraphs know them differently. */

/** An interface with a key, two subgraphs that take it for an object, and fields required through it. */
export const interfaceObjects: FederatedSource = {
  name: 'interface objects',
  subgraphs: {
    media: `
      interface Media @key(fields: "id") { id: ID! title: String! length: Int }
      type Film implements Media @key(fields: "id") { id: ID! title: String! length: Int director: String }
      type Song implements Media @key(fields: "id") { id: ID! title: String! length: Int singer: String! }
      type Clip implements Media @key(fields: "id") { id: ID! title: String! length: Int }
      type Query { media: [Media!]! film: Film songs: [Song!]! }`,
    ratings: `
      type Media @key(fields: "id") @interfaceObject {
        id: ID! length: Int @external stars: Int! reviews: [Review!]! pace: Float @requires(fields: "length") }
      type Review { body: String! about: Media! }
      type Query { best: Media rated: [Media!]! }`,
    charts: `
      type Media @key(fields: "id") @interfaceObject { id: ID! place(year: Int): Int }
      type Query { charts: [[Media!]!]! }`,
  },
};

/** Unions whose members differ between subgraphs, inside lists and inside each other's members. */
export const unions: FederatedSource = {
  name: 'unions',
  subgraphs: {
    feed: `
      union Entry = Photo | Text | Poll
      type Photo @key(fields: "id") { id: ID! url: String! about: [Entry!] }
      type Text @key(fields: "id") { id: ID! body: String }
      type Poll @key(fields: "id") { id: ID! options: [String!]! }
      type Query { feed: [Entry!]! top: Entry wall: [[Entry]!] }`,
    search: `
      union Hit = Photo | Text | Person
      type Photo @key(fields: "id") { id: ID! score: Float! }
      type Text @key(fields: "id") { id: ID! score: Float! snippet: String! }
      type Person @key(fields: "id") { id: ID! score: Int! }
      type Query { search(text: String, first: Int = 3): [Hit] }`,
    people: `
      union Subject = Person | Poll
      type Person @key(fields: "id") { id: ID! name: String! likes: [Subject!]! }
      type Photo @key(fields: "id") { id: ID! taker: Person shows: [Person!]! }
      type Poll @key(fields: "id") { id: ID! asker: Person! }
      type Query { person(id: ID!): Person subjects: [Subject] }`,
  },
};

/** Interfaces that are no entities, among them one of another, and types extended in the older way. */
export const nodes: FederatedSource = {
  name: 'nodes',
  subgraphs: {
    core: `
      interface Node { id: ID! }
      interface Named implements Node { id: ID! name: String }
      type Shop implements Named & Node @key(fields: "id") { id: ID! name: String city: City! }
      type City implements Named & Node @key(fields: "id") { id: ID! name: String mayor: String @tag(name: "internal") }
      type Query { node(id: ID!): Node nodes: [Node!]! named: [Named] }`,
    trade: `
      interface Node { id: ID! }
      type Shop implements Node @extends @key(fields: "id") { id: ID! @external turnover: Float rivals: [Node!] }
      type Deal implements Node @key(fields: "id") { id: ID! seller: Shop! buyer: Node }
      type Query { deals: [Deal!]! anything: Node }`,
    maps: `
      extend type City @key(fields: "id") { id: ID! @external area: Float! sights: [Sight!]! }
      interface Sight { label: String! }
      type Tower implements Sight { label: String! metres: Int! in: City }
      type Park implements Sight { label: String! trees: Int }
      type Query { sights: [Sight] }`,
  },
};

/** What is required of a union, an interface and the objects of a list, by the type that each has. */
export const requiresByType: FederatedSource = {
  name: 'requires by type',
  subgraphs: {
    base: `
      union Owner = Human | Company
      interface Asset { id: ID! worth: Float }
      type Human @key(fields: "id") { id: ID! name: String! }
      type Company @key(fields: "id") { id: ID! title: String owners: [Owner!]! }
      type House implements Asset @key(fields: "id") { id: ID! worth: Float owner: Owner! former: [Owner] insured: [Asset!] }
      type Boat implements Asset @key(fields: "id") { id: ID! worth: Float length: Int! }
      type Query { houses: [House!]! assets: [Asset] }`,
    tax: `
      union Owner = Human | Company
      interface Asset { id: ID! worth: Float }
      type Human @key(fields: "id") { id: ID! name: String! @external born: Int }
      type Company @key(fields: "id") { id: ID! title: String @external seat: String! }
      type House implements Asset @key(fields: "id") {
        id: ID!
        worth: Float @external
        owner: Owner! @external
        former: [Owner] @external
        insured: [Asset!] @external
        tax: Float @requires(fields: "owner { ... on Human { name } ... on Company { title } }")
        dues: [Int!] @requires(fields: "former { __typename ... on Human { name } } insured { worth ... on Boat { id } }")
      }
      type Boat implements Asset @key(fields: "id") { id: ID! worth: Float @external mooring: House @requires(fields: "worth") }
      type Query { taxed: [House]! }`,
  },
};

/** Fields that clash within one subgraph though not for callers, so that plans rename them on the way. */
export const clashes: FederatedSource = {
  name: 'clashes',
  subgraphs: {
    users: `
      type User @key(fields: "id") { id: ID! name: String @shareable tags: [String!] @shareable near: [User] @shareable }
      type Query { users: [User!]! }`,
    accounts: `
      union Account = User | Admin
      type User @key(fields: "id") { id: ID! name: String! @shareable tags: [String!]! @shareable near: [User!]! @shareable }
      type Admin @key(fields: "id") { id: ID! name: String tags: [String!] near: [User] boss: Account }
      type Query { accounts: [Account!]! account: Account }`,
    notes: `
      type User @key(fields: "id") { id: ID! note: String }
      type Admin @key(fields: "id") { id: ID! note: String rank: Int! }
      type Query { ranks: [Admin!]! }`,
  },
};
