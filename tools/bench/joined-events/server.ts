import { createLocalLink } from '../../../platform/graphql/links/local-link.ts';
import { logger, startKilnGateway } from '../federation/gateways.ts';
import { buildSchemaFor, SUBGRAPHS, supergraph } from './world.ts';

// Kiln's gateway over both subgraphs in one process. Sends {url} when it serves.
const links = SUBGRAPHS.map((name) => {
  const subgraph = { name, schema: buildSchemaFor(name), contextFor: (request: object) => request };
  return [name, createLocalLink({ subgraph, logger })] as const;
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: await startKilnGateway(supergraph(), Object.fromEntries(links)) });
