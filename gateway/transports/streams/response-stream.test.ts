import { EventEmitter, once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { createSlots } from '../../limits/slots.ts';
import { attachContext } from '../../request/request-context.ts';
import { until } from '../../server/server-under-test.fixture.ts';
import { createPartSender } from './incremental.ts';
import { createResponseStreams, pumpResults, type ResponseStreams } from './response-stream.ts';

const format = {
  headers: {},
  opening: ':\n\n',
  heartbeat: ':\n\n',
  shutdown: () => 'bye',
  credentialEnd: '',
};
const caller = anonymousCaller('trace', '192.0.2.1');
const MOST = 20;
const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

let streams: ResponseStreams;
let watched: Set<object>;
const answer = (request: IncomingMessage, response: ServerResponse): void => {
  if (request.url === '/parts') return void answerInParts(request, response);
  const permit = streams.reserve(response, { request, caller });
  if (permit === null) response.writeHead(503).end();
  else permit.open(format);
};
const server = createServer(answer);
let url: string;
beforeEach(async () => {
  const credentials = (watched = new Set<object>());
  const guard = {
    watch(credential: object) {
      credentials.add(credential);
      return () => void credentials.delete(credential);
    },
  };
  streams = createResponseStreams({
    guard,
    slots: createSlots(0),
    logger: silentLogger(),
    maxStreams: MOST,
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

/** Opens a stream that the client leaves when it is told to. */
async function open() {
  const leaving = new AbortController();
  const { status } = await fetch(url, { signal: leaving.signal });
  return { status, leave: () => leaving.abort() };
}

test('no more streams are opened than this process may have, until one has closed', async () => {
  const opened = await Promise.all(Array.from({ length: MOST }, open));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await open()).status).toBe(503);
  opened[0]?.leave();
  await until(() => streams.size === MOST - 1);
  expect((await open()).status).toBe(200);
});

test('nothing of a stream stays when it has closed: no heartbeat, no watch over its credential', async () => {
  const opened = await Promise.all(Array.from({ length: MOST }, open));
  expect(watched.size).toBe(MOST);
  const before = timers();
  for (const { leave } of opened) leave();
  await until(() => streams.size === 0);
  expect(watched.size).toBe(0);
  // Some timers of this process are not of streams.
  await until(() => timers() <= before - MOST / 2);
});

/** An answer in parts of which the second one never comes. */
async function answerInParts(request: IncomingMessage, response: ServerResponse): Promise<void> {
  attachContext(request, response, caller);
  const errors = { formatError: () => ({ message: '' }), formatResult: () => ({}) };
  const send = createPartSender({ errors, streams })(request, response);
  async function* parts() {
    yield { data: { hello: 'hi' }, hasNext: true };
    await once(response, 'close');
  }
  await send?.(parts());
}

test('an answer in parts says that it is over when all are ended', async () => {
  const response = await fetch(`${url}/parts`);
  await until(() => streams.size === 1);
  streams.endAll();
  const parts = (await response.text()).split('\r\n').filter((line) => line.startsWith('{'));
  expect(parts.map((part) => JSON.parse(part) as unknown)).toEqual([
    { data: { hello: 'hi' }, hasNext: true },
    { hasNext: false },
  ]);
});

test('none is opened any more once all have been ended', async () => {
  expect((await open()).status).toBe(200);
  streams.endAll();
  await until(() => streams.size === 0);
  expect((await open()).status).toBe(503);
});

describe('a stream', () => {
  beforeEach(
    () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
  );
  afterEach(() => void vi.useRealTimers());

  /** A response without a network: what was written of it, and whether its client reads. */
  function responding() {
    const written: unknown[] = [];
    const response = Object.assign(new EventEmitter(), {
      closed: false,
      destroyed: false,
      writableEnded: false,
      writableNeedDrain: false,
      isRead: true,
      writeHead: (...head: readonly unknown[]) => void written.push(head),
      write: (text: string) => (written.push(text), response.isRead),
      end(text: string) {
        written.push(`end ${text}`);
        response.writableEnded = true;
      },
      destroy() {
        Object.assign(response, { closed: true, destroyed: true });
        response.emit('close');
      },
    });
    return { response, written };
  }
  const ends: (() => void)[] = [];
  const lines: unknown[] = [];
  function opening({ stallMs, most = 0 }: { readonly stallMs?: number; readonly most?: number } = {}) {
    const own = createResponseStreams({
      ...(stallMs !== undefined && { stallMs }),
      guard: { watch: (_: object, onEnd: () => void) => (ends.push(onEnd), () => undefined) },
      slots: createSlots(most),
      logger: { ...silentLogger(), warn: (fields: object | string) => void lines.push(fields) },
    });
    const reserve = (response: object, address = '192.0.2.1') =>
      own.reserve(response as never, { request: {} as never, caller: anonymousCaller('t', address) });
    const open = () => {
      const { response, written } = responding();
      const stream = reserve(response)?.open({ ...format, heartbeat: 'beat', credentialEnd: 'ended' });
      expect(written.splice(0)).toEqual([[200, {}], ':\n\n']);
      if (stream === undefined) throw new Error('there is no room');
      return { response, written, stream };
    };
    return { own, reserve, open };
  }

  test('beats while it is open and read', () => {
    const { response, written } = opening().open();
    vi.advanceTimersByTime(10_000);
    expect(written.splice(0)).toEqual(['beat', 'beat']);
    response.writableNeedDrain = true;
    vi.advanceTimersByTime(5_000);
    Object.assign(response, { writableNeedDrain: false, writableEnded: true });
    vi.advanceTimersByTime(5_000);
    response.destroy();
    expect([written, vi.getTimerCount()]).toEqual([[], 0]);
  });

  test.each([
    [undefined, 30_000],
    [700, 700],
  ])('waits for its client to read: with %s at most %i ms', async (stallMs, most) => {
    const { open } = opening(stallMs === undefined ? {} : { stallMs });
    const { response, written, stream } = open();
    expect(await stream.send('read')).toBe(true);
    response.isRead = false;
    const drained = stream.send('drained');
    response.emit('drain');
    expect(await drained).toBe(true);
    const stalled = stream.send('stalled');
    vi.advanceTimersByTime(most - 1);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect([await stalled, response.destroyed, lines.splice(0)]).toEqual([false, true, [{ stallMs: most }]]);
    expect(await stream.send('late')).toBe(false);
    expect(written.filter((text) => text !== 'beat')).toEqual(['read', 'drained', 'stalled']);
    expect([response.listenerCount('drain'), response.listenerCount('close'), vi.getTimerCount()]).toEqual([
      0, 0, 0,
    ]);
    const other = open();
    other.response.isRead = false;
    const closed = other.stream.send('closed');
    other.response.destroy();
    expect([await closed, lines]).toEqual([false, []]);
  });

  test('ends once, with its last words, and takes no more', async () => {
    const { stream, written } = opening().open();
    stream.end('last');
    stream.end('again');
    expect([await stream.send('more'), written]).toEqual([false, ['end last']]);
  });

  test('ends with its credential, and a moment later for a client that does not read that', () => {
    ends.length = 0;
    const { open } = opening();
    const [{ response, written }, over] = [open(), open()];
    over.stream.end('over');
    for (const end of ends) end();
    expect([written, over.written]).toEqual([['end ended'], ['end over']]);
    vi.advanceTimersByTime(4_999);
    expect(response.destroyed).toBe(false);
    vi.advanceTimersByTime(1);
    expect([response.destroyed, over.response.destroyed]).toEqual([true, false]);
  });

  test('is one of as many as its client may have, and its place is free when it has closed', () => {
    const { own, reserve, open } = opening({ most: 1 });
    const { response } = open();
    expect(reserve(responding().response)).toBeNull();
    expect(reserve(responding().response, '192.0.2.2')).not.toBeNull();
    expect(reserve(Object.assign(responding().response, { destroyed: true }), '192.0.2.3')).toBeNull();
    expect(own.size).toBe(2);
    response.destroy();
    expect(own.size).toBe(1);
    expect(reserve(responding().response)).not.toBeNull();
  });

  test('is not begun for a client that is gone, and says its last words when all are ended', () => {
    const { own, reserve } = opening();
    const { response, written } = responding();
    const permit = reserve(response);
    response.closed = true;
    permit?.open(format);
    const waiting = responding();
    reserve(waiting.response);
    const open = responding();
    reserve(open.response)?.open(format);
    own.endAll();
    expect([written, waiting.written, open.written.at(-1)]).toEqual([[], [], 'end bye']);
  });

  describe('of results', () => {
    /** What is told of these results to a client that takes so many. */
    async function pumped(results: readonly (number | Error)[], takes = Infinity, closesAt = Infinity) {
      const told: string[] = [];
      let [close, isReturned] = [() => undefined as void, false];
      async function* source() {
        try {
          for (const [index, result] of results.entries()) {
            if (index === closesAt) close();
            if (result instanceof Error) throw result;
            yield { data: { result } };
          }
        } finally {
          isReturned = true;
        }
      }
      const isDone = await pumpResults({
        results: source(),
        stream: {
          send: async (text) => told.push(text) < takes,
          end: (text) => void told.push(`end ${text}`),
          onClose: (listener) => (close = listener),
        },
        print: ({ data }) => String(data?.['result']),
        onError: ({ message }) => message,
      });
      return { told, isDone, isReturned };
    }

    test('tells them in their order to the end, or as far as they are taken', async () => {
      expect(await pumped([1, 2])).toEqual({ told: ['1', '2'], isDone: true, isReturned: true });
      expect(await pumped([1, 2, 3], 2)).toEqual({ told: ['1', '2'], isDone: false, isReturned: true });
    });

    test('tells why they end, unless nobody is there any more', async () => {
      const failed = { isDone: false, isReturned: true };
      expect(await pumped([1, new Error('why')])).toEqual({ told: ['1', 'end why'], ...failed });
      expect(await pumped([1, new Error('why')], Infinity, 1)).toEqual({ told: ['1'], ...failed });
      expect(await pumped([1, 2], Infinity, 1)).toMatchObject({ isDone: false });
    });
  });
});
