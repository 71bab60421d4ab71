import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { expect, it } from 'vitest';

import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import { createSocketClients } from './socket-clients.ts';

/** Clients to processes that are never connected to: each connects with its first subscription. */
function clientsTo(origin = 'http://127.0.0.1:1') {
  const gone: ((endpoint: Endpoint) => void)[] = [];
  const endpoint = (): Endpoint => ({
    origin,
    lookup: undefined,
    lost: () => new AbortController().signal,
  });
  const endpoints: Partial<Endpoints> = { path: '/graphql', onGone: (listener) => void gone.push(listener) };
  const clients = createSocketClients({
    endpoints: endpoints as Endpoints,
    sign: undefined,
    timeoutMs: 1_000,
    maxMessageBytes: 1_000,
  });
  const [one, other] = [endpoint(), endpoint()];
  return { clients, one, other, leave: (left: Endpoint) => gone.forEach((listener) => listener(left)) };
}

it('subscriptions share few connections to a process evenly, another one only where all are busy', () => {
  const { clients, one, other } = clientsTo();
  const take = (count: number) => Array.from({ length: count }, () => clients.to(one, undefined));
  const used = (taken: readonly { readonly client: unknown }[]) => {
    const counts = new Map<unknown, number>();
    for (const { client } of taken) counts.set(client, (counts.get(client) ?? 0) + 1);
    return [...counts.values()];
  };
  const all = take(250);
  expect(used(all)).toEqual([250]);
  expect(clients.to(other, undefined).client).not.toBe(all[0]?.client);
  all.push(...take(250));
  expect(used(all)).toEqual([250, 250]);
  // The one that was left by many is the least busy; leaving twice counts once.
  const first = all.filter(({ client }) => client === all[0]?.client).slice(0, 10);
  for (const left of first) {
    left.dispose();
    left.dispose();
  }
  expect(used(take(10)).concat(used([clients.to(one, undefined)]))).toEqual([10, 1]);
  const before = new Set([...all].map(({ client }) => client));
  expect(before.has(clients.to(one, undefined).client)).toBe(false);
  // Eight at most, of which each is then used as much as the others.
  const many = take(250 * 6 - 2 + 80);
  expect(new Set([...before, ...many.map(({ client }) => client)]).size).toBe(8);
  const last = take(8);
  expect(used(last)).toEqual(Array(8).fill(1));
});

it('a caller with credentials has a connection of their own, and so has a process that took the place of one that left', () => {
  const { clients, one, leave } = clientsTo();
  const credentials = { params: { authorization: 'a' }, headers: {} };
  const own = [1, 2].map(() => clients.to(one, credentials).client);
  const shared = clients.to(one, undefined).client;
  expect(new Set([...own, shared]).size).toBe(3);
  expect(clients.to(one, undefined).client).toBe(shared);
  leave(one);
  expect(clients.to(one, undefined).client).not.toBe(shared);
});

it('a caller who leaves while their connection is being made breaks nothing when that fails', async () => {
  const unhandled: unknown[] = [];
  const hear = (error: unknown) => void unhandled.push(error);
  process.on('unhandledRejection', hear);
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { clients, one } = clientsTo(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const asked = once(server, 'connection') as Promise<[Socket]>;
    const { client, dispose } = clients.to(one, { params: {}, headers: {} });
    const ended = Promise.withResolvers<unknown>();
    client.subscribe(
      { query: '{ a }' },
      { next() {}, error: ended.resolve, complete: () => ended.resolve(null) },
    );
    const [socket] = await asked;
    dispose();
    socket.destroy();
    await ended.promise;
    // Node tells of a rejection at the end of the turn in which nobody took it.
    await new Promise(setImmediate);
    expect(unhandled).toEqual([]);
  } finally {
    process.off('unhandledRejection', hear);
    server.close();
  }
});
