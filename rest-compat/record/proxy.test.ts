import { createHash, randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, describe, expect, it } from 'vitest';

import type { Exchange } from '../traffic/exchange.ts';
import { createRecordingProxy } from './proxy.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

async function listening(server: Server): Promise<string> {
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function recording(service: RequestListener) {
  const exchanges: Exchange[] = [];
  const to = await listening(createServer(service));
  const onFailure = () => undefined;
  const proxy = createRecordingProxy({
    to,
    onExchange: (exchange) => void exchanges.push(exchange),
    onFailure,
  });
  return { url: await listening(proxy), exchanges };
}

describe('the recording proxy', () => {
  it('passes an upload of several megabytes on, and records that it was too large', async () => {
    const { url, exchanges } = await recording((request, response) => {
      const hash = createHash('sha256');
      request.on('data', (chunk: Buffer) => void hash.update(chunk));
      request.on('end', () => void response.end(hash.digest('hex')));
    });
    const bytes = randomBytes(3_000_000);
    const answer = await fetch(`${url}/api/file/upload`, { method: 'POST', body: bytes });
    expect(await answer.text()).toBe(createHash('sha256').update(bytes).digest('hex'));
    await expect.poll(() => exchanges[0]?.request.body).toEqual({ omittedBytes: 3_000_000 });
  });

  it('passes events on as they come', async () => {
    let finish: () => void = () => undefined;
    const { url, exchanges } = await recording((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
      finish = () => void response.end('data: two\n\n');
    });
    const answer = await fetch(`${url}/events`);
    const reader = answer.body?.getReader();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: one\n\n');
    finish();
    expect(Buffer.from((await reader?.read())?.value ?? []).toString()).toBe('data: two\n\n');
    await expect.poll(() => exchanges[0]?.response.body).toEqual({ text: 'data: one\n\ndata: two\n\n' });
  });

  it('answers 502 when the service is away, and keeps status and headers otherwise', async () => {
    const { url } = await recording((request, response) => {
      if (request.url === '/gone') request.destroy();
      else response.writeHead(418, 'Teapot', { 'X-Own': 'a' }).end('no');
    });
    expect((await fetch(`${url}/gone`)).status).toBe(502);
    const answer = await fetch(`${url}/x?y=1`);
    expect([answer.status, answer.statusText, answer.headers.get('x-own')]).toEqual([418, 'Teapot', 'a']);
  });
});
