import type { FederatedSource } from './source.ts';

/** What values may be: hidden parts, scalars, enums, lists in lists, and state that mutations change. */

/** Fields, types, values and arguments that callers do not see, though plans go through them. */
export const inaccessible: FederatedSource = {
  name: 'inaccessible',
  subgraphs: {
    open: `
      type Car @key(fields: "id") @key(fields: "serial") { id: ID! serial: Int! @inaccessible model: String! paint: Paint secret: String @inaccessible }
      enum Paint { RED BLUE INFRARED @inaccessible }
      interface Thing { id: ID! }
      type Wheel implements Thing @inaccessible { id: ID! inches: Int }
      type Seat implements Thing { id: ID! leather: Boolean! }
      type Query { cars(hidden: Int @inaccessible): [Car!]! things: [Thing] paints: [Paint!] hiddenCars: [Car] @inaccessible }`,
    works: `
      type Car @key(fields: "serial") { serial: Int! @inaccessible built: Int! parts: [Part!]! twin: Car }
      union Part = Engine | Radio
      type Engine { power: Float! }
      type Radio @inaccessible { bands: [String!]! }
      type Query { works: [Car] }`,
    sales: `
      type Car @key(fields: "id") { id: ID! secret: String @external price: Float @requires(fields: "secret") buyer: String }
      type Query { sold: [Car!]! }`,
  },
};

/** Scalars of all kinds and lists in lists, with and without null. */
export const scalars: FederatedSource = {
  name: 'scalars',
  subgraphs: {
    values: `
      scalar JSON
      scalar Date
      enum Mood { GLAD SAD CALM }
      input Filter { moods: [Mood!] = [GLAD] limit: Int! = 2 near: Filter text: String }
      type Sample @key(fields: "id") {
        id: ID! int: Int float: Float! flag: Boolean! text: String day: Date! free: JSON mood: Mood!
        ints: [Int!]! moods: [Mood] table: [[Float!]!]! cube: [[[String]]] }
      type Query { samples(filter: Filter, mood: Mood): [Sample!]! sample(filter: Filter! = { limit: 1 }): Sample free(of: JSON): JSON }`,
    tables: `
      enum Mood { GLAD SAD CALM }
      type Sample @key(fields: "id") { id: ID! rows: [[Cell!]]! first(mood: Mood! = SAD): [Cell] strict: [[Sample!]!]! }
      type Cell { value: Int! of: Sample mood: Mood }
      type Query { tables: [[[Sample]]] }`,
  },
};

/** Mutations over several subgraphs, whose order shows, and subscriptions that are joined. */
export const wallets: FederatedSource = {
  name: 'wallets',
  subgraphs: {
    money: `
      type Wallet @key(fields: "id") { id: ID! amount: Int! last: Payment }
      type Payment @key(fields: "id") { id: ID! amount: Int! from: Wallet! to: Wallet }
      type Query { wallet(id: ID!): Wallet wallets: [Wallet!]! }
      type Mutation { pay(amount: Int!): Payment! open: Wallet close(id: ID!): [Wallet!]! }
      type Subscription { paid(id: ID): Payment! opened: Wallet }`,
    ledger: `
      type Wallet @key(fields: "id") { id: ID! amount: Int! @external entries: [Entry!]! rating: Float @requires(fields: "amount") }
      type Payment @key(fields: "id") { id: ID! entry: Entry booked: Boolean! }
      type Entry { line: Int! wallet: Wallet }
      type Query { entries: [Entry] }
      type Mutation { book(lines: [Int!]! = [1]): Entry! settle: [Payment] }
      type Subscription { booked: [Entry!]! }`,
    owners: `
      type Wallet @key(fields: "id") { id: ID! owner: Owner }
      type Owner @key(fields: "id") { id: ID! name: String! wallets: [Wallet!] }
      type Query { owners: [Owner!]! }
      type Mutation { rename(name: String!): Owner }`,
  },
};
