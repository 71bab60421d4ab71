import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { ApolloGateway, type GraphQLDataSource } from '@apollo/gateway';
import { ApolloServer, type ApolloServerOptions } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';

import { createFederation } from '../../../gateway/federation/federation.ts';
import { createGatewayServer, type GatewayServerOptions } from '../../../gateway/server/server.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import { createLogger } from '../../../platform/process/logger.ts';

/** The gateways that are held against each other, each with all that it has between a socket and its subgraphs. */

export const logger = createLogger({ level: 'warn' });

/** Kiln's whole gateway: callers, limits, every transport, over these links. */
export async function startKilnGateway(
  supergraphSdl: string,
  links: Readonly<Record<string, SubgraphLink>>,
  guards: Partial<GatewayServerOptions> = {},
): Promise<string> {
  const federation = await createFederation({ supergraphSdl, links, logger });
  const server = await createGatewayServer({
    federation,
    logger,
    production: true,
    resolveCredential: async () => null,
    trustProxy: [],
    corsOrigins: [],
    readiness: {},
    publicUrl: null,
    uploadMaxBytes: 1_000_000,
    ...guards,
  });
  return `${(await server.listen('127.0.0.1', 0)).url}/graphql`;
}

/** Apollo's gateway as its documentation sets it up. */
export function startStockGateway(
  supergraphSdl: string,
  sourceOf: (name: string, url?: string) => GraphQLDataSource,
): Promise<string> {
  const buildService = ({ name, url }: { name: string; url?: string | undefined }) => sourceOf(name, url);
  return startApollo({ gateway: new ApolloGateway({ supergraphSdl, buildService, logger }) });
}

/** Apollo Server on Express; resolves to its URL. */
export async function startApollo(options: ApolloServerOptions<object>): Promise<string> {
  const server = new ApolloServer({ ...options, nodeEnv: 'production' });
  await server.start();
  const app = express();
  app.use('/graphql', express.json(), expressMiddleware(server));
  return `${await listen(app)}/graphql`;
}

/** Serves on a free port; resolves to the origin. */
export async function listen(app: RequestListener): Promise<string> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
