import { EventEmitter } from 'node:events';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';

import { keepAlive } from './keep-alive.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }));
afterEach(() => void vi.useRealTimers());

/** Clients without a network, and how often each was pinged; one that was disconnected says so. */
function watched(...states: readonly number[]) {
  const clients = states.map((readyState) => {
    const client = Object.assign(new EventEmitter(), {
      readyState,
      pings: 0,
      isEnded: false,
      ping: () => void (client.pings += 1),
      terminate: () => void (client.isEnded = true),
    });
    return client;
  });
  const alive = keepAlive(new Set(clients) as never);
  for (const client of clients) alive.watch(client as never);
  return { clients, alive, told: () => clients.map(({ pings, isEnded }) => [pings, isEnded]) };
}

it('pings every client, and disconnects who has not answered by the next time', () => {
  const { clients, told, alive } = watched(WebSocket.OPEN, WebSocket.OPEN, WebSocket.CLOSING);
  vi.advanceTimersByTime(11_999);
  expect(told()[0]).toEqual([0, false]);
  for (let round = 1; round <= 3; round += 1) {
    vi.advanceTimersByTime(round === 1 ? 1 : 12_000);
    clients[0]?.emit('pong');
    expect(told()).toEqual([
      [round, false],
      [1, round > 1],
      [0, false],
    ]);
  }
  alive.close();
  expect(vi.getTimerCount()).toBe(0);
});

it('disconnects nobody when it was held up itself: answers may lie unread', () => {
  const { told } = watched(WebSocket.OPEN);
  vi.advanceTimersByTime(12_000);
  const now = vi.spyOn(performance, 'now');
  const late = (ms: number) => now.mockReturnValueOnce(24_000 + ms);
  const before = performance.now();
  expect(before).toBe(12_000);
  late(1_001);
  vi.advanceTimersByTime(12_000);
  expect(told()).toEqual([[1, false]]);
  now.mockRestore();
  vi.advanceTimersByTime(12_000);
  expect(told()).toEqual([[1, true]]);
});
