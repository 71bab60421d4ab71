import { once } from 'node:events';
import { createServer, type IncomingMessage, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { ClientDisconnected, readBytes } from './body.ts';
import { readFormBody } from './form.ts';

let server: Server;
beforeAll(async () => {
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => server.close().closeAllConnections());

/** A request whose body has begun, and goes on as the test says. */
async function receiving(type: string, first: string) {
  const { port } = server.address() as AddressInfo;
  const arriving = once(server, 'request') as Promise<[IncomingMessage]>;
  const sent = httpRequest({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-type': type } });
  sent.on('error', () => undefined).write(first);
  return { sent, received: (await arriving)[0] };
}

const readers = [
  ['bytes', 'application/json', (request: IncomingMessage) => readBytes(request, 100)],
  [
    'a form',
    'multipart/form-data; boundary=b',
    (request: IncomingMessage) => readFormBody({ request, fileMaxBytes: 100, store: null }),
  ],
] as const;

describe.each(readers)('the reader of %s', (_, type, read) => {
  it('gives a body up whose sender hangs up', async () => {
    const { sent, received } = await receiving(type, '--b\r\n');
    const reading = read(received);
    sent.destroy();
    await expect(reading).rejects.toBeInstanceOf(ClientDisconnected);
  });

  it('gives a body up whose sender had gone before', async () => {
    const { sent, received } = await receiving(type, '--b\r\n');
    const closed = new Promise((resolve) => void received.once('close', resolve));
    sent.destroy();
    await closed;
    await expect(read(received)).rejects.toBeInstanceOf(ClientDisconnected);
  });
});

it('refuses a body without a length as soon as it is too large', async () => {
  const { sent, received } = await receiving('application/json', 'x'.repeat(60));
  const reading = readBytes(received, 100);
  sent.write('x'.repeat(60));
  await expect(reading).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  sent.destroy();
});
