import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { json } from 'node:stream/consumers';

import { buildSchema, graphql } from 'graphql';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { readConfig } from '../../platform/config/config.ts';
import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { startGatewayAlone } from './gateway-alone.ts';

/** A gateway over the graph of somebody else, in this process, by its settings and files. */

const SDL = 'type Query { hello: String a: A } type A { hello: String a: A } type Mutation { make: String }';
const directory = mkdtempSync(path.join(tmpdir(), 'kiln-alone-'));
const write = (name: string, text: string): string => {
  const file = path.join(directory, name);
  writeFileSync(file, text);
  return file;
};

/** The subgraph, and what it was asked with. */
const asked: { readonly authorization: unknown }[] = [];
const schema = buildSchema(SDL);
const rootValue = { hello: 'hi', a: { hello: 'there', a: null }, make: 'made' };
const subgraph = createServer((request, response) => {
  void json(request).then(async (body) => {
    const { query, variables } = body as { query: string; variables?: Record<string, unknown> };
    asked.push({ authorization: request.headers.authorization });
    const result = await graphql({ schema, source: query, rootValue, variableValues: variables ?? {} });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(result));
  });
});
let subgraphs: string;
let address: string;
beforeAll(async () => {
  await new Promise<void>((listening) => subgraph.listen(0, '127.0.0.1', listening));
  const { port } = subgraph.address() as AddressInfo;
  write('shop.graphql', SDL);
  address = `http://127.0.0.1:${port}/graphql`;
  const shop = { url: address, schema: 'shop.graphql' };
  subgraphs = write('subgraphs.yaml', JSON.stringify({ subgraphs: { shop } }));
});
afterAll(() => {
  subgraph.closeAllConnections();
  subgraph.close();
  rmSync(directory, { recursive: true });
});

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

/** Starts one with these settings and this configuration file. */
async function start(settings: Record<string, string> = {}, file: object | null = null) {
  const lines: string[] = [];
  const logger = createLogger({ level: 'debug', destination: { write: (line) => void lines.push(line) } });
  const lifecycle = createLifecycle({ logger, graceMs: 5_000 });
  const words = subgraphs === '' ? [] : ['--subgraphs', subgraphs];
  if (file !== null) words.push('--config', write('gateway.yaml', JSON.stringify(file)));
  const environment = { ROLE: 'gateway', HOST: '127.0.0.1', PORT: '0', ...settings };
  const config = readConfig(environment, words);
  stops.push(() => lifecycle.stop('the test ends'));
  const server = await startGatewayAlone({ config, logger, lifecycle });
  const post = async (body: unknown, headers: Record<string, string> = {}) => {
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Body };
  };
  return { ...server, post, lines, lifecycle };
}

interface Body {
  readonly data?: unknown;
  readonly errors?: readonly { readonly extensions?: object }[];
}

const SECRET = 'kiln_secret';
const SERVICE_KEYS = `shop=${createHash('sha256').update(SECRET).digest('hex')}`;

const repeated = (text: (index: number) => string, count: number): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ');

