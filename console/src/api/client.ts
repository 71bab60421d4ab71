import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';

import { graphqlUrl, socketUrl } from './addresses.ts';
import { connection } from './connection.ts';
import { onCredential } from './credential.ts';
import { resuming } from './resume.ts';
import { freshAuthorization } from './session.ts';

/** The Apollo Client of the console: queries over HTTP, subscriptions over one graphql-ws socket. */

const RETRY_MOST_MS = 10_000;

const socket = createClient({
  url: socketUrl,
  lazyCloseTimeout: 5_000,
  // A socket that a sleeping laptop has lost is noticed by its missing pong.
  keepAlive: 15_000,
  // Asked for each connection: the server closes the socket of a token that ends, the next one has its successor.
  connectionParams: async () => {
    const header = await freshAuthorization();
    return header === null ? {} : { authorization: header };
  },
  retryAttempts: Infinity,
  shouldRetry: () => true,
  retryWait: async (attempt) => {
    const ms = Math.min(RETRY_MOST_MS, 500 * 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, ms));
  },
  on: {
    connected: connection.opened,
    closed: (event) => {
      if ((event as CloseEvent).code === 1000) connection.ended();
      else connection.failed();
    },
  },
});

const http = new HttpLink({
  uri: graphqlUrl,
  fetch: async (input, init) => {
    const headers = new Headers(init?.headers);
    const header = await freshAuthorization();
    if (header !== null) headers.set('authorization', header);
    return fetch(input, { ...init, headers });
  },
});

/** The one client. */
export const client = new ApolloClient({
  cache: new InMemoryCache({
    typePolicies: {
      Template: { keyFields: ['code'] },
      ComfyWorkflow: { keyFields: ['name'] },
      Query: {
        fields: {
          task: {
            read: (known, { args, toReference }) =>
              known ?? toReference({ __typename: 'Task', id: String(args?.['id']) }),
          },
        },
      },
    },
  }),
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(resuming(socket)),
    http,
  ),
});

// Another caller sees other things: the socket is opened again, and what is shown is asked for again.
onCredential(() => {
  socket.terminate();
  // Every query on the page shows its own failure.
  client.resetStore().catch(() => undefined);
});
