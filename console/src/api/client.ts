import { ApolloClient, ApolloLink, HttpLink, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { cacheSizes } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';
import { createClient } from 'graphql-ws';

import { graphqlUrl, inChosenCell, onCell, socketUrl } from './addresses.ts';
import { connection } from './connection.ts';
import { onCredential } from './credential.ts';
import { resuming } from './resume.ts';
import { freshAuthorization } from './session.ts';

/** The Apollo Client of the console: queries over HTTP, subscriptions over one graphql-ws socket. */

const RETRY_MOST_MS = 10_000;
const PING_MS = 15_000;
/** A pong that takes longer will not come. */
const PONG_MS = 5_000;

let missingPong: ReturnType<typeof setTimeout> | undefined;

const socket = createClient({
  url: () => inChosenCell(socketUrl),
  lazyCloseTimeout: 5_000,
  keepAlive: PING_MS,
  connectionParams: paramsOfConnection,
  retryAttempts: Infinity,
  shouldRetry: () => true,
  retryWait: (attempt) => pauseOnline(Math.min(RETRY_MOST_MS, 500 * 2 ** attempt)),
  on: {
    connected: () => {
      if (connection.opened()) askAgain();
    },
    message: connection.heard,
    // A socket that a sleeping laptop has lost is not closed by anybody: it is noticed by its missing pong.
    ping: (isReceived) => {
      if (isReceived) return;
      clearTimeout(missingPong);
      missingPong = setTimeout(() => socket.terminate(), PONG_MS);
    },
    pong: () => clearTimeout(missingPong),
    closed: (event) => {
      clearTimeout(missingPong);
      if ((event as CloseEvent).code === 1000) connection.ended();
      else connection.failed();
    },
  },
});

/** Asked for each connection: the server closes the socket of a token that ends, the next one has its successor. */
async function paramsOfConnection(): Promise<Record<string, unknown>> {
  try {
    const header = await freshAuthorization();
    return header === null ? {} : { authorization: header };
  } catch {
    // To be tried again: a failure here would be the end of every subscription.
    socket.terminate();
    return {};
  }
}

/** Waits so long, or until the machine says that it is online again. */
function pauseOnline(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener('online', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener('online', done);
  });
}

const http = new HttpLink({
  uri: () => inChosenCell(graphqlUrl),
  fetch: async (input, init) => {
    const headers = new Headers(init?.headers);
    const header = await freshAuthorization();
    if (header !== null) headers.set('authorization', header);
    return fetch(input, { ...init, headers });
  },
});

// A list that lives keeps what it has read of each of its earlier states until these are full: their defaults, five times as
// many, take some 30 MB. 10,000 are enough for a gallery that has been scrolled far.
Object.assign(cacheSizes, {
  'inMemoryCache.executeSelectionSet': 10_000,
  'inMemoryCache.executeSubSelectedArray': 2_000,
  'inMemoryCache.maybeBroadcastWatch': 1_000,
} satisfies Partial<typeof cacheSizes>);

/** What the client knows. */
export const cache = new InMemoryCache({
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
});

/** Events of subscriptions, all together, after which the client forgets what it keeps of earlier states and of tasks on no list. */
const EVENTS_KEPT = 200;

let events = 0;

/** Counts an event. What is shown is read anew after a clearing, which takes a few milliseconds. */
function noteEvent(): void {
  events += 1;
  if (events % EVENTS_KEPT === 0) setTimeout(() => cache.gc({ resetResultCache: true }));
}

/** The one client. */
export const client = new ApolloClient({
  cache,
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new GraphQLWsLink(resuming(socket, noteEvent)),
    http,
  ),
});

// Another caller, or another cell, shows other things: the socket is opened again, and what is shown is asked for again.
onCredential(beginAnew);
onCell(beginAnew);

function beginAnew(): void {
  socket.terminate();
  // Every query on the page shows its own failure.
  client.resetStore().catch(() => undefined);
}

/** What has failed on this page while the connection was lost is asked for again. */
function askAgain(): void {
  for (const query of client.getObservableQueries()) {
    if (query.getCurrentResult().error !== undefined) query.refetch().catch(() => undefined);
  }
}
