import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import {
  ApolloGateway,
  LocalGraphQLDataSource,
  RemoteGraphQLDataSource,
  type GraphQLDataSource,
} from '@apollo/gateway';
import { ApolloServer, type ApolloServerOptions } from '@apollo/server';
import { expressMiddleware } from '@as-integrations/express5';
import express from 'express';

import { createFederation } from '../../../gateway/federation/federation.ts';
import { createRateLimiter } from '../../../gateway/limits/rate-limit.ts';
import { createGatewayServer, type GatewayServerOptions } from '../../../gateway/server/server.ts';
import { createLocalLink } from '../../../platform/graphql/links/local-link.ts';
import { createLogger } from '../../../platform/process/logger.ts';
import { ORIGIN, schemaOf, supergraphOf, type SubgraphName } from './world.ts';

/**
 * One server of the bench as a program: `server.ts kiln`, `server.ts guarded` (with callers, rates and origins), `server.ts local`, `server.ts remote MEDIA_URL WORKFLOW_URL`
 * (gateways over the two subgraphs), `server.ts media`, `server.ts workflow` (a subgraph). Sends {url} when it serves.
 */
const logger = createLogger({ level: 'warn' });
const USER = {
  kind: 'user',
  id: 'usr_bench',
  scopes: [],
  generators: null,
  sessionId: 'ses_bench',
  expiresAt: null,
} as const;
const nowhere = { media: 'http://media.invalid', workflow: 'http://workflow.invalid' };

/** What a gateway has beyond the least: known callers, rates, origins. */
const GUARDED = {
  resolveCredential: async () => USER,
  rateLimiter: createRateLimiter({ read: 1e9 }),
  corsOrigins: [ORIGIN],
};

/** Kiln's whole gateway: callers, limits, every transport, over local links. */
async function startKiln(guards: Partial<GatewayServerOptions> = {}): Promise<string> {
  const link = (name: SubgraphName) =>
    createLocalLink({ subgraph: { name, schema: schemaOf(name), contextFor: (request) => request }, logger });
  const links = { media: link('media'), workflow: link('workflow') };
  const federation = await createFederation({ supergraphSdl: supergraphOf(nowhere), links, logger });
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
function startStockGateway(
  supergraphSdl: string,
  sourceOf: (name: string, url?: string) => GraphQLDataSource,
) {
  const buildService = ({ name, url }: { name: string; url?: string | undefined }) => sourceOf(name, url);
  return startApollo({ gateway: new ApolloGateway({ supergraphSdl, buildService, logger }) });
}

async function startApollo(options: ApolloServerOptions<object>): Promise<string> {
  const server = new ApolloServer({ ...options, nodeEnv: 'production' });
  await server.start();
  const app = express();
  app.use('/graphql', express.json(), expressMiddleware(server));
  return `${await listen(app)}/graphql`;
}

async function listen(app: RequestListener): Promise<string> {
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function start([what, media = '', workflow = '']: readonly string[]): Promise<string> {
  switch (what) {
    case 'kiln':
      return startKiln();
    case 'guarded':
      return startKiln(GUARDED);
    case 'local':
      return startStockGateway(
        supergraphOf(nowhere),
        (name) => new LocalGraphQLDataSource(schemaOf(name as SubgraphName)),
      );
    case 'remote':
      return startStockGateway(
        supergraphOf({ media, workflow }),
        (_name, url = '') => new RemoteGraphQLDataSource({ url }),
      );
    case 'media':
    case 'workflow':
      return startApollo({ schema: schemaOf(what) });
    default:
      throw new Error(`no such server: ${String(what)}`);
  }
}

process.on('disconnect', () => process.exit(0));
process.send?.({ url: await start(process.argv.slice(2)) });
