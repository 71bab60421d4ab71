import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, globalAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';

import { generate as selfSigned } from 'selfsigned';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';

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

async function recording(service: RequestListener | string) {
  const exchanges: Exchange[] = [];
  const to = typeof service === 'string' ? service : await listening(createServer(service));
  const failures: string[] = [];
  const proxy = createRecordingProxy({
    to,
    onExchange: (exchange) => void exchanges.push(exchange),
    onFailure: ({ message }) => void failures.push(message),
  });
  return { url: await listening(proxy), exchanges, failures };
}

describe('the recording proxy', () => {
  it('passes an upload of several megabytes on, and records that it was too large', async () => {
    const { url, exchanges } = await recording((request, response) => {
      const hash = createHash('sha256');
      request.on('data', (chunk: Buffer) => void hash.update(chunk));
      request.on('end', () => void response.end(hash.digest('hex')));
    });
    const bytes = randomBytes(9_000_000);
    const answer = await fetch(`${url}/api/file/upload`, { method: 'POST', body: bytes });
    expect(await answer.text()).toBe(createHash('sha256').update(bytes).digest('hex'));
    await expect.poll(() => exchanges[0]?.request.body).toEqual({ omittedBytes: 9_000_000 });
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

  it('records what came until its caller hung up, which is no failure of the service', async () => {
    const { url, exchanges, failures } = await recording((_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: one\n\n');
    });
    const answer = await fetch(`${url}/events`);
    const reader = answer.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    await expect.poll(() => exchanges[0]?.response.body).toEqual({ text: 'data: one\n\n' });
    expect(failures).toEqual([]);
  });

  it('says that the service has cut an answer off, and cuts it off for the caller', async () => {
    const { url, exchanges, failures } = await recording((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 });
      response.write('{"a":');
      setImmediate(() => response.destroy());
    });
    await expect(fetch(url).then((answer) => answer.text())).rejects.toThrow('terminated');
    await expect
      .poll(() => [exchanges[0]?.response.body, failures])
      .toEqual([{ text: '{"a":' }, ['aborted']]);
  });

  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('records an answer in %s as a text, and passes it on as it came', async (coding, compress) => {
    const bytes = compress('{"data":"a fox"}');
    const { url, exchanges } = await recording((_, response) => {
      const headers = { 'content-type': 'application/json', 'content-encoding': coding };
      response.writeHead(200, headers).end(bytes);
    });
    const answer = await new Promise<IncomingMessage>((resolve) => void get(url, resolve));
    expect([answer.headers['content-encoding'], await buffer(answer)]).toEqual([coding, bytes]);
    await expect.poll(() => exchanges[0]?.response.body).toEqual({ text: '{"data":"a fox"}' });
    expect(exchanges[0]?.response.headers).not.toHaveProperty('content-encoding');
  });

  it('records what was compressed and cut off as far as it came, and leaves out what can not be read', async () => {
    const sent = gzipSync(randomBytes(20_000).toString('hex'));
    const { url, exchanges } = await recording((request, response) => {
      const coding = request.url === '/cut' ? 'gzip' : 'unknown';
      const headers = { 'content-type': 'text/plain', 'content-encoding': coding };
      response.writeHead(200, headers).end(sent.subarray(0, 10_000));
    });
    for (const path of ['/cut', '/unknown']) {
      const answer = await new Promise<IncomingMessage>((resolve) => void get(url + path, resolve));
      await buffer(answer);
    }
    const bodies = () => exchanges.map(({ response }) => response.body);
    await expect
      .poll(bodies)
      .toEqual([{ text: expect.stringMatching(/^[0-9a-f]{5000,}$/) }, { omittedBytes: 10_000 }]);
  });

  it('answers 502 when the service is away, and keeps status and headers otherwise', async () => {
    const { url, exchanges } = await recording((request, response) => {
      if (request.url === '/gone') request.destroy();
      else response.writeHead(418, 'Teapot', { 'X-Own': 'a', 'Set-Cookie': ['b=1', 'c=2'] }).end('no');
    });
    expect((await fetch(`${url}/gone`)).status).toBe(502);
    const answer = await fetch(`${url}/x?y=1`, { headers: { 'x-asked': 'd' } });
    expect([answer.status, answer.statusText, answer.headers.get('x-own')]).toEqual([418, 'Teapot', 'a']);
    await answer.text();
    await expect
      .poll(() => exchanges)
      .toMatchObject([
        {
          request: { headers: { 'x-asked': 'd' } },
          response: { headers: { 'x-own': 'a', 'set-cookie': 'b=1, c=2' } },
        },
      ]);
  });
  it('passes https on, with headers, uploads and answers, and records them', async () => {
    const { cert, private: key } = await selfSigned([{ name: 'commonName', value: 'localhost' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    });
    const secure = createSecureServer({ cert, key }, (request, response) => {
      request.pipe(
        response.writeHead(201, { 'content-type': 'text/plain', 'x-host': request.headers.host ?? '' }),
      );
    });
    const to = (await listening(secure)).replace('http:', 'https:');
    const { url, exchanges } = await recording(to);
    // As NODE_EXTRA_CA_CERTS does it.
    globalAgent.options.ca = cert;
    const answer = await fetch(`${url}/x`, { method: 'POST', body: 'a fox' });
    delete globalAgent.options.ca;
    expect([answer.status, answer.headers.get('x-host'), await answer.text()]).toEqual([
      201,
      new URL(to).host,
      'a fox',
    ]);
    await expect.poll(() => exchanges[0]?.response.body).toEqual({ text: 'a fox' });
    expect((await fetch(`${url}/x`)).status).toBe(502);
  });

  it('passes WebSockets on without recording them, and a refusal of one', async () => {
    const service = createServer((_, response) => void response.writeHead(426, { 'x-own': 'a' }).end('no'));
    const sockets = new WebSocketServer({ noServer: true });
    service.on('upgrade', (request, socket, head) => {
      if (request.url === '/refused') socket.end('HTTP/1.1 403 Forbidden\r\ncontent-length: 2\r\n\r\nno');
      else
        sockets.handleUpgrade(request, socket, head, (found) =>
          found.on('message', (data) => found.send(data)),
        );
    });
    const { url, exchanges } = await recording(await listening(service));
    const socket = new WebSocket(`${url.replace('http', 'ws')}/echo`);
    const echoed = new Promise(
      (resolve) => void socket.once('message', (data: Buffer) => resolve(data.toString())),
    );
    socket.once('open', () => socket.send('hello'));
    expect(await echoed).toBe('hello');
    socket.close();
    const refused = new WebSocket(`${url.replace('http', 'ws')}/refused`);
    const status = await new Promise(
      (resolve) => void refused.once('unexpected-response', (_, { statusCode }) => resolve(statusCode)),
    );
    expect([status, exchanges]).toEqual([403, []]);
  });

  it('answers 502 for a WebSocket when the service is away', async () => {
    const service = createServer().on('upgrade', (_, socket) => void socket.destroy());
    const { url, failures } = await recording(await listening(service));
    const refused = new WebSocket(`${url.replace('http', 'ws')}/x`);
    const [, answer] = (await once(refused, 'unexpected-response')) as [unknown, IncomingMessage];
    expect([answer.statusCode, failures]).toEqual([502, ['socket hang up']]);
  });
});
