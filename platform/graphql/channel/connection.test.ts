import { createSecretKey } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

import { afterEach, expect, it, vi } from 'vitest';

import type { Abandonable } from '../../http/endpoints/post-text.ts';
import { createConnection } from './connection.ts';

/** Milliseconds without any answer after which what is given up says that a connection leads nowhere. */
const SILENCE_MS = 5_000;

afterEach(() => void vi.useRealTimers());

/** A connection over a socket that takes everything and answers nothing. */
function connect() {
  const socket = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
  let closed = 0;
  const connection = createConnection({
    socket: socket as Socket,
    head: Buffer.alloc(0),
    key: createSecretKey(Buffer.alloc(32)),
    maxAnswerBytes: 1_000,
    onClosed: () => (closed += 1),
  });
  const ask = (call: Abandonable = { abandon: null }) =>
    connection.ask({ text: '{ a }', variables: {}, caller: '' } as never, call);
  return { socket, connection, ask, closed: () => closed };
}

it('a connection that breaks says why to all who wait, and takes no more requests', async () => {
  const { socket, connection, ask, closed } = connect();
  const asked = [ask(), ask()].map((one) => Promise.resolve(one));
  expect([connection.waiting, connection.isOpen]).toEqual([2, true]);
  socket.destroy(new Error('read ECONNRESET'));
  const ends = await Promise.allSettled(asked);
  expect(ends.map((end) => end.status === 'rejected' && String(end.reason))).toEqual([
    'Error: read ECONNRESET',
    'Error: read ECONNRESET',
  ]);
  expect([connection.waiting, connection.isOpen]).toEqual([0, false]);
  await expect.poll(closed).toBe(1);
});

it('a connection that is closed without a word says so', async () => {
  const { socket, ask } = connect();
  const asked = ask();
  socket.destroy();
  await expect(asked).rejects.toThrow('the connection was closed');
});

it('a connection on which nothing has come for long is not asked again by who gives up, and what has ended is not left', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const { socket, connection, ask } = connect();
  const asking = () => {
    const call: Abandonable = { abandon: null };
    const asked = Promise.resolve(ask(call));
    return { asked, leave: () => call.abandon?.(new Error('too late')) };
  };
  const [soon, late, ended] = [asking(), asking(), asking()];
  vi.advanceTimersByTime(SILENCE_MS);
  soon.leave();
  await expect(soon.asked).rejects.toThrow('too late');
  expect([connection.waiting, connection.isOpen]).toEqual([2, true]);
  vi.advanceTimersByTime(1);
  late.leave();
  await expect(late.asked).rejects.toThrow('too late');
  expect([connection.waiting, connection.isOpen]).toEqual([1, false]);
  socket.destroy();
  await expect(ended.asked).rejects.toThrow('the connection was closed');
  ended.leave();
  expect(connection.waiting).toBe(0);
});