describe('a gateway of another graph', () => {
  it('serves what its subgraphs have, with the credentials that callers bring, and nothing of Kiln', async () => {
    const one = await start();
    asked.length = 0;
    const { body, headers } = await one.post({ query: '{ hello }' }, { authorization: 'Bearer theirs' });
    expect([body, asked[0]?.authorization]).toEqual([{ data: { hello: 'hi' } }, 'Bearer theirs']);
    expect([headers.get('x-ratelimit-limit'), headers.get('x-ratelimit-remaining')]).toEqual([
      '1200',
      '1199',
    ]);
    const get = async (at: string) => (await fetch(`${one.url}${at}`)).status;
    expect([
      await get('/console/'),
      await get('/api/task/health'),
      await get('/mcp'),
      await get('/files/x'),
    ]).toEqual([404, 404, 404, 404]);
    expect([await get('/explorer/'), await get('/schema.graphql')]).toEqual([200, 200]);
    expect(await (await fetch(`${one.url}/readyz`)).json()).toEqual({
      status: 'ready',
      checks: ['shop'],
      failing: [],
    });
    const said = one.lines.join('');
    for (const words of [
      'rates are counted per gateway: set DATABASE_URL or COUNTS_URL',
      '"service":"media"',
      '"service":"workflow"',
      `"url":"${one.url}","subgraphs":{"shop":["${address}"]},"msg":"the gateway serves"`,
    ])
      expect(said).toContain(words);
    await one.lifecycle.stop('it is over');
    await expect(fetch(one.url)).rejects.toThrow('fetch failed');
  });

  it('has the limits that its file says, else the usual ones', async () => {
    const limits = { depth: 2, aliases: 3, tokens: 40, rootFields: 2, cost: 5, batch: 2, bodyBytes: 1_000 };
    const [strict, usual] = [await start({}, { limits, introspection: false }), await start()];
    const bodies: Record<string, unknown> = {
      depth: { query: '{ a { a { hello } } }' },
      aliases: { query: `{ a { ${repeated((index) => `x${index}: hello`, 4)} } }` },
      tokens: { query: `{ a { ${repeated(() => 'hello', 40)} } }` },
      'root-fields': { query: '{ hello x: hello y: hello }' },
      cost: { query: `{ a { ${repeated(() => 'hello', 6)} } }` },
    };
    for (const [limit, body] of Object.entries(bodies)) {
      const { errors } = (await strict.post(body)).body;
      expect(errors?.[0]?.extensions).toMatchObject({ code: 'QUERY_REFUSED', limit });
      expect((await usual.post(body)).body).not.toHaveProperty('errors');
    }
    const three = Array.from({ length: 3 }, () => ({ query: '{ hello }' }));
    expect((await strict.post(three)).body.errors?.[0]?.extensions).toMatchObject({
      limit: 'batch',
      allowed: 2,
    });
    expect((await strict.post([{ query: '{ hello }' }, { query: '{ hello }' }])).status).toBe(200);
    expect((await usual.post([{ query: '{ hello }' }])).body.errors?.[0]?.extensions).toMatchObject({
      limit: 'batch',
    });
    const large = { query: '{ hello }', variables: { x: 'x'.repeat(1_000) } };
    expect([(await strict.post(large)).status, (await usual.post(large)).status]).toEqual([413, 200]);
    const readSchema = async ({ post }: typeof usual) =>
      (await post({ query: '{ __typename __schema { queryType { name } } }' })).status;
    expect([await readSchema(strict), await readSchema(usual)]).toEqual([400, 200]);
    expect((await fetch(`${strict.url}/explorer/`)).status).toBe(404);
  });

  it('asks for a credential where everybody needs one, and takes less of strangers where not all are welcome', async () => {
    const one = await start({
      REST_AUTH: 'required',
      SERVICE_KEYS,
      RATE_LIMIT: 'off',
      METRICS_KEY: 'the-key-of-the-metrics',
    });
    const { status, body, headers } = await one.post({ query: '{ hello }' });
    expect([status, headers.get('www-authenticate'), body.errors?.[0]?.extensions]).toEqual([
      401,
      'Bearer',
      { code: 'UNAUTHENTICATED' },
    ]);
    const known = await one.post({ query: '{ hello }' }, { authorization: `Bearer ${SECRET}` });
    expect([known.status, known.headers.get('x-ratelimit-limit')]).toEqual([200, null]);
    expect(one.lines.join('')).not.toContain('rates are counted');
    const metrics = (authorization: string) => fetch(`${one.url}/metrics`, { headers: { authorization } });
    expect([
      (await metrics('Bearer x')).status,
      (await metrics('Bearer the-key-of-the-metrics')).status,
    ]).toEqual([401, 200]);
    const [open, compat] = [
      await start(),
      await start({ REST_AUTH: 'compat', ANONYMOUS_DOCUMENT_POINTS: '3' }),
    ];
    const large = { query: '{ hello }', variables: { x: 'x'.repeat(64 * 1024) } };
    const long = { query: `{ hello ${' '.repeat(5_000)} }` };
    expect([(await open.post(large)).status, (await compat.post(large)).status]).toEqual([200, 413]);
    expect([(await open.post(long)).status, (await compat.post(long)).body.errors?.[0]?.extensions]).toEqual([
      200,
      { code: 'QUERY_REFUSED', limit: 'points', allowed: 3, found: 6 },
    ]);
  });

  it('counts costs and takes hashes where its file says so', async () => {
    const one = await start(
      {},
      { cost: { max: 1, inAnswers: true }, persistedOperations: { automatic: true } },
    );
    const { body } = await one.post({ query: '{ a { hello } }' });
    expect(body).toMatchObject({
      data: { a: { hello: 'there' } },
      extensions: { cost: { estimated: 1, actual: 1 } },
    });
    expect((await one.post({ query: '{ a { a { hello } } }' })).body.errors?.[0]?.extensions).toMatchObject({
      limit: 'cost',
      allowed: 1,
      found: 2,
    });
    const hash = { extensions: { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } } };
    expect((await one.post(hash)).body.errors?.[0]?.extensions).toMatchObject({
      code: 'PERSISTED_QUERY_NOT_FOUND',
    });
    const none = (await (await start()).post(hash)).body.errors?.[0]?.extensions;
    expect(none).not.toMatchObject({ code: 'PERSISTED_QUERY_NOT_FOUND' });
  });

  it('serves what its files say now when it is told to look', async () => {
    const one = await start();
    expect((await one.post({ query: '{ more }' })).status).toBe(400);
    write('shop.graphql', SDL.replace('hello: String', 'hello: String more: Int'));
    process.emit('SIGHUP');
    await expect.poll(() => one.lines.join('')).toContain('"subscriptions":{"kept":0,"ended":0}');
    expect((await one.post({ query: '{ __typename more: hello }' })).status).toBe(200);
    expect((await one.post({ query: 'query { more }' })).status).toBe(200);
    write('shop.graphql', SDL);
  });

  it('does not start where a setting names no subgraph, and counts elsewhere where there is a place for it', async () => {
    await expect(start({ SHARED_READS: 'none' })).rejects.toThrow('SHARED_READS names none');
    const one = await start({ COUNTS_URL: 'redis://127.0.0.1:1' });
    expect((await one.post({ query: '{ hello }' })).headers.get('x-ratelimit-limit')).toBe('1200');
    expect(one.lines.join('')).not.toContain('rates are counted per gateway');
  });
});

