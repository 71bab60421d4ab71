import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { GraphQLError, type GraphQLSchema, parse } from 'graphql';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { createPushStream, type PushStream } from '../../platform/graphql/operations/streams.ts';
import { type PlainSubgraph, servePlainly } from './plain-subgraph.ts';

/** A small graph of strangers: accounts by Apollo Server and graphql-ws, reviews by graphql-yoga and server-sent events. */

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.9",
  import: ["@key", "@shareable", "@authenticated", "@requiresScopes", "@policy", "@cost", "@listSize"])`;

const ACCOUNTS = `${LINK}
type User @key(fields: "id") {
  id: ID!
  name: String!
  email: String @requiresScopes(scopes: [["email"], ["admin", "all"]])
  salary: Int! @policy(policies: [["hr"]])
}
type Query {
  me: User @authenticated
  users: [User!]!
  late: String
}
type Mutation { rename(name: String!): User @authenticated }
type Subscription { userChanged: User! }
`;

const REVIEWS = `${LINK}
type Review @key(fields: "id") { id: ID! text: String! draft: String @authenticated author: User! }
type User @key(fields: "id") { id: ID! reviews: [Review!]! }
type Query {
  reviews: [Review!]!
  search(first: Int = 2, deep: Boolean @cost(weight: 5)): [Review!]! @listSize(slicingArguments: ["first"])
  best: Review @cost(weight: 7)
  broken: String
}
type Subscription { reviewAdded: Review! }
`;

/** The same without what needs a right. */
const open = (types: string): string =>
  types.replaceAll(/ @(?:authenticated|requiresScopes|policy)(?:\([^)]*\))?/g, '');

const require = createRequire(import.meta.url);
/** graphql-yoga. By `require`: its types bring those of browsers with them, which then are everybody's. */
export const { createYoga } = require('graphql-yoga') as {
  readonly createYoga: (options: {
    readonly logging: boolean;
    readonly schema: GraphQLSchema;
    readonly plugins: readonly { onParams(asked: { readonly params: { readonly query?: string } }): void }[];
  }) => RequestListener;
};

/** The running subgraphs, and what tests control. */
export interface Shop {
  readonly accounts: PlainSubgraph;
  readonly reviews: {
    readonly url: string;
    readonly seen: IncomingHttpHeaders[];
    readonly queries: string[];
  };
  /** The supergraph at their addresses; `isOpen` without security directives. */
  supergraph(isOpen?: boolean): string;
  /** Gives every subscriber an event. */
  emit(id: string): void;
  /** Gives so many of the next requests to reviews no answer. */
  drop(count: number): void;
  /** How many subscriptions there are. */
  listeners(): number;
  /** Ends the subscriptions. */
  complete(): void;
  close(): Promise<void>;
}

/** Longer than any test waits for an answer. */
const LATE_MS = 20_000;

const USERS = [
  { __typename: 'User', id: 'u1', name: 'Ada', email: 'ada@example.org', salary: 10 },
  { __typename: 'User', id: 'u2', name: 'Bob', email: 'bob@example.org', salary: 20 },
];
const makeReview = (id: string) => ({
  __typename: 'Review',
  id,
  text: `text of ${id}`,
  draft: `draft of ${id}`,
  author: { __typename: 'User', id: 'u1' },
});

/** Starts them on free ports. */
export async function openShop(): Promise<Shop> {
  const streams = new Set<PushStream<object>>();
  const subscribe = (field: string, map: (id: string) => object) => ({
    subscribe: () => {
      const events = createPushStream<object>({
        maxPending: 100,
        overflow: () => ({}),
        onEnd: () => streams.delete(events),
      });
      streams.add(events);
      return events.stream;
    },
    resolve: (event: { readonly id: string }) => ({ [field]: map(event.id) })[field],
  });
  const accountsSchema = buildSubgraphSchema({
    typeDefs: parse(ACCOUNTS),
    resolvers: {
      User: { __resolveReference: ({ id }: { id: string }) => USERS.find((one) => one.id === id) },
      Query: { me: () => USERS[0], users: () => USERS, late: () => pause(LATE_MS, 'late', { ref: false }) },
      Mutation: { rename: (_: unknown, { name }: { name: string }) => ({ ...USERS[0], name }) },
      Subscription: {
        userChanged: subscribe('userChanged', (id) => USERS.find((one) => one.id === id) ?? {}),
      },
    },
  });
  const accounts = await servePlainly({
    name: 'media',
    schema: accountsSchema,
    contextFor: (context) => context,
  });
  const seen: IncomingHttpHeaders[] = [];
  const queries: string[] = [];
  const yoga = createYoga({
    logging: false,
    schema: buildSubgraphSchema({
      typeDefs: parse(REVIEWS),
      resolvers: {
        Review: { __resolveReference: ({ id }: { id: string }) => makeReview(id) },
        User: { reviews: ({ id }: { id: string }) => [makeReview(`${id}-r1`), makeReview(`${id}-r2`)] },
        Query: {
          reviews: () => [makeReview('r1'), makeReview('r2')],
          search: () => [makeReview('s1')],
          best: () => makeReview('r1'),
          broken: () => {
            throw new GraphQLError('the shelf fell over');
          },
        },
        Subscription: { reviewAdded: subscribe('reviewAdded', makeReview) },
      },
    }),
    plugins: [{ onParams: ({ params }) => void queries.push(params.query ?? '') }],
  });
  let drops = 0;
  const server = createServer((request, response) => {
    seen.push(request.headers);
    drops -= 1;
    if (drops >= 0) {
      request.socket.destroy();
      return;
    }
    response.setHeader('cache-control', 'max-age=60');
    response.appendHeader('set-cookie', 'review=seen');
    yoga(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  return {
    accounts,
    reviews: { url, seen, queries },
    supergraph(isOpen = false) {
      const types = (text: string) => parse(isOpen ? open(text) : text);
      const { errors, supergraphSdl } = composeServices([
        { name: 'accounts', url: accounts.url, typeDefs: types(ACCOUNTS) },
        { name: 'reviews', url, typeDefs: types(REVIEWS) },
      ]);
      if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], String(errors));
      return supergraphSdl;
    },
    emit(id) {
      for (const { push } of streams) push({ id });
    },
    drop: (count) => void (drops = count),
    listeners: () => streams.size,
    complete() {
      for (const { end } of streams) end();
    },
    async close() {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), accounts.close()]);
    },
  };
}

/** An issuer of tokens with its keys over HTTP. */
export interface TokenIssuer {
  readonly issuer: string;
  readonly jwks: string;
  /** A token with these claims, for two minutes unless they say otherwise. */
  token(claims?: Readonly<Record<string, unknown>>): Promise<string>;
  close(): Promise<void>;
}

/** Starts one on a free port. */
export async function openIssuer(): Promise<TokenIssuer> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', use: 'sig' }];
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    jwks: `${issuer}/keys.json`,
    token: (claims = {}) =>
      new SignJWT({ sub: 'ada', aud: 'shop', exp: Math.floor(Date.now() / 1_000) + 120, ...claims })
        .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
        .setIssuer(typeof claims['iss'] === 'string' ? claims['iss'] : issuer)
        .sign(privateKey),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
