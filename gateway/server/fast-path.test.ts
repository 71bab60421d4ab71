import { createServer, request as send, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { createCompression } from '../request/compression.ts';
import { createFastPath } from './fast-path.ts';

/** A server of which each answer says who has given it. */
function answerAs(who: string): RequestListener {
  return (_, response) => void response.end(who);
}

const server = createServer(
  createFastPath({
    express: answerAs('express'),
    basePath: '/base',
    enter: () => true,
    operations: {
      count: () => Promise.resolve(true),
      serve: ({ response }) => Promise.resolve(response.end('fast').writableEnded),
    },
    compression: createCompression(),
    maxBodyBytes: 60,
    restFolders: ['/api'],
    rest: {
      find: ({ url }) =>
        url === '/api/known' ? (response) => Promise.resolve(void response.end('rest')) : null,
    },
    failed: (_thrown, _request, response) => void response.end('failed'),
  }),
);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Who answers a request: it is a plain operation, but for what is said. */
function askServer({ method = 'POST', path = '/base/graphql', headers, body }: Sent): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    const own = { 'content-type': 'application/json', ...headers };
    const sent = send({ host: '127.0.0.1', port, method, path, headers: own, agent: false }, (response) => {
      text(response).then(resolve, reject);
    });
    sent.on('error', reject);
    sent.end(method === 'POST' ? (body ?? '{"query":"{ hello }"}') : undefined);
  });
}

it.each<[string, Sent]>([
  ['as JSON', {}],
  ['with a charset', { headers: { 'content-type': 'application/json; charset=utf-8' } }],
  [
    'that takes an answer of GraphQL',
    { headers: { accept: 'application/graphql-response+json, application/json' } },
  ],
  ['with variables and a name', { body: '{"query":"query A{a}","variables":{},"operationName":"A"}' }],
])('serves a plain operation without Express: %s', async (_, sent) => {
  expect(await askServer(sent)).toBe('fast');
});

it.each<[string, Sent]>([
  ['by GET', { method: 'GET', path: '/base/graphql?query={hello}' }],
  ['at another path', { path: '/graphql' }],
  ['with a query string', { path: '/base/graphql?a=1' }],
  ['as another type', { headers: { 'content-type': 'text/plain' } }],
  ['that takes a stream', { headers: { accept: 'text/event-stream' } }],
  ['compressed', { headers: { 'content-encoding': 'gzip' } }],
  ['of unknown length', { headers: { 'transfer-encoding': 'chunked' } }],
  ['too large', { body: JSON.stringify({ query: `{ ${'a '.repeat(30)} }` }) }],
  ['without a body', { headers: { 'content-length': '0' }, body: '' }],
  ['no JSON', { body: '{"query":' }],
  ['several at once', { body: '[{"query":"{ hello }"}]' }],
  ['with extensions', { body: '{"query":"{ a }","extensions":{}}' }],
])('leaves to Express what is not plain: %s', async (_, sent) => {
  expect(await askServer(sent)).toBe('express');
});

it.each<[string, Sent, string]>([
  ['one that is documented', { path: '/base/api/known' }, 'rest'],
  ['one that is not, under its whole path', { path: '/base/api/unknown' }, 'express'],
  ['a preflight', { method: 'OPTIONS', path: '/base/api/known' }, 'express'],
  ['one outside of the folders', { path: '/base/apis/known' }, 'express'],
])('serves REST paths: %s', async (_, sent, who) => {
  expect(await askServer(sent)).toBe(who);
});
