import type { FederatedSource } from './source.ts';

/** Fields that need, bring or move other fields. */

/** @requires of leaves, of objects and lists, with arguments, and of what is itself required. */
export const requires: FederatedSource = {
  name: 'requires',
  subgraphs: {
    goods: `
      type Good @key(fields: "id") { id: ID! weight: Int! price: Float size: Size! parts: [Part!]! tag(long: Boolean! = false): String }
      type Size @shareable { width: Int! height: Int }
      type Part @shareable { name: String! grams: Int }
      type Query { goods: [Good!]! good(id: ID!): Good }`,
    shipping: `
      type Good @key(fields: "id") {
        id: ID!
        weight: Int! @external
        price: Float @external
        size: Size! @external
        parts: [Part!]! @external
        tag(long: Boolean! = false): String @external
        postage(express: Boolean): Int @requires(fields: "weight price")
        box: Box! @requires(fields: "size { width height }")
        partsWeight: Int @requires(fields: "parts { grams name }")
        label: String @requires(fields: "tag(long: true)")
      }
      type Size @shareable { width: Int! height: Int }
      type Part @shareable { name: String! grams: Int }
      type Box { name: String! holds: [Good!]! }
      type Query { boxes: [Box] }`,
    offers: `
      type Good @key(fields: "id") {
        id: ID!
        postage(express: Boolean): Int @external
        box: Box! @external
        total: Float @requires(fields: "postage(express: true)")
        advert: String! @requires(fields: "box { name }")
        next: Good
      }
      type Box @external { name: String! }
      type Query { offer: Good! }`,
  },
};

/** @provides on a path, through lists, on what is an interface or a union elsewhere. */
export const provides: FederatedSource = {
  name: 'provides',
  subgraphs: {
    library: `
      type Book @key(fields: "id") { id: ID! title: String @external pages: Int author: Writer @provides(fields: "name") }
      type Writer @key(fields: "id") { id: ID! name: String @external books: [Book!] @provides(fields: "title") }
      type Query { books: [Book!]! @provides(fields: "title author { name }") writer: Writer shelf: [[Book]!]! }`,
    names: `
      type Book @key(fields: "id") { id: ID! title: String @shareable subtitle: String }
      type Writer @key(fields: "id") { id: ID! name: String @shareable born: Int! }
      type Query { writers: [Writer!]! }`,
    finds: `
      union Found = Book | Writer
      interface Titled { id: ID! title: String }
      type Book implements Titled @key(fields: "id") { id: ID! title: String @external rank: Int! }
      type Writer @key(fields: "id") { id: ID! fame: Int }
      type Query {
        found: [Found!]! @provides(fields: "... on Book { title }")
        titled: [Titled] @provides(fields: "... on Book { title }")
      }`,
  },
};

/** Fields that moved to another subgraph, one of them with what it requires. */
export const override: FederatedSource = {
  name: 'override',
  subgraphs: {
    legacy: `
      type Account @key(fields: "id") { id: ID! owner: String! balance: Float! limit: Int status: Status history: [Entry!]! }
      type Entry { at: Int! amount: Float note: String }
      enum Status { OPEN FROZEN CLOSED }
      type Query { accounts: [Account!]! account(id: ID!): Account }`,
    bank: `
      type Account @key(fields: "id") {
        id: ID!
        owner: String! @external
        balance: Float! @override(from: "legacy")
        limit: Int @override(from: "legacy") @requires(fields: "owner")
        partner: Account
      }
      type Query { richest: [Account]! }`,
    audit: `
      type Account @key(fields: "id") { id: ID! status: Status @override(from: "legacy") seen(by: String): Boolean! }
      enum Status { OPEN FROZEN CLOSED }
      type Query { flagged: [Account!] }`,
  },
};

/** Root fields and objects that several subgraphs resolve, each with fields of its own. */
export const shareable: FederatedSource = {
  name: 'shareable',
  subgraphs: {
    north: `
      type Query { here: Place @shareable map: [Place!]! @shareable north: String }
      type Place @shareable { name: String! lat: Float point: Point! }
      type Point @shareable { x: Int! }`,
    south: `
      type Query { here: Place @shareable map: [Place!]! @shareable south: Int! }
      type Place { name: String! @shareable lon: Float point: Point! @shareable areas: [Area!] city: City }
      type City @shareable { name: String! }
      type Point { x: Int! @shareable y: Int! }
      type Area @key(fields: "id") { id: ID! size: Float }`,
    areas: `
      type Area @key(fields: "id") { id: ID! inside: [Area] capital: City }
      type City @shareable { name: String! }
      type Query { areas: [Area!]! }`,
  },
};
