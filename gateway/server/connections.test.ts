import { once } from 'node:events';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';

import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';

import { SHOP_SECRET, startTestGateway, type TestGateway, until } from './server-under-test.fixture.ts';

const leftovers: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of leftovers.splice(0).toReversed()) await stop();
});

async function open(options: Parameters<typeof startTestGateway>[0]): Promise<TestGateway> {
  const gateway = await startTestGateway(options);
  leftovers.push(() => gateway.close());
  return gateway;
}

/** The answer to a GET from an address of this machine: its status, or the error. */
function statusFrom(gateway: TestGateway, localAddress: string): Promise<unknown> {
  return new Promise((resolve) => {
    const asked = request(`${gateway.url}/healthz`, { localAddress, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    asked.on('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    asked.end();
  });
}

/** Opens a WebSocket as a proxy does for a client, and says hello: `open`, the status of a refusal, or the close code. */
function openSocket(gateway: TestGateway, client: string, params?: object): Promise<unknown> {
  return new Promise((resolve) => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
      headers: { 'x-forwarded-for': client },
    });
    leftovers.push(() => socket.terminate());
    socket.once('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload: params })));
    socket.once('message', () => resolve('open'));
    socket.once('close', (code) => resolve(code));
    socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
    socket.on('error', () => undefined);
  });
}

/** Opens a stream as a proxy does for a client; its status. */
async function openStream(
  gateway: TestGateway,
  client: string,
  accept = 'text/event-stream',
): Promise<number> {
  const abort = new AbortController();
  leftovers.push(() => abort.abort());
  const { status } = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept, 'x-forwarded-for': client },
    body: JSON.stringify({ query: 'subscription { taskProgress(id: "quiet") { seq } }' }),
    signal: abort.signal,
  });
  return status;
}

test('connections of one address leave another one served', async () => {
  const gateway = await open({ connectionLimit: 20 });
  const { hostname, port } = new URL(gateway.url);
  const sockets: Socket[] = Array.from({ length: 200 }, () => connect(Number(port), hostname));
  leftovers.push(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets) socket.on('error', () => undefined);
  await until(() => sockets.filter(({ closed }) => closed).length === 180);
  expect(await statusFrom(gateway, '127.0.0.1')).toBe('ECONNRESET');
  expect(await statusFrom(gateway, '127.0.0.2')).toBe(200);
  for (const socket of sockets) socket.destroy();
  await expect.poll(() => statusFrom(gateway, '127.0.0.1')).toBe(200);
});

describe('behind a proxy that is trusted', () => {
  const behindProxy = { connectionLimit: 2, trustProxy: ['127.0.0.1'] };

  test('sockets are bounded per address, of IPv6 per /64, and per caller', async () => {
    const gateway = await open(behindProxy);
    const anonymous = ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'];
    const seen: unknown[] = [];
    for (const client of anonymous) seen.push(await openSocket(gateway, client));
    expect(seen).toEqual(['open', 'open', 429, 'open']);
    const six = ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:db8:1:2:ffff::3', '2001:db8:1:3::1'];
    const seenSix: unknown[] = [];
    for (const client of six) seenSix.push(await openSocket(gateway, client));
    expect(seenSix).toEqual(['open', 'open', 429, 'open']);
    const shop = { authorization: `Bearer ${SHOP_SECRET}` };
    const seenShop: unknown[] = [];
    for (const client of ['192.0.2.8', '192.0.2.8', '192.0.2.8']) {
      seenShop.push(await openSocket(gateway, client, shop));
    }
    expect(seenShop).toEqual(['open', 'open', 4429]);
    expect(await openSocket(gateway, '192.0.2.8')).toBe('open');
  });

  test.each(['text/event-stream', 'multipart/mixed;subscriptionSpec=1.0, application/json'])(
    'streams of %s are bounded per address',
    async (accept) => {
      const gateway = await open(behindProxy);
      const seen: number[] = [];
      for (const client of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2']) {
        seen.push(await openStream(gateway, client, accept));
      }
      expect(seen).toEqual([200, 200, 503, 200]);
      expect(gateway.world.listenerCount()).toBe(3);
    },
  );

  test('what has ended counts no longer', async () => {
    const gateway = await open(behindProxy);
    for (let count = 0; count < 6; count += 1) {
      expect(await openSocket(gateway, '192.0.2.1')).toBe('open');
      expect(await openStream(gateway, '192.0.2.1')).toBe(200);
      for (const stop of leftovers.splice(1)) await stop();
      await until(() => gateway.server.openStreams() === 0);
    }
  });
});

test('where a credential is required, a socket without one is closed at connection_init', async () => {
  const gateway = await open({ requiresCredential: true });
  expect(await openSocket(gateway, '')).toBe(4403);
  expect(await openSocket(gateway, '', { authorization: `Bearer ${SHOP_SECRET}` })).toBe('open');
});

test('a client who is refused a socket and keeps the connection open does not hold up the stop', async () => {
  const gateway = await startTestGateway();
  const { hostname, port } = new URL(gateway.url);
  const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  leftovers.push(() => client.destroy());
  const upgrade = ['Host: x', 'Connection: Upgrade', 'Upgrade: websocket'].join('\r\n');
  client.write(`GET /nothing HTTP/1.1\r\n${upgrade}\r\n\r\n`);
  expect(String((await once(client, 'data'))[0])).toMatch(/^HTTP\/1\.1 404 /);
  await gateway.close();
});
