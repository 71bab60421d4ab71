import { LocalGraphQLDataSource, RemoteGraphQLDataSource } from '@apollo/gateway';

import { createRateLimiter } from '../../../gateway/limits/rate-limit.ts';
import type { GatewayServerOptions } from '../../../gateway/server/server-options.ts';
import { createLocalLink } from '../../../platform/graphql/links/local-link.ts';
import { logger, startApollo, startKilnGateway, startStockGateway } from './gateways.ts';
import { ORIGIN, buildSchemaFor, composeSupergraph, type SubgraphName } from './world.ts';

/**
 * One server of the bench as a program: `server.ts kiln`, `server.ts guarded` (with callers, rates and origins), `server.ts local`, `server.ts remote MEDIA_URL WORKFLOW_URL`
 * (gateways over the two subgraphs), `server.ts media`, `server.ts workflow` (a subgraph). Sends {url} when it serves.
 */
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

/** Kiln's gateway over subgraphs in this process. */
function startKiln(guards: Partial<GatewayServerOptions> = {}): Promise<string> {
  const link = (name: SubgraphName) =>
    createLocalLink({
      subgraph: { name, schema: buildSchemaFor(name), contextFor: (request) => request },
      logger,
    });
  const links = { media: link('media'), workflow: link('workflow') };
  return startKilnGateway(composeSupergraph(nowhere), links, guards);
}

function start([what, media = '', workflow = '']: readonly string[]): Promise<string> {
  switch (what) {
    case 'kiln':
      return startKiln();
    case 'guarded':
      return startKiln(GUARDED);
    case 'local':
      return startStockGateway(
        composeSupergraph(nowhere),
        (name) => new LocalGraphQLDataSource(buildSchemaFor(name as SubgraphName)),
      );
    case 'remote':
      return startStockGateway(
        composeSupergraph({ media, workflow }),
        (_name, url = '') => new RemoteGraphQLDataSource({ url }),
      );
    case 'media':
    case 'workflow':
      return startApollo({ schema: buildSchemaFor(what) });
    default:
      throw new Error(`no such server: ${String(what)}`);
  }
}

process.on('disconnect', () => process.exit(0));
process.send?.({ url: await start(process.argv.slice(2)) });
