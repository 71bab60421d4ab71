import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { silentLogger } from '../../process/logger.ts';
import { createCachedRead } from '../cached-read.ts';
import type { EventBus } from '../event-bus.ts';
import { followChanges } from '../follow-changes.ts';
import { createLastingConnection } from './lasting-connection.ts';
import { createWakeUpBus } from './wake-up-bus.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A logger that keeps the messages of each level. */
function noting() {
  const lines: string[] = [];
  const note = (level: string) => (first: object | string, message?: string) =>
    void lines.push(`${level}: ${typeof first === 'string' ? first : message}`);
  const logger = {
    ...silentLogger(),
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
  };
  return { lines, logger };
}

/** A bus whose statements are told, and fail while `fails` says so. */
function sendingBus(fails: () => boolean = () => false) {
  const { lines, logger } = noting();
  const sent: string[][] = [];
  let tries = 0;
  const wakeUps = createWakeUpBus({
    logger,
    async send(payloads) {
      tries += 1;
      if (fails()) throw new Error('away');
      sent.push([...payloads]);
    },
  });
  return {
    bus: wakeUps.bus,
    receive: (payload: string) => wakeUps.receive(payload),
    restored: () => wakeUps.restored(),
    flush: () => wakeUps.flush(),
    clear: () => wakeUps.clear(),
    sent,
    lines,
    tries: () => tries,
  };
}

describe('wake-ups on their way out', () => {
  it('are collected for 50 ms, and sent one batch after the other', async () => {
    const { bus, sent } = sendingBus();
    bus.publish('task', 'a', 1);
    await pass(49);
    bus.publish('task', 'b', 1);
    expect(sent).toEqual([]);
    await pass(1);
    expect(sent).toHaveLength(1);
    await pass(10_000);
    expect(sent).toHaveLength(1);
    bus.publish('task', 'c', 1);
    await pass(50);
    expect(sent).toHaveLength(2);
  });

  it('are sent again after growing pauses, which end when there is a connection again', async () => {
    let isAway = true;
    const { bus, restored, tries, sent, lines } = sendingBus(() => isAway);
    bus.publish('task', 'a', 1);
    const counts: number[] = [];
    for (const ms of [50, 99, 1, 199, 1]) {
      await pass(ms);
      counts.push(tries());
    }
    expect([counts, lines]).toEqual([[1, 1, 2, 2, 3], ['warn: cannot send wake-ups; they will be retried']]);
    await pass(60_000);
    const before = tries();
    await pass(5_000);
    expect(tries() - before).toBe(1);
    isAway = false;
    restored();
    await pass(50);
    expect(sent).toHaveLength(1);
    isAway = true;
    bus.publish('task', 'b', 1);
    await pass(50);
    expect(lines).toHaveLength(2);
  });

  it('are sent before the end, of which one failure is the last', async () => {
    const { bus, flush, sent, tries } = sendingBus();
    // More than one batch takes.
    for (let key = 0; key < 2_500; key += 1) bus.publish('task', `${'x'.repeat(400)}-${key}`, 1);
    await flush();
    expect(sent.length).toBeGreaterThan(1);
    expect(Math.max(...sent.map(({ length }) => length))).toBe(100);
    expect(sent.flat().every((payload) => Buffer.byteLength(payload) < 8_000)).toBe(true);
    const before = tries();
    bus.publish('task', 'late', 1);
    await pass(60_000);
    expect(tries()).toBe(before);
    const broken = sendingBus(() => true);
    broken.bus.publish('task', 'a', 1);
    await broken.flush();
    expect([broken.tries(), broken.lines]).toEqual([1, ['warn: cannot send wake-ups; they will be retried']]);
  });
});

describe('one batch of wake-ups', () => {
  it('is waited for before the next is sent, and before the end', async () => {
    const ends: (() => void)[] = [];
    const { bus, flush } = createWakeUpBus({
      send: () => new Promise<void>((resolve) => ends.push(resolve)),
      logger: silentLogger(),
    });
    bus.publish('task', 'a', 1);
    await pass(50);
    bus.publish('task', 'b', 1);
    await pass(10_000);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await pass(50);
    expect(ends).toHaveLength(2);
    let isClosed = false;
    const closed = flush().then(() => (isClosed = true));
    await pass(10_000);
    expect([isClosed, ends.length]).toEqual([false, 2]);
    ends[1]?.();
    await closed;
  });

  it('that was sent ends the pauses of those before', async () => {
    let isAway = true;
    const { bus, tries, lines } = sendingBus(() => isAway);
    bus.publish('task', 'a', 1);
    await pass(50);
    isAway = false;
    await pass(100);
    expect(tries()).toBe(2);
    isAway = true;
    bus.publish('task', 'b', 1);
    await pass(50);
    expect([tries(), lines.length]).toEqual([3, 2]);
    await pass(100);
    expect(tries()).toBe(4);
  });
});

