import { startRelay } from '../../../test/kit/clients/relay.ts';
import { createEndpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { createCallerSigner } from '../assertions/caller-assertion.ts';
import { createRemoteLink, type RemoteLinkOptions } from '../links/remote-link.ts';
import { createSubgraphServer, type SubgraphServerOptions } from '../subgraph-server/server.ts';
import { createTwoSubgraphs } from '../subgraph-server/two-subgraphs.fixture.ts';

/** A subgraph in a server of its own, and links to it, for the tests of channels. */

export const KEY = 'the-internal-key-of-the-tests-0123456789';

/** What has been started, to be ended after each test. */
export const cleanups: (() => Promise<void>)[] = [];

/** Ends it, the last first. */
export async function cleanUp(): Promise<void> {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
}

/** Starts the media subgraph of the fixture. */
export async function startMedia(options: Partial<SubgraphServerOptions> = {}) {
  const two = createTwoSubgraphs();
  const server = await createSubgraphServer({
    subgraph: two.media,
    internalKey: KEY,
    logger: silentLogger(),
    host: '127.0.0.1',
    port: 0,
    uploadMaxBytes: 1_000,
    readiness: {},
    ...options,
  });
  cleanups.push(() => server.close());
  return { two, server, url: server.url };
}

/** A link as the gateway has it. */
export function linkTo(urls: readonly string[], options: Partial<RemoteLinkOptions> = {}) {
  const logger = silentLogger();
  const endpoints = createEndpoints({ urls, logger });
  const sign = createCallerSigner({ key: KEY, audience: 'media' });
  const link = createRemoteLink({ name: 'media', endpoints, sign, channelKey: KEY, logger, ...options });
  cleanups.push(async () => {
    await link.close();
    await endpoints.close();
  });
  return link;
}

/** The network in front of a server, for one test. */
export async function startTestRelay(target: string) {
  const relay = await startRelay(target);
  cleanups.push(() => relay.close());
  return { ...relay, url: `${relay.url}/graphql` };
}
