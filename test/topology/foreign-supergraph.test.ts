import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { ApolloServer } from '@apollo/server';
import { ApolloServerPluginInlineTraceDisabled } from '@apollo/server/plugin/disabled';
import { startStandaloneServer } from '@apollo/server/standalone';
import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import type { Subgraph } from '../../platform/graphql/operations/subgraph.ts';
import { createSubgraphServer, type SubgraphServer } from '../../platform/graphql/subgraph-server/server.ts';
import {
  composeTwoSubgraphs,
  createTwoSubgraphs,
  type TwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { graphql, rest, until } from '../kit/clients/requests.ts';
import { overEvents, overWebSocket } from '../subscriptions/bare-sockets.ts';
import { freePorts, isReady, startProgram, temporaryFolder, type Program } from './processes.ts';

/** `npm run start:gateway -- --supergraph FILE` over subgraphs that know nothing of Kiln: one served as ours are, one by Apollo alone. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let two: TwoSubgraphs;
let media: SubgraphServer;
let workflow: ApolloServer;
let gateway: Program;
let url: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  two = createTwoSubgraphs();
  media = await serve(two.media);
  workflow = new ApolloServer({
    schema: two.workflow.schema,
    // It would announce itself on the console.
    plugins: [ApolloServerPluginInlineTraceDisabled()],
  });
  const plain = await startStandaloneServer(workflow, { listen: { host: '127.0.0.1', port: 0 } });
  const file = path.join(folder.path, 'foreign.graphql');
  await writeFile(file, composeTwoSubgraphs({ media: media.url, workflow: plain.url }));
  const [port] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  gateway = await startProgram({
    command: 'npm',
    words: ['run', '--silent', 'start:gateway', '--', '--supergraph', file],
    settings: { PORT: String(port), RATE_LIMIT: 'off' },
    ready: () => isReady(url),
  });
});
afterAll(async () => {
  await gateway?.end();
  await Promise.all([media?.close(), workflow?.stop()]);
  await folder?.remove();
});

function serve(subgraph: Subgraph): Promise<SubgraphServer> {
  return createSubgraphServer({
    subgraph,
    internalKey: 'known-to-nobody-0123456789abcdef0123456789',
    logger: silentLogger(),
    host: '127.0.0.1',
    port: 0,
    uploadMaxBytes: 1_000,
    readiness: () => Promise.resolve(),
  });
}

it('answers queries, joined over both subgraphs', async () => {
  const answer = await graphql(
    url,
    `
      {
        task(id: "t2") {
          id
          state
          summary
          execution {
            name
            cover {
              url
            }
          }
        }
        executions {
          name
          cover {
            url
          }
        }
      }
    `,
  );
  expect(answer).toEqual({
    data: {
      task: {
        id: 't2',
        state: expect.any(String),
        summary: expect.stringMatching(/^t2 is /),
        execution: { name: expect.any(String), cover: { url: expect.stringMatching(/^https:\/\/files\//) } },
      },
      executions: [
        { name: 'a', cover: { url: 'https://files/cover-a' } },
        { name: 'b', cover: { url: 'https://files/cover-b' } },
      ],
    },
  });
});

it('tells foreign subgraphs nothing of the caller', async () => {
  const { data } = await graphql(url, '{ caller }');
  expect(data.caller).toMatch(/^anonymous:/);
});

it('carries subscriptions, with what the other subgraph joins', async () => {
  const client = createClient({ url: `${url.replace('http', 'ws')}/graphql`, webSocketImpl: WebSocket });
  const query = 'subscription { taskProgress(id: "t2") { seq task { id execution { name } } } }';
  const seen: unknown[] = [];
  const over = (async () => {
    for await (const { data } of client.iterate({ query })) seen.push(data?.['taskProgress']);
  })();
  await until(
    async () => two.listenerCount(),
    (count) => count === 1,
  );
  for (const seq of [1, 2, 3]) two.emit('t2', seq);
  await until(
    async () => seen.length,
    (length) => length === 3,
  );
  two.complete();
  await over;
  await client.dispose();
  const task = { id: 't2', execution: { name: expect.any(String) } };
  expect(seen).toEqual([1, 2, 3].map((seq) => ({ seq, task })));
  expect(two.listenerCount()).toBe(0);
});

it('leaves no subscription behind at the subgraph when its subscribers vanish', async () => {
  // A subgraph of ours takes at most 100 on one socket from whoever is not vouched for by its own gateway.
  const payload = { query: 'subscription { taskProgress(id: "t2") { seq } }', variables: {} };
  const sockets = await Promise.all(
    Array.from({ length: 40 }, () => [overWebSocket(url, payload), overEvents(url, payload)]).flat(),
  );
  await until(
    async () => two.listenerCount(),
    (count) => count === sockets.length,
  );
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => two.listenerCount(), { timeout: 30_000 }).toBe(0);
});

it('has none of the documented REST paths, and says why in its log', async () => {
  for (const documented of ['/', '/api/task/status/1', '/openapi.json', '/docs']) {
    const answer = await rest(url, 'GET', documented);
    expect([answer.status, answer.body.msg]).toEqual([404, `no such path: ${documented}`]);
  }
  expect(gateway.output()).toContain('REST is off');
});
