import { ApolloClient, ApolloLink, HttpLink, InMemoryCache, Observable } from '@apollo/client';
import { cacheSizes, print } from '@apollo/client/utilities';
import { OperationTypeNode } from 'graphql';

import { chooseCell, graphqlUrl, inChosenCell, onCell } from './addresses.ts';
import { onCredential } from './caller.ts';
import { onReconnected, observe, kiln, socket } from './kiln.ts';
import { freshAuthorization } from './session.ts';

/** The Apollo Client of the console: its cache, with queries over HTTP and subscriptions by Kiln's own client. */

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
    // Several parts of a page ask for some of it each: one answer must not take away what another has brought.
    MediaHealth: { merge: true },
    GeneratorHealth: { keyFields: ['generator'] },
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

let noted = 0;

/** Counts an event. What is shown is read anew after a clearing, which takes a few milliseconds. */
function noteEvent(): void {
  noted += 1;
  if (noted % EVENTS_KEPT === 0) setTimeout(() => cache.gc({ resetResultCache: true }));
}

/** The events of a subscription, which goes on after the last one that it has seen, and with nothing else. */
function events(query: string, variables: Readonly<Record<string, unknown>>) {
  const next = ({ cursor, seq }: Readonly<Record<string, unknown>>) => {
    if (cursor !== undefined) return { after: cursor };
    return 'afterSeq' in variables ? { afterSeq: seq } : {};
  };
  return new Observable<{ readonly data: Readonly<Record<string, unknown>> }>((subscriber) =>
    observe((signal) => kiln.subscribe(query, variables, { next, signal }), {
      next(data) {
        noteEvent();
        subscriber.next({ data });
      },
      error: (error) => subscriber.error(error),
      complete: () => subscriber.complete(),
    }),
  );
}

/** The one client. */
export const client = new ApolloClient({
  cache,
  link: ApolloLink.split(
    ({ operationType }) => operationType === OperationTypeNode.SUBSCRIPTION,
    new ApolloLink(({ query, variables }) => events(print(query), variables)),
    http,
  ),
});

// The next caller begins in the cell of this address. Before what follows, which asks again.
onCredential(() => chooseCell(null));
// Another caller, or another cell, shows other things: the socket is opened again, and what is shown is asked for again.
onCredential(beginAnew);
onCell(beginAnew);
onReconnected(askAgain);

function beginAnew(): void {
  socket.restart();
  // Every query on the page shows its own failure.
  client.resetStore().catch(() => undefined);
}

/** What has failed on this page while the connection was lost is asked for again. */
function askAgain(): void {
  for (const query of client.getObservableQueries()) {
    if (query.getCurrentResult().error !== undefined) query.refetch().catch(() => undefined);
  }
}
