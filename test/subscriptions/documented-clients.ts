import { readFile } from 'node:fs/promises';

import { ApolloClient, gql, InMemoryCache } from '@apollo/client';
import { GraphQLWsLink } from '@apollo/client/link/subscriptions';
import { Client as UrqlClient, subscriptionExchange } from '@urql/core';
import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

/** The clients of docs/clients.md, with the lines that resume as they stand there. */

const QUERY = `subscription Follow($id: ID!, $afterSeq: Int) {
  taskProgress(id: $id, afterSeq: $afterSeq) { seq state }
}`;

interface Event {
  readonly taskProgress: { readonly seq: number; readonly state: string };
}

/** The function `resuming` of the page. */
async function documentedResuming(): Promise<(client: Client) => Client> {
  const page = await readFile(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const [, source = ''] = /```js\n(\/\*\* [^\n]*\nexport function resuming[^]*?)```/.exec(page) ?? [];
  const module: unknown = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  return (module as { resuming: (client: Client) => Client }).resuming;
}

/** Each client follows a task and notes the numbers of what it gets. */
const CLIENTS: Readonly<Record<string, (socket: Client, id: string, seen: number[]) => Promise<void>>> = {
  'graphql-ws': (socket, id, seen) =>
    new Promise((resolve, reject) => {
      const next = ({ data }: { data?: Event | null }) => void seen.push(data?.taskProgress.seq ?? -1);
      socket.subscribe<Event>(
        { query: QUERY, variables: { id } },
        { next, error: reject, complete: resolve },
      );
    }),
  'Apollo Client': (socket, id, seen) =>
    new Promise((resolve, reject) => {
      const client = new ApolloClient({ link: new GraphQLWsLink(socket), cache: new InMemoryCache() });
      client.subscribe<Event>({ query: gql(QUERY), variables: { id } }).subscribe({
        next: ({ data }) => void seen.push(data?.taskProgress.seq ?? -1),
        error: reject,
        complete: resolve,
      });
    }),
  urql: (socket, id, seen) =>
    new Promise((resolve) => {
      const exchange = subscriptionExchange({
        forwardSubscription: (request) => ({
          subscribe: (sink) => ({
            unsubscribe: socket.subscribe({ ...request, query: request.query ?? '' }, sink as never),
          }),
        }),
      });
      const client = new UrqlClient({ url: 'http://unused', preferGetMethod: false, exchanges: [exchange] });
      client.subscription<Event>(QUERY, { id }).subscribe(({ data, hasNext }) => {
        // The end comes with the last event again.
        if (data && seen.at(-1) !== data.taskProgress.seq) seen.push(data.taskProgress.seq);
        if (!hasNext) resolve();
      });
    }),
};

/** Starts one follower with each client of the page. */
export async function followAsDocumented(origin: string, taskId: string) {
  const resuming = await documentedResuming();
  return Object.values(CLIENTS).map((follow) => {
    const socket = createClient({
      url: `${origin.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: Infinity,
      shouldRetry: () => true,
    });
    const seen: number[] = [];
    const done = follow(resuming(socket), taskId, seen).finally(() => void socket.dispose());
    return { seen, done };
  });
}
