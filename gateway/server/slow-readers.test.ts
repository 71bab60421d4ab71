import { connect, type Socket } from 'node:net';

import { afterEach, expect, test } from 'vitest';

import { post, startTestGateway, until, type TestGateway } from './server-under-test.fixture.ts';

let gateway: TestGateway;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await gateway.close();
});

/** Asks for an answer of some 18 MB, and reads nothing of it. */
function askAndNotRead(): Socket {
  const { hostname, port, host } = new URL(gateway.url);
  const fields = Array.from({ length: 20 }, (_, index) => `f${index}: task(id: $id) { id }`).join(' ');
  const variables = { id: 'x'.repeat(900_000) };
  const body = JSON.stringify({ query: `query ($id: ID!) { ${fields} }`, variables });
  const socket = connect(Number(port), hostname);
  sockets.push(socket);
  socket.on('error', () => undefined);
  socket.pause();
  const head = ['POST /graphql HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json'];
  socket.write([...head, `Content-Length: ${body.length}`, '', body].join('\r\n'));
  return socket;
}

const ended = (): number => gateway.lines.filter((line) => line.includes('does not read its answer')).length;

test('ends clients that read nothing of their answers when too much waits for all of them', async () => {
  gateway = await startTestGateway({ unreadBytes: 40_000_000, stallMs: 600_000 });
  for (let count = 0; count < 12; count += 1) askAndNotRead();
  await until(() => ended() >= 8);
  // What may wait stays.
  expect(ended()).toBeLessThan(12);
  expect((await post(gateway, { query: '{ hello }' })).body).toEqual({ data: { hello: 'hi' } });
});

test('ends a client that reads nothing for a while', async () => {
  gateway = await startTestGateway({ stallMs: 500 });
  askAndNotRead();
  await until(() => ended() === 1);
  expect(gateway.lines.join('')).toContain('stalled');
});
