import { EventEmitter } from 'node:events';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { WebSocket } from 'ws';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createOperationIds } from './operation-ids.ts';
import { watchSlowSockets } from './slow-sockets.ts';

describe('clients that do not read', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched(options: { readonly stallMs?: number; readonly unreadBytes?: number } = {}) {
    const sockets = new Set<WebSocket>();
    const log: unknown[] = [];
    const logger = { ...silentLogger(), warn: (fields: object | string) => void log.push(fields) };
    const watching = watchSlowSockets({ sockets, logger, ...options });
    const connect = () => {
      const socket = { bytesWritten: 0 };
      const said: unknown[] = [];
      const client = Object.assign(new EventEmitter(), {
        bufferedAmount: 0,
        close: (code: number) => void said.push(code),
        terminate: () => void said.push('terminated'),
      });
      sockets.add(client as never);
      watching.watch(client as never, socket as never);
      const admits = () => watching.admits(client as never);
      return { client, socket, said, admits };
    };
    return { ...watching, connect, log };
  }

  it('are disconnected after half a minute in which nothing of what waits was sent', () => {
    const { connect, log, close } = watched();
    const [stalled, slow, idle] = [connect(), connect(), connect()];
    stalled.client.bufferedAmount = 10;
    stalled.socket.bytesWritten = 100;
    slow.client.bufferedAmount = 10;
    for (let seconds = 0; seconds < 30; seconds += 5) {
      slow.socket.bytesWritten += 1;
      vi.advanceTimersByTime(5_000);
    }
    expect([stalled.said, slow.said]).toEqual([[], []]);
    slow.socket.bytesWritten += 1;
    vi.advanceTimersByTime(5_000);
    expect([stalled.said, slow.said, idle.said]).toEqual([[1013], [], []]);
    expect(log).toEqual([{ why: 'stalled', bufferedBytes: 10 }]);
    vi.advanceTimersByTime(1_000);
    expect(stalled.said).toEqual([1013, 'terminated']);
    vi.advanceTimersByTime(60_000);
    expect(slow.said).toEqual([1013, 'terminated']);
    expect(stalled.said).toHaveLength(2);
    const late = connect();
    late.client.bufferedAmount = 1;
    close();
    vi.advanceTimersByTime(600_000);
    expect(late.said).toEqual([]);
  });

  it('may have some waiting, less when much waits for all of them', () => {
    const { connect, log } = watched({ unreadBytes: 1_000_000 });
    const [one, other] = [connect(), connect()];
    one.client.bufferedAmount = 249_999;
    expect([one.admits(), one.said]).toEqual([true, []]);
    one.client.bufferedAmount = 500_000;
    expect(one.admits()).toBe(true);
    other.client.bufferedAmount = 500_000;
    // The sum of a moment ago is good enough.
    expect(one.admits()).toBe(true);
    vi.advanceTimersByTime(50);
    expect([one.admits(), one.said, other.said]).toEqual([false, [1013], []]);
    expect(one.admits()).toBe(false);
    expect(log).toEqual([{ why: 'all buffers full', bufferedBytes: 500_000 }]);
  });

  it('are disconnected when too much waits for one of them, also of what they ask for by messages', () => {
    const { connect, log } = watched();
    const [one, other] = [connect(), connect()];
    one.client.bufferedAmount = 8_000_000;
    other.client.bufferedAmount = 8_000_000;
    other.client.emit('message');
    expect([one.admits(), other.said]).toEqual([true, []]);
    one.client.bufferedAmount = 8_000_001;
    other.client.bufferedAmount = 8_000_001;
    expect([one.admits(), one.said]).toEqual([false, [1013]]);
    other.client.emit('message');
    other.client.emit('message');
    expect(other.said).toEqual([1013]);
    expect(log).toEqual([1, 2].map(() => ({ why: 'buffer full', bufferedBytes: 8_000_001 })));
  });
});

describe('the ids of operations of one socket', () => {
  const subscribe = (id: string) => JSON.stringify({ type: 'subscribe', id });
  const next = (id: string) => JSON.stringify({ id, type: 'next' });

  it('are the client’s, another one while an operation of before that it has completed still runs', async () => {
    const known: Record<string, true> = {};
    const ids = createOperationIds(() => known);
    const begin = (id: string) => {
      known[id] = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      ids.taken(promise);
      return resolve;
    };
    expect([ids.toServer(subscribe('1')), ids.toClient(next('1'))]).toEqual([subscribe('1'), next('1')]);
    const endFirst = begin('1');
    expect(ids.toServer(subscribe('2'))).toBe(subscribe('2'));
    // It is completed, and its id used again.
    delete known['1'];
    const { id } = JSON.parse(ids.toServer(subscribe('1'))) as { readonly id: string };
    expect(id).not.toBe('1');
    const endSecond = begin(id);
    expect([ids.toClient(next('1')), ids.toClient(next(id))]).toEqual([null, next('1')]);
    expect(JSON.parse(ids.toServer(JSON.stringify({ type: 'complete', id: '1' })))).toEqual({
      type: 'complete',
      id,
    });
    expect([ids.toServer('no JSON'), ids.toClient('{"type":"pong"}')]).toEqual([
      'no JSON',
      '{"type":"pong"}',
    ]);
    endFirst();
    await Promise.resolve();
    expect(ids.toClient(next(id))).toBe(next('1'));
    endSecond();
    delete known[id];
    await new Promise((resolve) => setImmediate(resolve));
    expect([ids.toServer(subscribe('1')), ids.toClient(next('1'))]).toEqual([subscribe('1'), next('1')]);
  });

  it('differ each time that one is used again, in messages that are otherwise as they were', async () => {
    const known: Record<string, true> = {};
    const ids = createOperationIds(() => known);
    const begin = (id: string) => {
      known[id] = true;
      const { promise, resolve } = Promise.withResolvers<void>();
      ids.taken(promise);
      return resolve;
    };
    const sent = (message: object) =>
      JSON.parse(ids.toServer(JSON.stringify(message))) as { readonly id: string };
    const ends = [begin('1')];
    const used = ['1'];
    for (let round = 0; round < 2; round += 1) {
      delete known[used.at(-1) ?? ''];
      // Whoever completes again what is completed begins nothing.
      expect(sent({ type: 'complete', id: '1' }).id).toBe(used.at(-1));
      const message = { type: 'subscribe', id: '1', payload: { query: '{ a }' } };
      const given = sent(message);
      expect(given).toEqual({ ...message, id: given.id });
      used.push(given.id);
      ends.push(begin(given.id));
      expect(JSON.parse(ids.toClient(next(given.id)) ?? '')).toEqual({ id: '1', type: 'next' });
    }
    expect(new Set(used).size).toBe(3);
    // One that was seen is not begun anew by what else is said.
    ids.taken(Promise.resolve());
    await new Promise((resolve) => setImmediate(resolve));
    expect(ids.toClient(next(used[2] ?? ''))).toBe(next('1'));
    for (const end of ends) end();
    await new Promise((resolve) => setImmediate(resolve));
    expect(ids.toClient(next('1'))).toBe(next('1'));
  });
});