describe('wake-ups that come', () => {
  it('wake the listeners here, unless they are our own or no wake-ups at all', async () => {
    const [here, there] = [sendingBus(), sendingBus()];
    const heard: unknown[] = [];
    here.bus.listen('task', (...wakeUp) => heard.push(wakeUp));
    here.bus.onGap(() => heard.push('gap'));
    there.bus.publish('task', 'a', 1);
    here.bus.publish('task', 'b', 2);
    await pass(50);
    for (const payload of [...there.sent.flat(), ...here.sent.flat(), 'no wake-up']) here.receive(payload);
    expect(heard).toEqual([
      ['b', 2],
      ['a', 1],
    ]);
    expect(here.lines).toEqual(['warn: ignored a notification that is not ours']);
    here.receive(JSON.stringify({ origin: 'another', gap: true, entries: [['task', 'c', 3]] }));
    expect(heard.slice(2)).toEqual(['gap', ['c', 3]]);
    here.restored();
    expect(heard.at(-1)).toBe('gap');
  });

  it('wake all the others when a listener fails, and nobody after the end', () => {
    const { bus, lines, clear, restored } = sendingBus();
    const heard: string[] = [];
    const fail = () => {
      throw new Error('mistake');
    };
    bus.listen('task', fail);
    bus.onGap(fail);
    bus.listen('task', (key) => heard.push(key));
    const stop = bus.onGap(() => heard.push('gap'));
    bus.onGap(() => heard.push('gap'));
    bus.publish('task', 'a', 1);
    restored();
    expect(heard).toEqual(['a', 'gap', 'gap']);
    expect(lines).toEqual(Array(2).fill('error: a listener for wake-ups failed'));
    stop();
    restored();
    expect(heard).toHaveLength(4);
    clear();
    restored();
    bus.publish('task', 'b', 1);
    expect([heard.length, bus.listenerCount()]).toEqual([4, 0]);
  });
});

describe('a connection that lasts', () => {
  /** Connections by the outcome of each attempt: whether there is one. */
  function connections(outcomes: readonly boolean[], mustConnect = false) {
    const left = [...outcomes];
    const { lines, logger } = noting();
    const said = { attempts: 0, ended: [] as number[], reconnects: 0 };
    const losing: ((error?: Error) => void)[] = [];
    const made = createLastingConnection<number>({
      async connect(lost) {
        said.attempts += 1;
        losing.push(lost);
        if (left.shift() === false) throw new Error('no connection');
        return said.attempts;
      },
      end: async (one) => void said.ended.push(one),
      logger,
      onReconnect: () => void (said.reconnects += 1),
      mustConnect,
    });
    return { made, said, lines, lose: () => losing.at(-1)?.(new Error('cut')) };
  }

  it('is made again after growing pauses, and says so once', async () => {
    const { made, said, lines, lose } = connections([true, false, false, true, false]);
    const connection = await made;
    expect([connection.current(), said.reconnects]).toEqual([1, 0]);
    lose();
    lose();
    expect(connection.current()).toBeNull();
    const attempts: number[] = [];
    for (const ms of [99, 1, 199, 1, 399, 1]) {
      await pass(ms);
      attempts.push(said.attempts);
    }
    expect(attempts).toEqual([1, 2, 2, 3, 3, 4]);
    expect([connection.current(), said.reconnects]).toEqual([4, 1]);
    expect(lines).toEqual([
      'warn: lost the connection for wake-ups',
      'debug: cannot listen for wake-ups yet',
      'debug: cannot listen for wake-ups yet',
      'info: listening for wake-ups again',
    ]);
    lose();
    await pass(100);
    expect(said.attempts).toBe(5);
    await connection.close();
    await pass(60_000);
    expect([said.attempts, said.ended]).toEqual([5, []]);
  });

  it('is made again also where it was lost before its attempt had ended', async () => {
    const losing: ((error?: Error) => void)[] = [];
    const connection = await createLastingConnection<number>({
      async connect(lost) {
        if (losing.push(lost) === 2) lost(new Error('cut at once'));
        return losing.length;
      },
      end: async () => undefined,
      logger: noting().logger,
      onReconnect: () => undefined,
      mustConnect: true,
    });
    losing[0]?.(new Error('cut'));
    await pass(60_000);
    expect([losing.length, connection.current()]).toEqual([3, 3]);
  });

  it('is waited for five seconds at most', async () => {
    const { made, said } = connections(Array(30).fill(false));
    await made;
    await pass(60_000);
    const before = said.attempts;
    await pass(20_000);
    expect(said.attempts - before).toBe(4);
  });

  it('is not made where it must be there at once, and ended with what holds it', async () => {
    await expect(connections([false], true).made).rejects.toThrow('no connection');
    const { made, said, lose } = connections([true]);
    await (await made).close();
    lose();
    await pass(60_000);
    expect([said.ended, said.attempts]).toEqual([[1], 1]);
    const late = connections([false, true]);
    const connection = await late.made;
    vi.advanceTimersByTime(100);
    // It is closed while it connects.
    await connection.close();
    await pass(1);
    expect([late.said.ended, late.said.reconnects, connection.current()]).toEqual([[2], 0, null]);
  });
});

