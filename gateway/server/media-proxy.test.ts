import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';

import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import {
  bytesHash,
  createCallerSigner,
  createCallerVerifier,
} from '../../platform/graphql/assertions/caller-assertion.ts';
import { createEndpoints } from '../../platform/http/endpoints/endpoints.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createFileProxy, createHookProxy, type HookProxy } from './media-proxy.ts';

/** A gateway with nothing but the proxy, before a media process that writes down what it is asked. */

const KEY = 'the-internal-key-of-the-tests-0123456789';
let seen: { method: string; url: string; headers: Record<string, unknown>; body: string }[];
let media: Server;
let gateway: Server;
let proxy: HookProxy;
let failure: unknown;

const listen = async (server: Server) => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
const stop = (server: Server) => {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(resolve));
};

beforeEach(async () => {
  seen = [];
  failure = undefined;
  media = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
      const told = { 'content-type': 'application/json', 'retry-after': '3', allow: 'POST', 'x-other': 'y' };
      response.writeHead(200, told).end('{"challenge":"7"}');
    });
  });
  proxy = createHookProxy({
    media: createEndpoints({ urls: [`${await listen(media)}/graphql`], logger: silentLogger() }),
    sign: createCallerSigner({ key: KEY, audience: 'media' }),
  });
  gateway = createServer((request, response) => {
    proxy.handle(request, response).catch((error: unknown) => {
      failure = error;
      response.writeHead(503).end();
    });
  });
});
afterEach(async () => {
  await stop(gateway);
  await proxy.close();
  await stop(media);
});

it('hands a webhook on byte for byte with what it is signed with, and nobody’s credentials', async () => {
  const origin = await listen(gateway);
  const answer = await fetch(`${origin}/hooks/fal?attempt=a%2F1%2F1&mac=b`, {
    method: 'POST',
    body: '{ "status":  "OK" }',
    headers: {
      'x-fal-webhook-signature': 'ff',
      authorization: 'Bearer x',
      cookie: 'a=b',
      'x-kiln-caller': 'me',
    },
  });
  expect([answer.status, await answer.json()]).toEqual([200, { challenge: '7' }]);
  const told = ['content-type', 'retry-after', 'allow', 'x-other'].map((name) => answer.headers.get(name));
  expect(told).toEqual(['application/json', '3', 'POST', null]);
  expect(seen).toHaveLength(1);
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/hooks/fal?attempt=a%2F1%2F1&mac=b',
    body: '{ "status":  "OK" }',
    headers: { 'x-fal-webhook-signature': 'ff' },
  });
  const target = { method: 'POST', path: '/hooks/fal?attempt=a%2F1%2F1&mac=b' };
  const verify = createCallerVerifier({ key: KEY, audience: 'media' });
  expect(await verify(seen[0]?.headers['x-kiln-caller'], target)).toMatchObject({
    caller: { kind: 'anonymous' },
    body: bytesHash(Buffer.from('{ "status":  "OK" }')),
  });
  for (const name of ['authorization', 'cookie']) {
    expect(seen[0]?.headers).not.toHaveProperty(name);
  }
});

it('says that webhooks are not taken while media is away', async () => {
  const origin = await listen(gateway);
  await stop(media);
  const answer = await fetch(`${origin}/hooks/fal`, { method: 'POST', body: '{}' });
  expect(answer.status).toBe(503);
  expect(failure).toMatchObject({
    code: 'UNAVAILABLE',
    message: 'provider webhooks are not accepted right now',
    retryAfter: 2,
    cause: expect.any(Error),
  });
});

it('hands files on with what is asked of them, and says when media breaks off, but not when the reader has left', async () => {
  const warnings: unknown[] = [];
  const readersLeft: string[] = [];
  const files = createServer(({ method = '', url = '', headers }, response) => {
    seen.push({ method, url, headers, body: '' });
    response.setHeader('x-told', 'yes');
    if (url.endsWith('/whole')) response.writeHead(206, { 'keep-alive': 'timeout=77' }).end('abc');
    else if (url.endsWith('/there')) response.end('it');
    else if (url.endsWith('/absent')) response.writeHead(404).end('none');
    else if (url.endsWith('/broken')) response.writeHead(503).end();
    else response.once('close', () => readersLeft.push(url)).write('half');
    if (url.endsWith('/breaks')) setImmediate(() => response.destroy());
  });
  const fileProxy = createFileProxy({
    media: createEndpoints({ urls: [`${await listen(files)}/graphql`], logger: silentLogger() }),
    sign: createCallerSigner({ key: KEY, audience: 'media' }),
    logger: { ...silentLogger(), warn: (...words: unknown[]) => void warnings.push(words[1]) },
  });
  const server = createServer((request, response) => void fileProxy.handle(request, response));
  const origin = await listen(server);
  const headers = { range: 'bytes=0-2', cookie: 'a=b', 'if-none-match': '"x"' };
  const answer = await fetch(`${origin}/files/whole`, { headers });
  expect([answer.status, answer.headers.get('x-told'), await answer.text()]).toEqual([206, 'yes', 'abc']);
  expect(answer.headers.get('keep-alive')).not.toBe('timeout=77');
  expect(seen[0]).toMatchObject({ method: 'GET', headers: { range: 'bytes=0-2', 'if-none-match': '"x"' } });
  expect(seen[0]?.headers).not.toHaveProperty('cookie');
  await fetch(`${origin}/files/whole`, { method: 'HEAD' });
  expect(seen[1]).toMatchObject({ method: 'HEAD' });

  await expect(fetch(`${origin}/files/breaks`).then((broken) => broken.text())).rejects.toThrow('terminated');
  await vi.waitFor(() => expect(warnings).toEqual(['forwarding a file failed']));
  const leaving = new AbortController();
  const left = await fetch(`${origin}/files/long`, { signal: leaving.signal });
  leaving.abort();
  await expect(left.text()).rejects.toThrow('aborted');
  await vi.waitFor(() => expect(readersLeft).toContain('/files/long'));
  expect(warnings).toHaveLength(1);

  expect(await text((await fileProxy.open('/files/there')) ?? Readable.from([]))).toBe('it');
  expect(await fileProxy.open('/files/absent')).toBeNull();
  await expect(fileProxy.open('/files/broken')).rejects.toMatchObject({ code: 'UNAVAILABLE', retryAfter: 2 });
  expect(seen.at(-1)).toMatchObject({ url: '/files/broken', headers: { 'x-kiln-bytes': 'true' } });
  await stop(server);
  await fileProxy.close();
  await stop(files);
});

it('takes webhooks of a megabyte and no more, and passes on what their senders read of the answer', async () => {
  const origin = await listen(gateway);
  const send = (bytes: number) => fetch(`${origin}/hooks/fal`, { method: 'POST', body: Buffer.alloc(bytes) });
  const answer = await send(1024 * 1024);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  await send(1024 * 1024 + 1);
  expect(failure).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  await fetch(`${origin}/hooks/minimax?challenge=7`, { method: 'PUT', body: 'x' });
  expect(seen.map(({ method, body }) => [method, body.length])).toEqual([
    ['POST', 1024 * 1024],
    ['GET', 0],
  ]);
});
