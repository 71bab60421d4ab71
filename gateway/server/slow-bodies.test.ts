import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { afterEach, expect, test } from 'vitest';

import { startTestGateway, type TestGateway } from './server-under-test.fixture.ts';

let gateway: TestGateway;
afterEach(() => gateway.close());

/** A request whose body comes in pieces; resolves with what was answered when the connection has ended. */
function send(
  head: readonly string[],
  pieces: { readonly text: string; readonly everyMs: number; readonly times: number },
) {
  const { hostname, port, host } = new URL(gateway.url);
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
