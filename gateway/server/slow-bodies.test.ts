import { EventEmitter } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { afterEach, describe, expect, test, vi } from 'vitest';

import { startTestGateway, type TestGateway } from './server-under-test.fixture.ts';
import { endSlowBodies, SLOW_BODIES } from './slow-bodies.ts';

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

/** A request whose body comes in pieces; resolves with what was answered when the connection has ended. */
function send(
  head: readonly string[],
  pieces: { readonly text: string; readonly everyMs: number; readonly times: number },
) {
  const { hostname, port, host } = new URL(gateway?.url ?? '');
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.on('error', () => undefined);
  socket.write(
    ['POST /graphql HTTP/1.1', `Host: ${host}`, 'Connection: close', ...head, '', ''].join('\r\n'),
  );
  void (async () => {
    for (let count = 0; count < pieces.times && !socket.destroyed; count += 1) {
      socket.write(pieces.text);
      await pause(pieces.everyMs);
    }
  })();
  return new Promise<string>((resolve) => socket.once('close', () => resolve(answer)));
}

const json = (length: number) => ['Content-Type: application/json', `Content-Length: ${length}`];
const slowBodies = { windowMs: 400, minRate: 1_000 };

test('ends slow posts and slow uploads', async () => {
  gateway = await startTestGateway({ slowBodies });
  const drop = { text: ' ', everyMs: 50, times: 1_000 };
  const form = [
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 900000',
    'Apollo-Require-Preflight: true',
  ];
  const slow = [
    ...Array.from({ length: 40 }, () => send(json(900_000), drop)),
    ...Array.from({ length: 20 }, () => send(form, drop)),
    ...Array.from({ length: 20 }, () => send(json(900_000), { ...drop, times: 0 })),
  ];
  // Node itself would give them an hour.
  const answers = await Promise.all(slow);
  expect(new Set(answers.map((answer) => answer.split('\r\n', 1)[0]))).toEqual(
    new Set(['HTTP/1.1 408 Request Timeout']),
  );
});

test('lets a body take its time that is fast enough', async () => {
  gateway = await startTestGateway({ slowBodies: { windowMs: 1_000, minRate: 50 } });
  const body = JSON.stringify({ query: `{ hello } #${'x'.repeat(3_900)}` });
  const piece = (index: number) => body.slice(index * 100, (index + 1) * 100);
  const { hostname, port, host } = new URL(gateway.url);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write(
    ['POST /graphql HTTP/1.1', `Host: ${host}`, 'Connection: close', ...json(body.length), '', ''].join(
      '\r\n',
    ),
  );
  for (let index = 0; index * 100 < body.length; index += 1) {
    socket.write(piece(index));
    await pause(40);
  }
  await closed;
  expect(answer).toContain('HTTP/1.1 200 OK');
});

describe('a body', () => {
  afterEach(() => void vi.useRealTimers());

  /** A server without a network, and what becomes of the requests to it. */
  function watched(options = SLOW_BODIES) {
    vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'clearInterval', 'performance'] });
    const server = new EventEmitter();
    endSlowBodies(server as never, options);
    const ask = (headers: Record<string, string> = { 'content-length': '1' }, headersSent = false) => {
      const told: string[] = [];
      const socket = {
        bytesRead: 500,
        write: (text: string) => void told.push(text.split('\r\n', 1)[0] ?? ''),
        destroy: () => void told.push('destroyed'),
      };
      const state = { headers, socket, complete: false, destroyed: false, readableLength: 0 };
      const request = Object.assign(new EventEmitter(), state);
      server.emit('request', request, { headersSent });
      return { request, socket, told };
    };
    return { server, ask };
  }
  const REFUSED = ['HTTP/1.1 408 Request Timeout', 'destroyed'];

  test('is given twenty seconds, and then a thousand bytes in each of the last of them', () => {
    const { ask } = watched();
    const [still, slow, fast] = [ask(), ask({ 'transfer-encoding': 'chunked' }), ask()];
    slow.socket.bytesRead += 19_999;
    fast.socket.bytesRead += 20_000;
    vi.advanceTimersByTime(19_999);
    expect([still.told, slow.told]).toEqual([[], []]);
    vi.advanceTimersByTime(1);
    expect([still.told, slow.told, fast.told]).toEqual([REFUSED.slice(0, 1), REFUSED.slice(0, 1), []]);
    vi.advanceTimersByTime(99);
    expect(still.told).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect([still.told, slow.told]).toEqual([REFUSED, REFUSED]);
    // It came fast, and comes no more.
    vi.advanceTimersByTime(19_000);
    expect(fast.told).toEqual([]);
    vi.advanceTimersByTime(1_000);
    expect(fast.told).toEqual(REFUSED);
    vi.advanceTimersByTime(60_000);
    expect(still.told).toEqual(REFUSED);
  });

  test('that we do not read is not slow, nor one that is over, nor a request without one', () => {
    const { ask } = watched();
    const [waiting, complete, gone, closed] = [ask(), ask(), ask(), ask()];
    const [none, empty] = [ask({}), ask({ 'content-length': '0' })];
    waiting.request.readableLength = 1;
    complete.request.complete = true;
    gone.request.destroyed = true;
    closed.request.emit('close');
    vi.advanceTimersByTime(20_000);
    Object.assign(complete.request, { complete: false });
    Object.assign(gone.request, { destroyed: false });
    waiting.request.readableLength = 0;
    vi.advanceTimersByTime(19_999);
    const all = [waiting, complete, gone, closed, none, empty];
    expect(all.map(({ told }) => told)).toEqual([[], [], [], [], [], []]);
    vi.advanceTimersByTime(1);
    expect(waiting.told).toHaveLength(1);
  });

  test('is refused without words where its answer has begun, and nobody looks after the server', () => {
    const { server, ask } = watched({ windowMs: 400, minRate: 1_000 });
    const begun = ask({ 'content-length': '1' }, true);
    vi.advanceTimersByTime(500);
    expect(begun.told).toEqual(['destroyed']);
    const late = ask();
    server.emit('close');
    vi.advanceTimersByTime(10_000);
    expect([late.told, vi.getTimerCount()]).toEqual([[], 0]);
  });
});
