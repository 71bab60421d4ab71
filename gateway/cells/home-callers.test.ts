import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest';

import { askHomeCell } from './home-callers.ts';

/** A home cell that answers as the test says. */
let answer: { readonly status: number; readonly body?: string };
const asked: (string | undefined)[] = [];
const server = createServer(({ url, headers }, response) => {
  asked.push(`${url} ${headers.authorization}`);
  response.writeHead(answer.status).end(answer.body);
});
let home: ReturnType<typeof askHomeCell>;
/** Milliseconds by which the clocks are ahead. */
let skew = 0;

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
beforeEach(() => {
  asked.length = 0;
  skew = 0;
  const [now, date] = [performance.now.bind(performance), Date.now.bind(Date)];
  vi.spyOn(performance, 'now').mockImplementation(() => now() + skew);
  vi.spyOn(Date, 'now').mockImplementation(() => date() + skew);
  home = askHomeCell(`http://127.0.0.1:${(server.address() as AddressInfo).port}/base/`);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await home.close();
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const user = { kind: 'user', id: 'usr_1', scopes: [], generators: null, sessionId: 's', expiresAt: null };
const says = (status: number, body?: object) =>
  (answer = { status, ...(body && { body: JSON.stringify(body) }) });
const find = (credential = 'c') =>
  home.lookup(credential).catch((error: { readonly code: string }) => error.code);

/** So much later; the cache reads the clock once in a millisecond. */
async function later(ms: number): Promise<void> {
  skew += ms;
  await pause(3);
}

it('a credential is what the home cell says of it, for a second and a half', async () => {
  says(200, user);
  expect(await find()).toEqual(user);
  says(401);
  expect([await find(), asked]).toEqual([user, ['/base/caller Bearer c']]);
  expect(await find('other')).toBe('invalid');
  await later(1_600);
  expect(await find()).toBe('invalid');
  says(204);
  expect(await find('unknown')).toBeNull();
  const expiresAt = '2100-01-01T00:00:00.000Z';
  says(200, { ...user, kind: 'key', generators: ['image'], expiresAt });
  expect(await find('key')).toMatchObject({
    kind: 'key',
    generators: ['image'],
    expiresAt: new Date(expiresAt),
  });
});

it('what the home cell said last holds while it is away, for an hour and not beyond its own end', async () => {
  says(500);
  expect(await find()).toBe('UNAVAILABLE');
  says(200, user);
  expect(await find()).toEqual(user);
  const expiresAt = new Date(Date.now() + 60_000).toISOString();
  says(200, { ...user, id: 'usr_2', expiresAt });
  await find('ending');
  says(200, { ...user, kind: 'stranger' });
  await later(59_000);
  expect([await find(), await find('ending')]).toMatchObject([user, { id: 'usr_2' }]);
  // Not each request asks again.
  const before = asked.length;
  await find();
  expect(asked).toHaveLength(before);
  await later(2_000);
  expect([await find(), await find('ending')]).toEqual([user, 'UNAVAILABLE']);
  await later(3_500_000);
  expect(await find()).toEqual(user);
  await later(60_000);
  expect(await find()).toBe('UNAVAILABLE');
  says(200, user);
  expect(await find()).toEqual(user);
});