describe('what is kept of a shared state', () => {
  function localBus(): EventBus {
    return { ...sendingBus().bus, close: async () => undefined };
  }

  it('is read once until it changes anywhere, ten seconds have gone by, or a read fails', async () => {
    const bus = localBus();
    const cached = createCachedRead<number>(bus, 'prices');
    let reads = 0;
    const get = (fails = false) =>
      cached.get(async () => {
        reads += 1;
        if (fails) throw new Error('away');
        return reads;
      });
    expect([await get(), await get(), await get()]).toEqual([1, 1, 1]);
    bus.publish('prices', 'all', 1);
    expect(await get()).toBe(2);
    bus.publish('other', 'all', 1);
    expect(await get()).toBe(2);
    await pass(10_000);
    expect(await get()).toBe(2);
    await pass(1);
    expect(await get()).toBe(3);
    cached.changed();
    await expect(get(true)).rejects.toThrow('away');
    expect(await get()).toBe(5);
    cached.close();
    expect(bus.listenerCount()).toBe(0);
    // A read that fails late forgets nothing newer.
    let fail: (error: Error) => void = () => undefined;
    cached.changed();
    const slow = cached.get(() => new Promise((_, reject) => (fail = reject)));
    cached.changed();
    expect(await get()).toBe(6);
    fail(new Error('late'));
    await expect(slow).rejects.toThrow('late');
    expect(await get()).toBe(6);
  });

  it('is what the last change made, however long the read before it takes', async () => {
    const bus = localBus();
    let [stored, kept] = ['paused', ''];
    const reads: (() => void)[] = [];
    const load = async () => {
      const read = stored;
      await new Promise<void>((resolve) => reads.push(resolve));
      kept = read;
    };
    const { reload, stop } = followChanges({
      bus,
      logger: noting().logger,
      topic: 'pauses',
      load,
      problem: '',
    });
    reload();
    await pass(0);
    stored = 'resumed';
    for (const _ of [1, 2, 3]) reload();
    await pass(0);
    // What came later ends first, where both are read at once.
    while (reads.length > 0) {
      reads.pop()?.();
      await pass(0);
    }
    expect(kept).toBe('resumed');
    stop();
  });

  it('is read again when it changes anywhere, and announced when it changes here', async () => {
    const [bus, { lines, logger }] = [localBus(), noting()];
    let [loads, isAway] = [0, false];
    const load = async () => {
      loads += 1;
      if (isAway) throw new Error('away');
    };
    const heard: unknown[] = [];
    bus.listen('pauses', (key) => heard.push([key, loads]));
    const followed = followChanges({ bus, logger, topic: 'pauses', load, problem: 'pauses were not read' });
    await followed.changed();
    // Read here before the others are told; the bus wakes this process too.
    expect(heard).toEqual([['all', 1]]);
    isAway = true;
    followed.reload();
    await pass(1);
    expect([loads, lines]).toEqual([3, ['warn: pauses were not read']]);
    await expect(followed.changed()).rejects.toThrow('away');
    expect(heard).toHaveLength(1);
    followed.stop();
    bus.publish('pauses', 'all', 1);
    expect([loads, bus.listenerCount()]).toEqual([4, 1]);
  });
});
