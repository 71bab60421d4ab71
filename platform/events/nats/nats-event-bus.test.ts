import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { connect as connectNats } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  isOnPath,
  startServerOnPath,
  type ServerOnPath,
} from '../../../test/kit/processes/server-on-path.ts';
import { silentLogger } from '../../process/logger.ts';
import { eventBusContract } from '../event-bus.contract.ts';
import type { EventBus } from '../event-bus.ts';
import { createNatsEventBus } from './nats-event-bus.ts';
import { startNatsStandIn, type NatsStandIn } from './nats-server.fixture.ts';

const logger = silentLogger();
const WAIT = { timeout: 100_000 };

const words = (port: string) => ['--addr', '127.0.0.1', '--port', port, '--user', 'kiln', '--pass', 'a b'];

describe.skipIf(!isOnPath('nats-server'))('the event bus on NATS', () => {
  busOver(() => startServerOnPath('nats-server', words));
});

describe('the event bus on what speaks as NATS does', () => {
  busOver(() => startNatsStandIn(({ user, pass }) => user === 'kiln' && pass === 'a b'));
});

function busOver(start: () => Promise<ServerOnPath>): void {
  let server: ServerOnPath;
  const open: EventBus[] = [];
  const stops: (() => void)[] = [];
  /** A way to the server per name, so that one can be cut without the others. */
  const ways = new Map<string, { readonly port: number; readonly sockets: Set<Socket> }>();

  beforeAll(async () => {
    server = await start();
  });
  afterAll(async () => {
    for (const bus of open) await bus.close();
    for (const stop of stops) stop();
    await server.stop();
  });

  async function readWay(name: string) {
    const known = ways.get(name);
    if (known !== undefined) return known;
    const sockets = new Set<Socket>();
    const proxy = createServer((client) => {
      const upstream = connect(server.port, '127.0.0.1');
      for (const socket of [client, upstream]) socket.on('error', () => socket.destroy());
      client.pipe(upstream).pipe(client);
      sockets.add(client);
    }).listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    stops.push(() => proxy.close());
    const way = { port: (proxy.address() as AddressInfo).port, sockets };
    ways.set(name, way);
    return way;
  }

  async function join(name: string): Promise<EventBus> {
    const { port } = await readWay(name);
    const bus = await createNatsEventBus({ urls: [`nats://kiln:a%20b@127.0.0.1:${port}/${name}`], logger });
    open.push(bus);
    return bus;
  }

  eventBusContract({
    join,
    async cut(name) {
      const { sockets } = await readWay(name);
      for (const socket of sockets) socket.destroy();
      return sockets.size;
    },
    async disturb(name) {
      const stranger = await connectNats({ port: server.port, user: 'kiln', pass: 'a b' });
      stranger.publish(`kiln.${name}`, 'not ours');
      await stranger.close();
    },
  });

  it('starts without NATS, keeps what it would have said, and says it when NATS is there', async () => {
    const there = await join('away');
    await server.kill();
    const here = await join('away');
    const heard: unknown[] = [];
    there.listen('task', (...wakeUp) => heard.push(wakeUp));
    there.onGap(() => heard.push('gap'));
    here.publish('task', 'a', 1);
    here.publish('task', 'a', 2);
    await server.restart();
    // In which order the two connect again is open: what came before a connection was lost, hence the gap.
    await expect.poll(() => heard, WAIT).toContain('gap');
    here.publish('task', 'a', 3);
    await expect.poll(() => heard, WAIT).toContainEqual(['a', 3]);
  });

  it('keeps Kilns apart that share a server by the path of the address', async () => {
    const [one, other] = [await join('one'), await join('other')];
    const heard: string[] = [];
    for (const bus of [one, other]) bus.listen('task', (key) => heard.push(key));
    one.publish('task', 'a', 1);
    other.publish('task', 'b', 1);
    await Promise.all([one.close(), other.close()]);
    expect(heard).toEqual(['a', 'b']);
  });
}

describe('a connection to NATS', () => {
  let server: NatsStandIn;
  let admits = true;
  beforeAll(async () => {
    server = await startNatsStandIn(() => admits);
  });
  afterAll(() => server.stop());

  it.each([
    ['kiln:a%20b@', { user: 'kiln', pass: 'a b', auth_token: undefined }],
    ['a%20token@', { user: undefined, pass: undefined, auth_token: 'a token' }],
    ['', { user: undefined, pass: undefined, auth_token: undefined }],
  ])('says who it is by the address: %s', async (credentials, said) => {
    const bus = await createNatsEventBus({ urls: [`nats://${credentials}127.0.0.1:${server.port}`], logger });
    await bus.close();
    const { user, pass, auth_token, name } = server.clients.at(-1) ?? {};
    expect({ user, pass, auth_token, name }).toEqual({ ...said, name: 'kiln' });
  });

  it('is made later where the server refuses it at first, and may be closed before', async () => {
    admits = false;
    const urls = [`nats://127.0.0.1:${server.port}`];
    const [bus, closed] = await Promise.all([
      createNatsEventBus({ urls, logger }),
      createNatsEventBus({ urls, logger }),
    ]);
    await Promise.all([closed.close(), closed.close()]);
    let gaps = 0;
    bus.onGap(() => (gaps += 1));
    admits = true;
    await expect.poll(() => gaps, WAIT).toBe(1);
    await bus.close();
  });
});
