import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

import { Pool } from 'undici';
import { afterEach, expect, it } from 'vitest';

import { type Abandonable, postText, type TextRequest } from './post-text.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const formatAnswer = (text: string) =>
  `HTTP/1.1 200 OK\r\nx-of: answer\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;

/** A server that does with each request, by its number from 1, what the test says, and a pool of one connection to it. */
async function startServer(
  answer: (socket: Socket, request: number) => void,
  call: Abandonable = { abandon: null },
) {
  let requests = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('data', () => answer(socket, (requests += 1)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { connections: 1 });
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  cleanups.push(() => pool.destroy());
  return {
    call,
    requests: () => requests,
    post: (request: Partial<TextRequest> = {}) =>
      postText(pool, { path: '/', headers: {}, body: 'asked', isRead: true, ...request }, call),
  };
}

it('answers with a status, a text and the headers that are not of an interim answer', async () => {
  const answers = [
    `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${formatAnswer('täxt')}`,
    formatAnswer('\uFEFF{}'),
    'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n',
  ];
  const { post, call } = await startServer(
    (socket, request) => void socket.write(answers[request - 1] ?? ''),
  );
  const headers = { 'x-of': 'answer', 'content-length': '5' };
  expect(await post()).toEqual({ status: 200, text: 'täxt', headers });
  // Nothing is left to be given up.
  expect(call.abandon).toBeNull();
  expect(await post()).toMatchObject({ status: 200, text: '{}' });
  expect(await post()).toEqual({ status: 404, text: '', headers: { 'content-length': '0' } });
});

it('puts together what comes in several chunks', async () => {
  const { post } = await startServer((socket) => {
    const [head, tail] = [formatAnswer('one two').slice(0, -3), 'two'];
    socket.write(head, () => setImmediate(() => socket.write(tail)));
  });
  expect((await post()).text).toBe('one two');
});

/** Answers the first request, and closes the connection at the second without a word. */
const closingOnce = (socket: Socket, request: number): void => {
  if (request === 2) socket.destroy();
  else socket.write(formatAnswer(`answer to ${request}`));
};

it('sends a read once more where its connection had been closed', async () => {
  const { post, requests, call } = await startServer(closingOnce);
  await post();
  expect((await post()).text).toBe('answer to 3');
  expect([requests(), call.abandon]).toEqual([3, null]);
});

it('sends a change once, and a read that was the first of its connection', async () => {
  const written = await startServer(closingOnce);
  await written.post();
  await expect(written.post({ isRead: false })).rejects.toThrow('other side closed');
  expect([written.requests(), written.call.abandon]).toEqual([2, null]);
  const fresh = await startServer((socket) => void socket.destroy());
  await expect(fresh.post()).rejects.toThrow('other side closed');
  expect(fresh.requests()).toBe(1);
});

it('sends nothing twice of which an answer had begun', async () => {
  const { post, requests } = await startServer((socket, request) => {
    if (request === 1) socket.write(formatAnswer('one'));
    else socket.end(formatAnswer('another').slice(0, -3));
  });
  await post();
  await expect(post()).rejects.toThrow('other side closed');
  expect(requests()).toBe(2);
});

it('is given up while it waits for an answer, for a connection, or to be sent once more', async () => {
  const reason = new Error('nobody wants it');
  const waiting = await startServer((socket) => {
    socket.once('close', () => (closed += 1));
  });
  let closed = 0;
  const asked = waiting.post();
  await expect.poll(waiting.requests).toBe(1);
  waiting.call.abandon?.(reason);
  await expect(asked).rejects.toBe(reason);
  expect(waiting.call.abandon).toBeNull();
  await expect.poll(() => closed).toBe(1);

  // Of one connection, which is busy.
  const first = waiting.post();
  await expect.poll(waiting.requests).toBe(2);
  const giveUpFirst = waiting.call.abandon;
  const second = waiting.post();
  waiting.call.abandon?.(reason);
  await expect(second).rejects.toBe(reason);
  giveUpFirst?.(reason);
  await expect(first).rejects.toBe(reason);
  expect(waiting.requests()).toBe(2);
});

it('is not sent once more when it was given up meanwhile', async () => {
  const reason = new Error('nobody wants it');
  const ways: Abandonable['abandon'][] = [];
  const call: Abandonable = {
    get abandon() {
      return ways.at(-1) ?? null;
    },
    set abandon(way) {
      ways.push(way);
      // After one of each request, and that none was left: while it waits to be sent once more.
      if (ways.length === 5) queueMicrotask(() => way?.(reason));
    },
  };
  const { post, requests } = await startServer(closingOnce, call);
  await post();
  const again = post();
  await expect(again).rejects.toBe(reason);
  expect([requests(), call.abandon]).toEqual([2, null]);
});
