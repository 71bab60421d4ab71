import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterEach, beforeEach, expect, it } from 'vitest';

import {
  bytesHash,
  createCallerSigner,
  createCallerVerifier,
} from '../../platform/graphql/assertions/caller-assertion.ts';
import { createEndpoints } from '../../platform/http/endpoints/endpoints.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createHookProxy, type HookProxy } from './media-proxy.ts';

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
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"challenge":"7"}');
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
  expect(failure).toMatchObject({ code: 'UNAVAILABLE' });
});
