import { once } from 'node:events';

import { type Client, createClient } from 'graphql-ws';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createRateLimiter, type RateLimiter } from '../../limits/rate-limit.ts';
import { createPersistedOperations } from '../../persisted/persisted-operations.ts';
import {
  type TestGateway,
  SHOP_SECRET,
  startTestGateway,
  until,
} from '../../server/server-under-test.fixture.ts';
import { HOSTILE } from '../hostile-queries.fixture.ts';

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of leftovers.splice(0).toReversed()) await stop();
});

async function open(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  leftovers.push(() => gateway.close());
  return gateway;
}

function connect(gateway: TestGateway, connectionParams?: Record<string, unknown>): Client {
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    ...(connectionParams === undefined ? {} : { connectionParams }),
  });
  leftovers.push(() => client.dispose());
  return client;
}

async function first(
  client: Client,
  query: string,
  variables: Record<string, unknown> = {},
): Promise<unknown> {
  for await (const result of client.iterate({ query, variables })) return result;
  return undefined;
}

async function catchFailure(client: Client, query: string): Promise<unknown> {
  try {
    const result = (await first(client, query)) as { errors?: readonly unknown[] } | undefined;
    return result?.errors?.[0];
  } catch (thrown) {
    return Array.isArray(thrown) ? thrown[0] : thrown;
  }
}

const PROGRESS = `subscription ($id: ID!, $after: Int) {
  taskProgress(id: $id, afterSeq: $after) { seq progress task { id template } }
}`;

