import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import {
  composeTwoSubgraphs,
  createTwoSubgraphs,
  type TwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { graphql, rest, until } from '../kit/clients/requests.ts';
import { overEvents, overWebSocket } from '../subscriptions/bare-sockets.ts';
import { type GatewayAlone, startGateway } from './other-gateway.ts';
import { temporaryFolder } from './places.ts';
import { type PlainSubgraph, servePlainly } from './plain-subgraph.ts';

/** A gateway with `--supergraph FILE` over subgraphs that know nothing of Kiln. */

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let two: TwoSubgraphs;
let media: PlainSubgraph;
let workflow: PlainSubgraph;
let file: string;
let gateway: GatewayAlone;
let url: string;
/** A gateway that asks for a credential. */
let closed: GatewayAlone;
beforeAll(async () => {
  folder = await temporaryFolder();
  two = createTwoSubgraphs();
  [media, workflow] = await Promise.all([servePlainly(two.media), servePlainly(two.workflow)]);
  file = path.join(folder.path, 'foreign.graphql');
  await writeFile(file, composeTwoSubgraphs({ media: media.url, workflow: workflow.url }));
  [gateway, closed] = await Promise.all([
    start({}),
    start({
      REST_AUTH: 'required',
      INTERNAL_KEY: 'k'.repeat(40),
      SERVICE_KEYS: `shop=${sha256('shop-secret')}`,
    }),
  ]);
  ({ url } = gateway);
});
afterAll(async () => {
  await Promise.all([gateway?.end(), closed?.end()]);
  await Promise.all([media?.close(), workflow?.close()]);
  await folder?.remove();
});

const start = (settings: Record<string, string>, supergraph = file) =>
  startGateway(['--supergraph', supergraph], settings);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

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

describe('where a credential is required', () => {
  const bearer = { authorization: 'Bearer of-an-end-user' };

  it.each([
    ['a query', '{ executions { name } }', {}],
    ['a mutation', 'mutation { start(name: "x") { name } }', {}],
    [
      'server-sent events',
      'subscription { taskProgress(id: "t2") { seq } }',
      { accept: 'text/event-stream' },
    ],
    [
      'multipart',
      'subscription { taskProgress(id: "t2") { seq } }',
      { accept: 'multipart/mixed;subscriptionSpec=1.0, application/json' },
    ],
  ])('refuses %s without one, and asks no subgraph', async (_, query, headers) => {
    const before = media.seen.length + workflow.seen.length;
    const response = await fetch(`${closed.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    expect([response.status, await response.text()]).toEqual([
      401,
      expect.stringContaining('UNAUTHENTICATED'),
    ]);
    expect(media.seen.length + workflow.seen.length).toBe(before);
  });

  it('refuses a WebSocket without one', async () => {
    const client = createClient({
      url: `${closed.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    });
    const over = client.iterate({ query: '{ executions { name } }' }).next();
    await expect(over).rejects.toMatchObject({ code: 4403 });
  });

  it("passes an end user's bearer on, and nothing of Kiln's", async () => {
    const before = workflow.seen.length;
    const { data } = await graphql(closed.url, '{ executions { name } }', {}, bearer);
    expect(data.executions).toHaveLength(2);
    const [headers] = workflow.seen.slice(before);
    expect(headers).toMatchObject(bearer);
    expect(headers).not.toHaveProperty('x-kiln-caller');
  });

  it('passes it on with subscriptions, each over a connection of its own', async () => {
    const before = media.params.length;
    const client = createClient({
      url: `${closed.url.replace('http', 'ws')}/graphql`,
      webSocketImpl: WebSocket,
      connectionParams: bearer,
    });
    const events = client.iterate({ query: 'subscription { taskProgress(id: "t2") { seq } }' });
    const first = events.next();
    await until(
      async () => two.listenerCount(),
      (count) => count === 1,
    );
    two.emit('t2', 7);
    expect((await first).value).toMatchObject({ data: { taskProgress: { seq: 7 } } });
    expect(media.params.slice(before)).toEqual([bearer]);
    await events.return?.();
    await client.dispose();
    await expect.poll(() => two.listenerCount()).toBe(0);
  });

  it('never sends a service key of its own to a subgraph', async () => {
    const before = workflow.seen.length;
    const shop = { authorization: 'Bearer shop-secret' };
    expect((await graphql(closed.url, '{ executions { name } }', {}, shop)).data.executions).toHaveLength(2);
    expect(JSON.stringify(workflow.seen.slice(before))).not.toMatch(/shop-secret|x-kiln-caller/);
  });
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

it('goes on with events while a joined subgraph is away, and ends with an error when the source is lost', async () => {
  const own = createTwoSubgraphs();
  const [source, joined] = await Promise.all([servePlainly(own.media), servePlainly(own.workflow)]);
  const other = path.join(folder.path, 'away.graphql');
  await writeFile(other, composeTwoSubgraphs({ media: source.url, workflow: joined.url }));
  const away = await start({}, other);
  await joined.close();
  const query = 'subscription { taskProgress(id: "t2") { seq task { id summary } } }';
  const client = createClient({
    url: `${away.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const events = client.iterate({ query });
  const first = events.next();
  await expect.poll(() => own.listenerCount()).toBe(1);
  for (const seq of [1, 2, 3]) own.emit('t2', seq);
  for (const [index, event] of [await first, await events.next(), await events.next()].entries()) {
    expect(event.value).toMatchObject({
      data: { taskProgress: { seq: index + 1, task: { id: 't2', summary: null } } },
      errors: [{ extensions: { code: 'UNAVAILABLE' } }],
    });
  }
  const last = events.next();
  await source.close();
  await expect(last).rejects.toMatchObject([{ extensions: { code: 'UNAVAILABLE' } }]);
  await client.dispose();
  await away.end();
});

it('leaves no subscription behind at the subgraph when its subscribers vanish', async () => {
  const payload = { query: 'subscription { taskProgress(id: "t2") { seq } }', variables: {} };
  const sockets = await Promise.all(
    Array.from({ length: 40 }, () => [overWebSocket(url, payload), overEvents(url, payload)]).flat(),
  );
  await until(
    async () => two.listenerCount(),
    (count) => count === sockets.length,
  );
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => two.listenerCount()).toBe(0);
});

it('has none of the documented REST paths, and says why in its log', async () => {
  for (const documented of ['/', '/api/task/status/1', '/openapi.json', '/docs']) {
    const answer = await rest(url, 'GET', documented);
    expect([answer.status, answer.body.msg]).toEqual([404, `no such path: ${documented}`]);
  }
  expect(gateway.output()).toContain('REST is off');
});
