import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { buildSchema, GraphQLError, type ExecutionResult } from 'graphql';
import { useServer } from 'graphql-ws/use/ws';
import { afterEach, expect, it, vi } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';

import { anonymousCaller } from '../../access/caller.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { createRemoteSubscriptions, type RemoteSubscriptionsOptions } from './remote-subscriptions.ts';

const schema = buildSchema('type Query { a: Int } type Subscription { ticks: Int }');
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const TIMEOUT_MS = 5_000;
/** Between two pings of a connection. */
const KEEP_ALIVE_MS = 10_000;

type Subscribe = () => AsyncGenerator<ExecutionResult> | readonly GraphQLError[];

/** A process that answers subscriptions so; it notes what it was asked with. */
async function startProcess(subscribe: Subscribe) {
  const asked: unknown[] = [];
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/graphql' });
  const server = useServer(
    {
      schema,
      onSubscribe(_context, _id, payload) {
        asked.push(payload);
        const answer = subscribe();
        return Symbol.asyncIterator in answer ? undefined : answer;
      },
      subscribe: () => subscribe() as AsyncGenerator<ExecutionResult>,
    },
    sockets,
  );
  const pings: unknown[] = [];
  sockets.on('connection', (socket) =>
    socket.on('message', (data: Buffer) => {
      if (data.includes('"ping"')) pings.push(data);
    }),
  );
  closing.push(() => server.dispose());
  await once(sockets, 'listening');
  const { port } = sockets.address() as AddressInfo;
  const each = (act: (socket: WebSocket) => void) => () => sockets.clients.forEach(act);
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    asked,
    pings,
    cut: each((socket) => socket.terminate()),
    freeze: each((one) => one.pause()),
  };
}

/** Subscriptions at these processes, asked in their order. */
function subscriptionsAt(origins: readonly string[], more: Partial<RemoteSubscriptionsOptions> = {}) {
  const all = origins.map((origin): Endpoint => ({
    origin,
    lookup: undefined,
    lost: () => new AbortController().signal,
  }));
  const failures: unknown[] = [];
  const lines: unknown[] = [];
  const endpoints: Partial<Endpoints> = {
    path: '/graphql',
    next: (tried) => all.find((one) => tried?.has(one) !== true),
    failed: ({ origin }, failure) => void failures.push([origin, failure]),
    onGone: () => undefined,
  };
  const subscriptions = createRemoteSubscriptions({
    name: 'shop',
    endpoints: endpoints as Endpoints,
    sign: undefined,
    credentialsFor: () => undefined,
    timeoutMs: TIMEOUT_MS,
    maxMessageBytes: 100_000,
    logger: {
      ...silentLogger(),
      warn: (fields: object | string, line?: string) => void lines.push([fields, line]),
    },
    ...more,
  });
  closing.push(() => subscriptions.close());
  const subscribe = (signal = new AbortController().signal) =>
    subscriptions.subscribe({
      query: 'subscription { ticks }',
      variables: { a: 1 },
      context: { caller: anonymousCaller('t', null), signal },
    });
  return { subscribe, failures, lines };
}

async function readAll(stream: AsyncIterable<ExecutionResult>): Promise<readonly unknown[]> {
  const results: unknown[] = [];
  for await (const { data, errors } of stream) results.push([data, errors?.map(({ message }) => message)]);
  return results;
}

const GONE = [undefined, ['subgraph "shop" is gone']];

async function* ticks(): AsyncGenerator<ExecutionResult> {
  yield { data: { ticks: 1 } };
  yield { errors: [new GraphQLError('not this one', { path: ['ticks'], extensions: { code: 'X' } })] };
  yield { data: { ticks: 3 } };
}

it('hands on each event, of a foreign subgraph also one without data', async () => {
  const { origin, asked } = await startProcess(ticks);
  const events = await readAll(await subscriptionsAt([origin]).subscribe());
  expect(events).toEqual([
    [{ ticks: 1 }, undefined],
    [null, ['not this one']],
    [{ ticks: 3 }, undefined],
  ]);
  expect(asked).toMatchObject([
    { query: 'subscription { ticks }', variables: { a: 1 }, operationName: null, extensions: {} },
  ]);
});

it('signs what it asks of a subgraph of ours, whose last words have no data', async () => {
  const { origin, asked } = await startProcess(ticks);
  const { subscribe } = subscriptionsAt([origin], { sign: async () => 'signed' });
  expect((await readAll(await subscribe()))[1]).toEqual([undefined, ['not this one']]);
  expect(JSON.stringify(asked[0])).toContain('"signed"');
});

it('ends for an event with errors of an unknown form alone, not for the others of its connection', async () => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', path: '/graphql' });
  closing.push(() => sockets.close());
  const asked: string[] = [];
  sockets.on('connection', (socket) => {
    closing.push(() => socket.terminate());
    socket.on('message', (text: Buffer) => {
      const { type, id } = JSON.parse(text.toString()) as { readonly type: string; readonly id: string };
      if (type === 'connection_init') socket.send('{"type":"connection_ack"}');
      if (type !== 'subscribe' || asked.push(id) < 2) return;
      const say = (to: string | undefined, payload: unknown) =>
        socket.send(JSON.stringify({ type: 'next', id: to, payload }));
      say(asked[0], { data: null, errors: [null] });
      say(asked[1], { data: { ticks: 1 } });
    });
  });
  await once(sockets, 'listening');
  const { subscribe } = subscriptionsAt([`http://127.0.0.1:${(sockets.address() as AddressInfo).port}`]);
  const [broken, other] = [await subscribe(), await subscribe()];
  expect(await readAll(broken)).toEqual([GONE]);
  expect((await other.next()).value).toEqual({ data: { ticks: 1 } });
});

