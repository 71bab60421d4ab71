import { text } from 'node:stream/consumers';

import { RemoteGraphQLDataSource } from '@apollo/gateway';
import { graphql } from 'graphql';

import { createRemoteLink } from '../../../platform/graphql/links/remote-link.ts';
import { createEndpoints } from '../../../platform/http/endpoints/endpoints.ts';
import { listen, logger, startKilnGateway, startStockGateway } from '../federation/gateways.ts';
import { buildSchemaFor, type SubgraphName, SUBGRAPHS, composeSupergraph } from './world.ts';

/**
 * One server of the bench as a program: `server.ts subgraphs` (all four, each at a port of its own, sends {urls}), or
 * a gateway over them, `server.ts kiln|sharing|stock URLS` (sends {url}).
 */
type Urls = Readonly<Record<SubgraphName, string>>;

/** Answers are remembered: what a subgraph costs is not what is measured. */
async function startSubgraph(name: SubgraphName): Promise<string> {
  const schema = buildSchemaFor(name);
  const known = new Map<string, Promise<string>>();
  const answer = async (body: string): Promise<string> => {
    const { query: source, variables: variableValues, operationName } = JSON.parse(body) as GraphqlRequest;
    return JSON.stringify(await graphql({ schema, source, variableValues, operationName }));
  };
  const origin = await listen((request, response) => {
    void text(request).then(async (body) => {
      const made = known.get(body) ?? answer(body);
      if (known.size < 1_000) known.set(body, made);
      response.setHeader('content-type', 'application/json');
      response.end(await made);
    });
  });
  return `${origin}/graphql`;
}

interface GraphqlRequest {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly operationName?: string;
}

function startKiln(urls: Urls, sharesReads: boolean): Promise<string> {
  const links = SUBGRAPHS.map((name) => {
    const endpoints = createEndpoints({ urls: [urls[name]], logger });
    return [name, createRemoteLink({ name, endpoints, logger, passesBearer: true, sharesReads })] as const;
  });
  return startKilnGateway(composeSupergraph(urls), Object.fromEntries(links));
}

async function start([what, words = '{}']: readonly string[]): Promise<object> {
  if (what === 'subgraphs') {
    const urls = SUBGRAPHS.map(async (name) => [name, await startSubgraph(name)] as const);
    return { urls: Object.fromEntries(await Promise.all(urls)) };
  }
  const urls = JSON.parse(words) as Urls;
  if (what === 'stock') {
    const createSource = (_name: string, url = '') => new RemoteGraphQLDataSource({ url });
    return { url: await startStockGateway(composeSupergraph(urls), createSource) };
  }
  return { url: await startKiln(urls, what === 'sharing') };
}

process.on('disconnect', () => process.exit(0));
process.send?.(await start(process.argv.slice(2)));
