import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { ExecutionResult } from 'graphql';
import { afterEach, describe, expect, it } from 'vitest';

import { createEndpoints, type EndpointsOptions } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { createCallerSigner } from '../assertions/caller-assertion.ts';
import { isStream } from '../operations/streams.ts';
import { createSubgraphServer } from '../subgraph-server/server.ts';
import { createContext, createTwoSubgraphs } from '../subgraph-server/two-subgraphs.fixture.ts';
import { createRemoteLink } from './remote-link.ts';

const KEY = 'only-for-tests-0123456789abcdef0123456789';
const logger = silentLogger();
const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A real media server of the fixture's subgraph. */
async function startMedia() {
  const two = createTwoSubgraphs();
  const server = await createSubgraphServer({
    subgraph: two.media,
    internalKey: KEY,
    logger,
    host: '127.0.0.1',
    port: 0,
    uploadMaxBytes: 1_000,
    readiness: {},
  });
  let isClosed = false;
  const close = async () => {
    if (!isClosed) await server.close();
    isClosed = true;
  };
  cleanups.push(close);
  return { ...two, url: server.url, close };
}

/** A server that takes what it is asked and answers as the test wants. */
async function startStub(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
}

function linkTo(urls: readonly string[], options: Partial<EndpointsOptions> = {}) {
  const endpoints = createEndpoints({ urls, logger, ...options });
  const sign = createCallerSigner({ key: KEY, audience: 'media' });
  const link = createRemoteLink({ name: 'media', endpoints, sign, logger });
  cleanups.push(
    () => endpoints.close(),
    () => link.close(),
  );
  return { link, endpoints };
}

const read = { query: '{ caller }', variables: {}, context: createContext() };
const answer = { data: { caller: 'user:usr_1' } };

describe('a link to several processes', () => {
  it('shares requests out evenly, and notices nothing when one of them dies', async () => {
    const processes = [await startMedia(), await startMedia()];
    const { link } = linkTo(processes.map(({ url }) => url));
    const asked = Array.from({ length: 20 }, () => ({ ...read, query: '{ hang }' }));
    const leave = new AbortController();
    const context = createContext('usr_1', leave.signal);
    const waiting = asked.map((request) => link.execute({ ...request, context }));
    await expect.poll(() => processes.map(({ hanging }) => hanging.length)).toEqual([10, 10]);
    leave.abort();
    await Promise.all(waiting);

    let closed: Promise<void> | undefined;
    for (let round = 0; round < 30; round += 1) {
      if (round === 10) closed = processes[0]?.close();
      const results = await Promise.all(Array.from({ length: 5 }, () => link.execute(read)));
      expect(results).toEqual(Array.from({ length: 5 }, () => answer));
    }
    await closed;
  });

  it('follows a task at the process that lives', async () => {
    const [dead, alive] = [await startMedia(), await startMedia()];
    const { link } = linkTo([dead.url, alive.url]);
    await dead.close();
    for (let count = 1; count <= 4; count += 1) {
      const query = 'subscription { taskProgress(id: "t1") { seq } }';
      const stream = await link.subscribe({ ...read, query });
      if (!isStream<ExecutionResult>(stream)) throw new Error('no stream');
      const first = stream.next();
      await expect.poll(() => alive.listenerCount()).toBe(count);
      alive.emit('t1', count);
      expect((await first).value).toEqual({ data: { taskProgress: { seq: count } } });
    }
  });

  it('asks another process when one cuts a read, and never sends a change twice', async () => {
    const seen: string[] = [];
    const cutting = await startStub((request, response) => {
      if (request.url === '/readyz') {
        response.end('{}');
        return;
      }
      request.on('data', (chunk: Buffer) => seen.push(JSON.parse(chunk.toString()).query));
      request.on('end', () => request.socket.destroy());
    });
    const { link } = linkTo([cutting, (await startMedia()).url]);
    for (let count = 0; count < 4; count += 1) expect(await link.execute(read)).toEqual(answer);
    expect(seen.length).toBeGreaterThan(0);
    const query = 'mutation { upload }';
    const results = await Promise.all([0, 1].map(() => link.execute({ ...read, query })));
    const codes = results.map(({ errors }) => errors?.[0]?.extensions['code']);
    expect(new Set(codes)).toEqual(new Set(['GRAPHQL_VALIDATION_FAILED', 'UNAVAILABLE']));
    expect(seen.filter((sent) => sent === query)).toHaveLength(1);
  });

  it('sends a change to another process where nobody listens', async () => {
    const dead = await startMedia();
    const { link } = linkTo([dead.url, (await startMedia()).url]);
    await dead.close();
    const query = 'mutation { upload }';
    const results = await Promise.all([0, 1].map(() => link.execute({ ...read, query })));
    for (const { errors } of results)
      expect(errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });

  it('asks another process for what waits at one that has stopped answering', async () => {
    let isStuck = false;
    const stuck = await startStub((request, response) => {
      if (isStuck) return;
      if (request.url === '/readyz') response.end('{}');
      else isStuck = true;
    });
    const { link } = linkTo([stuck, (await startMedia()).url], { everyMs: 50, timeoutMs: 1_000 });
    expect(await Promise.all([link.execute(read), link.execute(read)])).toEqual([answer, answer]);
    expect(isStuck).toBe(true);
  });

  it('finds the addresses of a name, and what it gains and loses', async () => {
    const media = await startMedia();
    const { port } = new URL(media.url);
    let addresses = ['127.0.0.1', '127.0.0.2'];
    const { link, endpoints } = linkTo([`http://media.test:${port}/graphql`], {
      everyMs: 20,
      resolve: async () => addresses.map((address) => ({ address, family: 4 })),
    });
    await expect.poll(() => endpoints.count()).toBe(2);
    // Nobody listens at the second one.
    for (let count = 0; count < 4; count += 1) expect(await link.execute(read)).toEqual(answer);
    addresses = ['127.0.0.1', '127.0.0.3', '127.0.0.4'];
    await expect.poll(() => endpoints.count()).toBe(3);
    expect(await link.execute(read)).toEqual(answer);
  });
});
