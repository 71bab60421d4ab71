import { createSecretKey } from 'node:crypto';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

import { expect, it } from 'vitest';

import { createConnection } from './connection.ts';

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
  const ask = () => connection.ask({ text: '{ a }', variables: {}, caller: '' } as never, { abandon: null });
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