it('a gateway of Kiln’s own graph leads to its subgraphs, and refuses what they would', async () => {
  subgraphs = '';
  const url = 'http://127.0.0.1:1/graphql';
  const internal = { MEDIA_URL: url, WORKFLOW_URL: url, INTERNAL_KEY: 'k'.repeat(40) };
  const one = await start({ ...internal, REST_AUTH: 'compat', SERVICE_KEYS });
  const readCode = async (query: string, headers = {}) =>
    (await one.post({ query }, headers)).body.errors?.[0]?.extensions;
  expect(await readCode('{ models { name } }')).toMatchObject({ code: 'UNAVAILABLE' });
  expect(await readCode('{ budgets { __typename } }')).toEqual({ code: 'UNAUTHENTICATED' });
  const known = { authorization: `Bearer ${SECRET}` };
  expect(await readCode('{ budgets { __typename } }', known)).toMatchObject({ code: 'UNAVAILABLE' });
  const ready = await fetch(`${one.url}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([503, { failing: ['media', 'workflow'] }]);
  const get = async (at: string) => (await fetch(`${one.url}${at}`)).status;
  expect([await get('/files/x'), await get('/hooks/x'), await get('/api/none')]).toEqual([503, 503, 404]);
  expect([200, 503]).toContain(await get('/console/'));
  expect(await get('/api/task/health')).not.toBe(404);
  expect(() => one.replaceGraph({} as never)).toThrow('the graph of Kiln is replaced by no other');
});
