import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { createLogger } from '../../../platform/process/logger.ts';
import { until } from '../../../test/kit/clients/requests.ts';
import {
  isOnPath,
  startServerOnPath,
  type ServerOnPath,
} from '../../../test/kit/processes/server-on-path.ts';
import { createRateLimiter, type RateLimiter } from '../rate-limit.ts';
import { openRedisCounts, pauseBefore, type RedisCounts } from './redis-counts.ts';

/** Rates that several gateways count together in Redis, over a real server where the machine has one. */

const lines: string[] = [];
const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
const said = (what: string) => lines.filter((line) => line.includes(what)).length;
const caller = (address: string) => anonymousCaller('trace', address);
const open: RedisCounts[] = [];
afterAll(() => {
  for (const counts of open) counts.close();
});

function gateway(url: string, limits: Parameters<typeof createRateLimiter>[0]): RateLimiter {
  const redis = openRedisCounts({ url, logger });
  open.push(redis);
  return createRateLimiter(limits, { redis });
}

describe.skipIf(!isOnPath('redis-server'))('rates in Redis', () => {
  let server: ServerOnPath;
  let url: string;
  beforeAll(async () => {
    const words = ['--bind', '127.0.0.1', '--save', '', '--requirepass', 'secret of the test'];
    server = await startServerOnPath('redis-server', (port) => ['--port', port, ...words]);
    url = `redis://:secret%20of%20the%20test@127.0.0.1:${server.port}/3`;
  });
  afterAll(() => server.stop());

  /** Asks as somebody else each time, until two gateways count one caller together. */
  async function untilTogether(one: RateLimiter, other: RateLimiter, network: string): Promise<void> {
    let host = 0;
    await until(
      async () => {
        host += 1;
        const address = caller(`${network}.${host}`);
        await one.take(address, 'read');
        return (await other.take(address, 'read')).remaining;
      },
      (remaining) => remaining === 3,
    );
  }

  it('counts a caller over all gateways, by itself while the server is away, and together again', async () => {
    const limits = { read: 5, start: 2, write: 10 };
    const [one, other] = [gateway(url, limits), gateway(url, limits)];
    await untilTogether(one, other, '192.0.2');
    const address = caller('198.51.100.1');
    expect(await one.take(address, 'start')).toMatchObject({ allowed: true, remaining: 1 });
    await other.refuseStart(address);
    for (const remaining of [1, 0]) expect(await other.take(address, 'start')).toMatchObject({ remaining });
    expect(await one.take(address, 'start')).toMatchObject({
      allowed: false,
      retryAfter: expect.any(Number),
    });

    await server.kill();
    await until(
      async () => said('without COUNTS_URL'),
      (count) => count === 2,
    );
    const verdicts = [];
    for (let count = 0; count < 6; count += 1) verdicts.push(await one.take(caller('198.51.100.2'), 'read'));
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);

    await server.restart();
    await untilTogether(one, other, '203.0.113');
    expect([said('without COUNTS_URL'), said('COUNTS_URL again')]).toEqual([2, 2]);
    expect(lines.join('')).not.toContain('secret of the test');
  });
});

it('waits once for a server that does not answer, and logs it once', async () => {
  let [connections, isGone] = [0, false];
  const sockets = new Set<Socket>();
  const mute = createServer((socket) => {
    connections += 1;
    sockets.add(socket.on('error', () => undefined));
    if (isGone) socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(mute, 'listening');
  const before = said('without COUNTS_URL');
  const limiter = gateway(`redis://127.0.0.1:${(mute.address() as { port: number }).port}`, { read: 2 });
  const verdicts = [];
  for (let count = 0; count < 3; count += 1) verdicts.push(await limiter.take(caller('192.0.2.1'), 'read'));
  expect(verdicts.map(({ allowed }) => allowed)).toEqual([true, true, false]);
  // However often it does not answer after that.
  isGone = true;
  for (const socket of sockets) socket.destroy();
  const tries = connections;
  await until(
    async () => connections,
    (count) => count > tries + 2,
  );
  expect(said('without COUNTS_URL') - before).toBe(1);
  open.at(-1)?.close();
  mute.close();
});

it('runs scripts with their keys and words, and says when it counts there again', async () => {
  const asked: string[][] = [];
  const sockets = new Set<Socket>();
  const stand = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', (data) => {
      // A command is a list of texts, each after its length.
      for (const command of data.toString().split(/(?=\*\d+\r\n)/)) {
        const words = command.split('\r\n').filter((_, index) => index > 0 && index % 2 === 0);
        asked.push(words);
        socket.write(words[0] === 'eval' ? ':7\r\n' : '$4\r\nok:1\r\n');
      }
    });
  }).listen(0, '127.0.0.1');
  await once(stand, 'listening');
  const url = `redis://127.0.0.1:${(stand.address() as { port: number }).port}`;
  const counts = openRedisCounts({ url, logger });
  open.push(counts);
  const ask = () => counts.eval('script', { keys: ['k1', 'k2'], arguments: ['a', 'b'] }).catch(() => null);
  await until(ask, (answer) => answer === 7);
  expect(asked.at(-1)).toEqual(['eval', 'script', '2', 'k1', 'k2', 'a', 'b']);
  const before = said('COUNTS_URL again');
  for (const socket of sockets) socket.destroy();
  await until(ask, (answer) => answer === null || said('without COUNTS_URL') > 0);
  await until(ask, (answer) => answer === 7 && said('COUNTS_URL again') > before);
  expect(said('COUNTS_URL again') - before).toBe(1);
  counts.close();
  stand.close();
});

it('connects again after pauses that double, up to two seconds', () => {
  expect([1, 2, 3, 4, 5, 6, 5_000].map(pauseBefore)).toEqual([200, 400, 800, 1_600, 2_000, 2_000, 2_000]);
});