it('says what the subgraph refuses with', async () => {
  const error = new GraphQLError('not you', { extensions: { code: 'FORBIDDEN' } });
  const { origin } = await startProcess(() => [error]);
  const { subscribe, lines, failures } = subscriptionsAt([origin]);
  const stream = await subscribe();
  expect(await stream.next()).toMatchObject({
    value: { errors: [{ message: 'not you', extensions: { code: 'FORBIDDEN' } }] },
  });
  expect([await stream.next(), lines, failures]).toEqual([{ value: undefined, done: true }, [], []]);
});

it('asks the next process where one can not be reached, and says when there is none', async () => {
  const nowhere = 'http://127.0.0.1:1';
  const { origin } = await startProcess(ticks);
  const { subscribe, failures, lines } = subscriptionsAt([nowhere, origin]);
  expect(await readAll(await subscribe())).toHaveLength(3);
  expect([failures, lines]).toEqual([[[nowhere, { unreachable: true }]], []]);
  for (const origins of [[], [nowhere]]) {
    const none = subscriptionsAt(origins);
    expect(await readAll(await none.subscribe())).toEqual([GONE]);
    // One line for all that come to nothing in half a minute.
    expect(await readAll(await none.subscribe())).toEqual([GONE]);
    expect(none.lines).toMatchObject([
      [{ subgraph: 'shop' }, 'subscriptions lost the connection to their subgraph'],
    ]);
  }
});

it('asks no other process for a caller who left while one could not be reached', async () => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  closing.push(() => silent.close());
  const { port } = silent.address() as AddressInfo;
  const { origin, asked } = await startProcess(ticks);
  const { subscribe, failures } = subscriptionsAt([`http://127.0.0.1:${port}`, origin]);
  const connected = once(silent, 'connection') as Promise<[Socket]>;
  const left = new AbortController();
  const stream = await subscribe(left.signal);
  const [socket] = await connected;
  left.abort();
  socket.destroy();
  expect(await stream.next()).toEqual({ value: undefined, done: true });
  await expect.poll(() => failures.length).toBe(1);
  // Whoever asks after it is there first, if it asks at all.
  await readAll(await subscriptionsAt([origin]).subscribe());
  expect(asked).toHaveLength(1);
});

it('ends where the connection is lost, and asks nobody again', async () => {
  const begun = await startProcess(async function* hanging() {
    yield { data: { ticks: 1 } };
    await new Promise(() => undefined);
  });
  const { subscribe, failures, lines } = subscriptionsAt([begun.origin, begun.origin]);
  const stream = await subscribe();
  expect((await stream.next()).value).toMatchObject({ data: { ticks: 1 } });
  begun.cut();
  expect(await readAll(stream)).toEqual([GONE]);
  expect([begun.asked.length, failures]).toEqual([1, []]);
  expect(lines).toMatchObject([
    [{ error: new Error('the connection was closed with code 1006') }, expect.any(String)],
  ]);
});

it('ends where the process has frozen, and not where it answers pings', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  closing.push(() => vi.useRealTimers());
  const steps = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const { origin, pings, cut, freeze } = await startProcess(async function* stepping() {
    yield { data: { ticks: 1 } };
    for (const { promise } of steps) {
      await promise;
      yield { data: { ticks: 2 } };
    }
    await new Promise(() => undefined);
  });
  closing.push(cut);
  const stream = await subscriptionsAt([origin]).subscribe();
  expect((await stream.next()).value).toMatchObject({ data: { ticks: 1 } });
  vi.advanceTimersByTime(KEEP_ALIVE_MS);
  await expect.poll(() => pings).toHaveLength(1);
  // An event comes after the answer to the ping.
  for (const { resolve } of steps) {
    resolve();
    expect((await stream.next()).value).toMatchObject({ data: { ticks: 2 } });
    vi.advanceTimersByTime(TIMEOUT_MS);
  }
  freeze();
  vi.advanceTimersByTime(KEEP_ALIVE_MS);
  vi.advanceTimersByTime(TIMEOUT_MS);
  expect(await readAll(stream)).toEqual([GONE]);
});

it('ends a stream whose caller hangs up, also one that has hung up before', async () => {
  const { origin } = await startProcess(async function* hanging() {
    await new Promise(() => undefined);
    yield {};
  });
  const { subscribe } = subscriptionsAt([origin]);
  expect(await readAll(await subscribe(AbortSignal.abort()))).toEqual([]);
  const abort = new AbortController();
  const reading = subscribe(abort.signal).then(readAll);
  await new Promise((resolve) => setImmediate(resolve));
  abort.abort();
  expect(await reading).toEqual([]);
});

it('ends a stream whose reader is too slow, after a thousand events that wait', async () => {
  let isLeft = false;
  const { origin } = await startProcess(async function* many() {
    try {
      for (let tick = 0; ; tick += 1) {
        yield { data: { ticks: tick } };
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      isLeft = true;
    }
  });
  const stream = await subscriptionsAt([origin]).subscribe();
  await expect.poll(() => isLeft).toBe(true);
  const events = await readAll(stream);
  expect(events).toHaveLength(1_001);
  expect(events.slice(-2)).toEqual([
    [{ ticks: 999 }, undefined],
    [undefined, ['this reader is too slow']],
  ]);
});
