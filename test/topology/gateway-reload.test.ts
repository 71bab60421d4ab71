import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { type Client, createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import {
  composeTwoSubgraphs,
  createTwoSubgraphs,
  type TwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { graphql } from '../kit/clients/requests.ts';
import { extent } from '../kit/extent.ts';
import { type GatewayAlone, startGateway } from './other-gateway.ts';
import { temporaryFolder } from './places.ts';
import { type PlainSubgraph, servePlainly } from './plain-subgraph.ts';

/** A gateway whose supergraph changes while it serves. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let two: TwoSubgraphs;
let media: PlainSubgraph;
let workflow: PlainSubgraph;
let gateway: GatewayAlone;
let url: string;
let supergraph: string;
let client: Client;
beforeAll(async () => {
  folder = await temporaryFolder();
  two = createTwoSubgraphs();
  [media, workflow] = await Promise.all([servePlainly(two.media), servePlainly(two.workflow)]);
  supergraph = path.join(folder.path, 'supergraph.graphql');
  await writeFile(supergraph, composed('summary: String'));
  gateway = await startGateway(['--supergraph', supergraph]);
  ({ url } = gateway);
  client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
});
afterAll(async () => {
  await client?.dispose();
  await gateway?.end();
  await Promise.all([media?.close(), workflow?.close()]);
  await folder?.remove();
});

/** The supergraph with a field of another type or name, which changes no plan of the others. */
const composed = (summary: string) =>
  composeTwoSubgraphs({ media: media.url, workflow: workflow.url }, summary);

const times = (text: string): number => gateway.output().split(text).length - 1;

/** Writes the file, and waits until the gateway has taken or refused it. */
async function replace(text: string, said = 'serves a new graph'): Promise<void> {
  const before = times(said);
  await writeFile(supergraph, text);
  await expect.poll(() => times(said)).toBe(before + 1);
}

const SUMMARY = '{ task(id: "t2") { id summary } }';

it('serves what the file says when it changes, and at SIGHUP', async () => {
  const RENAMED = '{ task(id: "t2") { id digest: gist } }';
  expect(await graphql(url, RENAMED)).toMatchObject({ errors: [{}] });
  await replace(composed('gist: String'));
  expect((await graphql(url, SUMMARY)).errors?.[0]?.extensions).toMatchObject({
    code: 'GRAPHQL_VALIDATION_FAILED',
  });
  await replace(composed('summary: String'));
  expect(await graphql(url, SUMMARY)).toMatchObject({ data: { task: { id: 't2' } } });
  const before = times('serves a new graph');
  // What a signal to its process does.
  process.emit('SIGHUP', 'SIGHUP');
  await expect.poll(() => times('serves a new graph')).toBe(before + 1);
});

it('keeps the graph that it has when the file is no supergraph', async () => {
  const good = await readFile(supergraph, 'utf8');
  await replace('type Query { half', 'the new graph is refused');
  expect(await graphql(url, SUMMARY)).toMatchObject({ data: { task: { id: 't2' } } });
  await replace(good);
});

it('keeps subscriptions whose plan is the same, and tells the others to come back', async () => {
  const same = client.iterate({ query: 'subscription { taskProgress(id: "t2") { seq task { id } } }' });
  const other = client.iterate({
    query: 'subscription { taskProgress(id: "t2") { seq task { id summary } } }',
  });
  const [ofSame, ofOther] = [same.next(), other.next()];
  await expect.poll(() => two.listenerCount()).toBe(2);
  const ended = ofOther.catch((error: unknown) => error);
  await replace(composed('summary: String!'));
  expect(await ended).toMatchObject([{ extensions: { code: 'SUBSCRIPTION_SCHEMA_RELOAD' } }]);
  two.emit('t2', 1);
  expect((await ofSame).value).toMatchObject({ data: { taskProgress: { seq: 1 } } });
  await same.return?.();
  await expect.poll(() => two.listenerCount()).toBe(0);
});

const RELOADS = extent(3, 10);
it(`fails no request over ${RELOADS} reloads`, async () => {
  let left = extent(300, 10_000);
  const failures: unknown[] = [];
  const ask = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const answer = await graphql(url, '{ task(id: "t2") { id state execution { name } } }').catch(
        (error: unknown) => ({ error }),
      );
      if (!('data' in answer) || answer.errors !== undefined) failures.push(answer);
    }
  };
  const asking = Promise.all(Array.from({ length: 8 }, ask));
  for (let index = 0; index < RELOADS; index += 1) {
    await replace(composed(index % 2 === 0 ? 'gist: String' : 'summary: String'));
    // The requests go on until the last reload.
    left = Math.max(left, index < RELOADS - 1 ? 100 : 0);
  }
  await asking;
  expect(failures).toEqual([]);
});
