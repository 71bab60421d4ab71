import { type AddressInfo, connect, createServer } from 'node:net';

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

/** A server in front of another one, which tells what came through it. */
export async function startRelay(target: string) {
  const { port } = new URL(target);
  const seen: Buffer[] = [];
  let connections = 0;
  let open = 0;
  const relay = createServer((socket) => {
    connections += 1;
    open += 1;
    socket.once('close', () => (open -= 1));
    const behind = connect(Number(port), '127.0.0.1');
    socket.on('data', (chunk) => void seen.push(chunk));
    socket.pipe(behind).pipe(socket);
    for (const side of [socket, behind]) side.on('error', () => side.destroy());
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => void relay.close());
  return {
    url: `http://127.0.0.1:${(relay.address() as AddressInfo).port}/graphql`,
    text: () => Buffer.concat(seen).toString('latin1'),
    /** All that there were, and those that are there. */
    connections: () => connections,
    open: () => open,
  };
}