describe('graphql-transport-ws', () => {
  test.each(['{ hang }', 'subscription { taskProgress(id: "a") { progress } }'])(
    'takes the id of a completed operation again at once: %s',
    async (query) => {
      const gateway = await open();
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      leftovers.push(() => socket.terminate());
      const got: unknown[] = [];
      socket.on('message', (data: Buffer) => got.push(JSON.parse(data.toString())));
      const send = (message: object) => socket.send(JSON.stringify(message));
      await new Promise((resolve) => socket.once('open', resolve));
      send({ type: 'connection_init' });
      await until(() => got.length === 1);
      const follow = 'subscription { taskProgress(id: "b") { progress } }';
      send({ type: 'subscribe', id: '1', payload: { query } });
      await until(() => gateway.world.hanging.length + gateway.world.listenerCount() === 1);
      for (let again = 0; again < 3; again += 1) {
        send({ type: 'complete', id: '1' });
        send({ type: 'subscribe', id: '1', payload: { query: follow } });
      }
      gateway.world.advance('b', 2);
      await until(() => got.length === 2);
      gateway.world.advance('a', 1);
      gateway.world.finish('b');
      await until(() => got.length === 3);
      expect(got.slice(1)).toEqual([
        { type: 'next', id: '1', payload: { data: { taskProgress: { progress: 2 } } } },
        { type: 'complete', id: '1' },
      ]);
    },
  );

  test('takes operations by the id under which they are persisted', async () => {
    const operations = [{ id: 'hello', body: '{ hello }', name: undefined }];
    const logger = silentLogger();
    const persisted = createPersistedOperations({ operations, mode: 'only', isAutomatic: false, logger });
    const client = connect(await open({ persisted }));
    const ask = async (sha256Hash: string) => {
      const extensions = { persistedQuery: { version: 1, sha256Hash } };
      for await (const result of client.iterate({ query: '', extensions })) return result;
      return undefined;
    };
    expect(await ask('hello')).toEqual({ data: { hello: 'hi' } });
    await expect(ask('unknown')).rejects.toMatchObject([
      { extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST' } },
    ]);
    expect(await catchFailure(client, '{ version }')).toMatchObject({
      extensions: { code: 'PERSISTED_QUERY_NOT_IN_LIST' },
    });
  });

  test('delivers growing progress with fields of the other subgraph, and the end', async () => {
    const gateway = await open();
    const client = connect(gateway);
    const seen: unknown[] = [];
    const done = (async () => {
      for await (const { data } of client.iterate({ query: PROGRESS, variables: { id: 't1' } }))
        seen.push(data);
    })();
    for (const progress of [10, 50, 100]) gateway.world.advance('t1', progress);
    gateway.world.finish('t1');
    await done;
    const task = { id: 't1', template: 'template of t1' };
    expect(seen).toEqual([
      { taskProgress: { seq: 1, progress: 10, task } },
      { taskProgress: { seq: 2, progress: 50, task } },
      { taskProgress: { seq: 3, progress: 100, task } },
    ]);
    expect(gateway.world.listenerCount()).toBe(0);
  });

  test('goes on after a stream broke off behind the gateway, as if it had not', async () => {
    const gateway = await open();
    const { world } = gateway;
    const seen: unknown[] = [];
    const done = (async () => {
      const query = 'subscription ($id: ID!) { taskProgress(id: $id) { progress } }';
      for await (const result of connect(gateway).iterate({ query, variables: { id: 't2' } })) {
        seen.push(result);
      }
    })();
    world.advance('t2', 10);
    await until(() => seen.length === 1);
    world.breakOff();
    for (const progress of [50, 100]) world.advance('t2', progress);
    world.finish('t2');
    await done;
    expect(seen).toEqual([10, 50, 100].map((progress) => ({ data: { taskProgress: { progress } } })));
  });

  test('tells a follower in the end that a subgraph stays away, and asks it less and less meanwhile', async () => {
    const gateway = await open({ resumeMs: 2_000 });
    const { world } = gateway;
    const seen: unknown[] = [];
    const done = (async () => {
      for await (const result of connect(gateway).iterate({ query: PROGRESS, variables: { id: 't3' } })) {
        seen.push(result.errors?.[0]?.extensions?.['code'] ?? 'event');
      }
    })();
    world.advance('t3', 10);
    await until(() => seen.length === 1);
    world.isUnavailable = true;
    world.breakOff();
    const gone = [{ extensions: { code: 'UNAVAILABLE' } }];
    await expect(done).rejects.toMatchObject(gone);
    expect(seen).toEqual(['event']);
    expect(world.subscribed).toBeLessThan(10);
    await expect(first(connect(gateway), PROGRESS, { id: 't3' })).rejects.toMatchObject(gone);
  });

  test('runs queries and mutations too', async () => {
    const gateway = await open();
    const client = connect(gateway);
    expect(await first(client, '{ hello }')).toEqual({ data: { hello: 'hi' } });
    expect(await first(client, 'mutation { start }')).toEqual({ data: { start: 'task-1' } });
  });

  test('aborts a running query when its client no longer wants it, and nothing else of the socket', async () => {
    const gateway = await open();
    const { hanging } = gateway.world;
    const client = connect(gateway);
    const ignore = { next: () => {}, error: () => {}, complete: () => {} };
    // Another operation, so that the socket stays open.
    client.subscribe({ query: PROGRESS, variables: { id: 't1' } }, ignore);
    const leave = client.subscribe({ query: '{ hang }' }, ignore);
    await until(() => hanging.length === 1 && gateway.world.listenerCount() === 1);
    expect(hanging[0]?.aborted).toBe(false);
    leave();
    await until(() => hanging[0]?.aborted === true);
    expect(gateway.world.listenerCount()).toBe(1);
  });

  test('knows the caller by connection_init, and closes with 4403 for a forged credential', async () => {
    const gateway = await open();
    const { data } = (await first(
      connect(gateway, { authorization: `Bearer ${SHOP_SECRET}` }),
      '{ whoami }',
    )) as {
      data: { whoami: string };
    };
    expect(JSON.parse(data.whoami)).toMatchObject({ kind: 'key', id: 'key_shop', scopes: ['admin'] });
    const forged = connect(gateway, { headers: { Authorization: 'Bearer kiln_forged' } });
    await expect(catchFailure(forged, '{ hello }')).resolves.toMatchObject({ code: 4403 });
  });

  test('gives whoever guesses credentials a limit', async () => {
    const gateway = await open({ rateLimiter: createRateLimiter({ read: 2 }) });
    const codes: unknown[] = [];
    for (let guess = 0; guess < 3; guess += 1) {
      const client = connect(gateway, { authorization: `Bearer kiln_guess${guess}` });
      codes.push(((await catchFailure(client, '{ hello }')) as { code?: number }).code);
    }
    expect(codes).toEqual([4403, 4403, 4429]);
    const response = await fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer kiln_guess' },
      body: '{"query":"{ hello }"}',
    });
    expect(response.status).toBe(429);
  });

  test.each(HOSTILE)('refuses too much %s before execution', async (limit, query) => {
    const gateway = await open();
    expect(await catchFailure(connect(gateway), query)).toMatchObject({
      extensions: { code: 'QUERY_REFUSED', limit },
    });
    expect(gateway.world.starts).toBe(0);
  });

  test('closes the socket for messages over 1 MB and for batches', async () => {
    const gateway = await open();
    const big = connect(gateway);
    await expect(catchFailure(big, `{ hello } # ${'x'.repeat(1_100_000)}`)).resolves.toMatchObject({
      code: 1009,
    });
    const raw = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    leftovers.push(() => raw.terminate());
    const closed = new Promise((resolve) => raw.once('close', resolve));
    raw.once('open', () => {
      const subscribe = { id: '1', type: 'subscribe', payload: { query: 'mutation { start }' } };
      raw.send(JSON.stringify(Array.from({ length: 100 }, () => subscribe)));
    });
    expect(await closed).toBe(4400);
    expect(gateway.world.starts).toBe(0);
  });

  test('masks unknown errors and keeps codes, as over HTTP', async () => {
    const gateway = await open();
    const result = (await first(connect(gateway), '{ refuse fail }')) as {
      errors: readonly { extensions: object }[];
    };
    expect(result.errors.map(({ extensions }) => extensions)).toEqual(
      expect.arrayContaining([
        { code: 'NOT_FOUND', field: 'id' },
        { code: 'INTERNAL', traceId: expect.stringMatching(/^[0-9a-f]{32}$/) },
      ]),
    );
    expect(
      await catchFailure(connect(gateway), 'subscription { taskProgress(id: "unknown") { seq } }'),
    ).toMatchObject({
      message: 'no such task',
      extensions: { code: 'NOT_FOUND' },
    });
    expect(await catchFailure(connect(gateway), '{ nothing }')).toMatchObject({
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    });
  });

  test('bounds the running operations of one socket, and the rate of one caller', async () => {
    const gateway = await open({ rateLimiter: createRateLimiter({ read: 105 }) });
    const client = connect(gateway);
    const refusals: unknown[] = [];
    for (let index = 0; index < 101; index += 1) {
      client.subscribe(
        { query: PROGRESS, variables: { id: `quiet${index}` } },
        { next: () => undefined, complete: () => undefined, error: (error) => void refusals.push(error) },
      );
    }
    await until(() => refusals.length === 1 && gateway.world.listenerCount() === 100);
    expect(refusals[0]).toMatchObject([
      { extensions: { code: 'QUERY_REFUSED', limit: 'concurrent-operations', allowed: 100 } },
    ]);
    const other = connect(gateway);
    for (let index = 0; index < 5; index += 1) await first(other, '{ hello }');
    expect(await catchFailure(other, '{ hello }')).toMatchObject({ extensions: { code: 'RATE_LIMITED' } });
  });

  test('ends the sources of 200 subscribers that vanish', async () => {
    const gateway = await open();
    const sockets: WebSocket[] = [];
    for (let index = 0; index < 20; index += 1) {
      const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      sockets.push(socket);
      leftovers.push(() => socket.terminate());
      socket.once('open', () => socket.send('{"type":"connection_init"}'));
      socket.once('message', () => {
        for (let id = 0; id < 10; id += 1) {
          const payload = { query: PROGRESS, variables: { id: 'quiet' } };
          socket.send(JSON.stringify({ id: String(id), type: 'subscribe', payload }));
        }
      });
    }
    await until(() => gateway.world.listenerCount() === 200);
    for (const socket of sockets) socket.terminate();
    await until(() => gateway.world.listenerCount() === 0 && gateway.server.openStreams() === 0);
    expect(gateway.world.listenerCount()).toBe(0);
  });

  test('cuts off a client that does not read, and the rest goes on', async () => {
    const gateway = await open({ stallMs: 500 });
    const slow = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    leftovers.push(() => slow.terminate());
    slow.once('open', () => slow.send('{"type":"connection_init"}'));
    slow.once('message', () => {
      const query = 'subscription { taskProgress(id: "t1") { seq padding(bytes: 4000000) } }';
      slow.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
      slow.pause();
    });
    await until(() => gateway.world.listenerCount() === 1);
    for (let index = 0; index < 10; index += 1) gateway.world.advance('t1', index);
    await until(() => gateway.world.listenerCount() === 0);
    await until(() => gateway.server.openStreams() === 0);
    expect(gateway.lines.join('')).toContain('does not read');
    expect(await first(connect(gateway), '{ hello }')).toEqual({ data: { hello: 'hi' } });
  });

  test('cuts off at once a client for which more than a bound waits unread', async () => {
    const gateway = await open();
    const idle = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    leftovers.push(() => idle.terminate());
    idle.once('open', () => idle.send('{"type":"connection_init"}'));
    idle.once('message', () => {
      const query = 'subscription { taskProgress(id: "t1") { seq padding(bytes: 4000000) } }';
      for (let id = 1; id <= 12; id += 1) {
        idle.send(JSON.stringify({ id: `${id}`, type: 'subscribe', payload: { query } }));
      }
      idle.pause();
    });
    await until(() => gateway.world.listenerCount() === 12);
    gateway.world.advance('t1', 1);
    await until(() => gateway.server.openStreams() === 0);
    expect(gateway.lines.join('')).toContain('buffer full');
    expect(gateway.world.listenerCount()).toBe(0);
  });

  test('lets the next client in as soon as the one before is acknowledged and in use', async () => {
    const gateway = await open({ opening: { atOnce: 1, turnMs: 60_000 } });
    let isInUse = false;
    const next = (): void => void (isInUse = true);
    const query = 'subscription { taskProgress(id: "t1") { seq } }';
    connect(gateway).subscribe({ query }, { next, error() {}, complete() {} });
    await until(() => gateway.world.listenerCount() === 1);
    gateway.world.advance('t1', 1);
    await until(() => isInUse);
    expect(await first(connect(gateway), '{ hello }')).toEqual({ data: { hello: 'hi' } });
  });

  test('refuses sockets from origins that may not call, and upgrades elsewhere', async () => {
    const gateway = await open({ corsOrigins: ['https://shop.example'] });
    const socketUrl = gateway.url.replace('http', 'ws');
    const readStatus = (url: string, origin: string) =>
      new Promise<number | undefined>((resolve) => {
        const socket = new WebSocket(url, 'graphql-transport-ws', { origin });
        socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
        socket.once('open', () => {
          socket.close();
          resolve(101);
        });
        socket.on('error', () => undefined);
      });
    expect(await readStatus(`${socketUrl}/graphql`, 'https://evil.example')).toBe(403);
    expect(await readStatus(`${socketUrl}/graphql`, 'https://shop.example')).toBe(101);
    expect(await readStatus(`${socketUrl}/graphql`, gateway.url)).toBe(101);
    expect(await readStatus(`${socketUrl}/elsewhere`, 'https://shop.example')).toBe(404);
  });

  test('answers 500 to an upgrade that fails on our side, and serves the next one', async () => {
    const counting = createRateLimiter({});
    let isGone = true;
    const take: RateLimiter['take'] = (...request) =>
      isGone ? Promise.reject(new Error('the counts are gone')) : counting.take(...request);
    const rateLimiter = { ...counting, take };
    const gateway = await open({ rateLimiter });
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.on('error', () => undefined);
    const [, answer] = await once(socket, 'unexpected-response');
    expect(answer.statusCode).toBe(500);
    isGone = false;
    expect(await first(connect(gateway), '{ hello }')).toEqual({ data: { hello: 'hi' } });
  });

  test('disconnects a client that answers no ping', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    leftovers.push(() => vi.useRealTimers());
    const { url } = await open();
    const client = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      autoPong: false,
    });
    leftovers.push(() => client.terminate());
    const heard: string[] = [];
    for (const event of ['ping', 'pong', 'close']) client.on(event, () => heard.push(event));
    client.on('error', () => undefined);
    await once(client, 'open');
    vi.advanceTimersByTime(12_000);
    await expect.poll(() => heard).toEqual(['ping']);
    vi.advanceTimersByTime(12_000);
    // Only who is still connected answers it.
    client.ping();
    await expect.poll(() => heard).toHaveLength(2);
    expect(heard).toEqual(['ping', 'close']);
  });

  test('closes sockets with 1001 when the server stops', async () => {
    const gateway = await open();
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    const closed = new Promise((resolve) =>
      socket.once('close', (code, reason) => resolve(`${code} ${String(reason)}`)),
    );
    await new Promise((resolve) => socket.once('open', resolve));
    await gateway.close();
    expect(await closed).toMatch(/^1001 the server is stopping: reconnect in \d\.\d s$/);
    leftovers.length = 0;
  });
});
