import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { composeServices } from '@apollo/composition';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { createClient } from 'graphql-ws';
import { useServer } from 'graphql-ws/use/ws';
import { generate } from 'selfsigned';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

import { graphql } from '../kit/clients/requests.ts';
import { inDocs, type OtherGateway, startOtherGateway } from './other-gateway.ts';
import { createYoga } from './shop.ts';

/** A subgraph over TLS with certificates of an authority of its own, which takes nobody without one of them. */

const TYPES = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])
type Query { word: String } type Subscription { ticks: Int! }`;

const named = (value: string) => [{ name: 'commonName', value }];
const authority = await generate(named('An authority of our own'), {
  extensions: [
    { name: 'basicConstraints', cA: true, critical: true },
    { name: 'keyUsage', keyCertSign: true, cRLSign: true },
  ],
});
const signedBy = { ca: { key: authority.private, cert: authority.cert } };
const subgraph = await generate(named('subgraph'), {
  ...signedBy,
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
});
const known = await generate(named('gateway'), signedBy);
const stranger = await generate(named('gateway'));

const schema = buildSubgraphSchema({
  typeDefs: parse(TYPES),
  resolvers: {
    Query: { word: () => 'private' },
    Subscription: {
      ticks: {
        async *subscribe() {
          for (const ticks of [1, 2]) yield { ticks };
        },
      },
    },
  },
});
const server = createServer(
  {
    key: subgraph.private,
    cert: subgraph.cert,
    ca: authority.cert,
    requestCert: true,
    rejectUnauthorized: true,
  },
  createYoga({ logging: false, schema, plugins: [] }),
);
const subscriptions = useServer({ schema }, new WebSocketServer({ server, path: '/graphql' }));
const gateways: OtherGateway[] = [];
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.end()));
  await subscriptions.dispose();
  server.closeAllConnections();
  server.close();
});

const FILES = {
  'ca.pem': authority.cert,
  'gateway.pem': known.cert,
  'gateway-key.pem': known.private,
  'other.pem': stranger.cert,
  'other-key.pem': stranger.private,
};

const writeConfig = (...lines: readonly string[]): string =>
  ['subgraphs:', '  words:', ...lines.map((line) => `    ${line}`)].join('\n');

/** A gateway whose configuration has these lines for the subgraph. */
async function start(...lines: readonly string[]): Promise<OtherGateway> {
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  const { supergraphSdl = '' } = composeServices([{ name: 'words', url, typeDefs: parse(TYPES) }]);
  const gateway = await startOtherGateway({
    supergraph: supergraphSdl,
    config: writeConfig(...lines),
    files: FILES,
  });
  gateways.push(gateway);
  return gateway;
}

async function readTicks({ url }: OtherGateway): Promise<readonly unknown[]> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const seen: unknown[] = [];
  for await (const { data } of client.iterate({ query: 'subscription { ticks }' }))
    seen.push(data?.['ticks']);
  await client.dispose();
  return seen;
}

/** As docs/gateway.md has it. */
const TLS = inDocs(/# (tls: \{.*\})/);

it.each(['graphql-ws', 'sse'])(
  'asks and subscribes over %s with the authority and the certificate of the file',
  async (protocol) => {
    const gateway = await start(TLS, `subscriptions: { protocol: ${protocol} }`);
    expect(await graphql(gateway.url, '{ word }')).toEqual({ data: { word: 'private' } });
    expect(await readTicks(gateway)).toEqual([1, 2]);
  },
);

it('is refused without a certificate, with one of nobody, and without the authority', async () => {
  const gateway = await start(TLS);
  const file = path.join(gateway.folder, 'gateway.yaml');
  const fetchCode = async () => (await graphql(gateway.url, '{ word }')).errors?.[0]?.extensions['code'];
  for (const wrong of [
    'tls: { ca: ca.pem }',
    'tls: { ca: ca.pem, certificate: other.pem, key: other-key.pem }',
    'tls: { certificate: gateway.pem, key: gateway-key.pem }',
  ]) {
    await writeFile(file, writeConfig(wrong));
    await expect.poll(fetchCode).toBe('UNAVAILABLE');
    await writeFile(file, writeConfig(TLS));
    await expect.poll(fetchCode).toBeUndefined();
  }
});
