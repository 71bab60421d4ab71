import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';
import { useServer } from 'graphql-ws/use/ws';
import { WebSocketServer } from 'ws';

import type { Subgraph } from '../../platform/graphql/operations/subgraph.ts';
import { createContext } from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';

/** A subgraph that Apollo Server and graphql-ws serve, which know nothing of Kiln. */
export interface PlainSubgraph {
  readonly url: string;
  /** The headers of every request and every upgrade. */
  readonly seen: IncomingHttpHeaders[];
  /** What came with every connection_init. */
  readonly params: unknown[];
  close(): Promise<void>;
}

/** Serves a subgraph on a free port. */
export async function servePlainly({ schema }: Subgraph): Promise<PlainSubgraph> {
  const seen: IncomingHttpHeaders[] = [];
  const params: unknown[] = [];
  // It would announce itself on the console.
  const apollo = new ApolloServer({ schema, plugins: [ApolloServerPluginInlineTraceDisabled()] });
  await apollo.start();
  const app = express();
  app.use((request, _response, next) => {
    seen.push(request.headers);
    next();
  });
  app.use('/graphql', express.json(), expressMiddleware(apollo, { context: async () => createContext() }));
  const server = createServer(app);
  const sockets = new WebSocketServer({ server, path: '/graphql' });
  const subscriptions = useServer(
    {
      schema,
      context: () => createContext(),
      onConnect: ({ connectionParams, extra }) => {
        seen.push(extra.request.headers);
        params.push(connectionParams);
      },
    },
    sockets,
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    seen,
    params,
    async close() {
      await subscriptions.dispose();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await apollo.stop();
    },
  };
}
