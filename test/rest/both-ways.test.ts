import { request as sendRequest } from 'node:http';
import { gzipSync } from 'node:zlib';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createRateLimiter } from '../../gateway/limits/rate-limit.ts';
import { requireContext } from '../../gateway/request/request-context.ts';
import type { Handler } from '../../gateway/server/middleware.ts';
import type { GatewayServerOptions } from '../../gateway/server/server-options.ts';
import {
  SHOP_SECRET,
  startTestGateway,
  type TestGateway,
} from '../../gateway/server/server-under-test.fixture.ts';
import { HOSTILE } from '../../gateway/transports/hostile-queries.fixture.ts';
import type { AppErrorCode } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createInMemoryMedia } from '../../rest-compat/fixtures/in-memory-media.ts';
import { createRestHandler, restRouter } from '../../rest-compat/router.ts';
import { documented, type Documented, type Field } from '../documented-operations/documents/operation.ts';
import { extent, isWhole } from '../kit/extent.ts';

/**
 * The server as it is, beside one that has Express and Apollo Server do everything: whatever is requested, both answer the same,
 * byte for byte.
 */

interface Pair {
  readonly short: TestGateway;
  readonly whole: TestGateway;
}

let pair: Pair;
let production: Pair;
let narrow: Pair;
beforeAll(async () => {
  pair = await startPair({
    rateLimiter: () => createRateLimiter({ read: 1e6, status: 1e6, start: 1e6, plan: 1e6 }),
  });
  production = await startPair({
    production: true,
    corsOrigins: ['https://app.example'],
    publicUrl: 'https://kiln.example/base',
  });
  narrow = await startPair({ rateLimiter: () => createRateLimiter({ read: 3, start: 1, status: 2 }) });
});
afterAll(async () => {
  for (const { short, whole } of [pair, production, narrow])
    await Promise.all([short.close(), whole.close()]);
});

type PairOptions = Omit<Partial<GatewayServerOptions>, 'rateLimiter'> & {
  readonly rateLimiter?: () => NonNullable<GatewayServerOptions['rateLimiter']>;
};

async function startPair({ rateLimiter, ...options }: PairOptions): Promise<Pair> {
  const start = (fastPath: boolean) => {
    const limiter = rateLimiter === undefined ? {} : { rateLimiter: rateLimiter() };
    const restHandler = createRestHandler({
      executor: createInMemoryMedia().executor,
      contextFor: requireContext,
      settings: {
        syncMaxWaitSeconds: 0.01,
        uploadMaxBytes: 1_000_000,
        publicUrl: 'http://kiln.test',
        version: '0.1.0',
        authMode: 'open',
      },
      logger: silentLogger(),
      ...limiter,
    });
    const rest = restRouter(restHandler) as Handler;
    return startTestGateway({ ...options, ...limiter, restHandler, rest, fastPath });
  };
  const [short, whole] = await Promise.all([start(true), start(false)]);
  return { short, whole };
}

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

interface Answer {
  readonly status: number | undefined;
  readonly headers: readonly string[];
  readonly body: string;
}

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

/** The answer with its headers sorted; what the clock says is left out. */
function ask({ url }: TestGateway, { method, path, headers = {}, body = '' }: SentRequest): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const length =
    body.length > 0 && headers['transfer-encoding'] === undefined
      ? { 'content-length': String(Buffer.byteLength(body)) }
      : {};
  const all = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, ...length, ...headers };
  const sent = sendRequest(`${url}${path}`, { method, headers: all }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('error', reject);
    response.once('end', () => {
      const told = Object.entries(response.headers).filter(([name]) => name !== 'date');
      resolve({
        status: response.statusCode,
        headers: told.map(([name, value]) => `${name}: ${steady(name, String(value))}`).toSorted(),
        body: Buffer.concat(chunks).toString('latin1').replaceAll(MADE, 'made'),
      });
    });
  });
  sent.once('error', reject);
  sent.end(body);
  return promise;
}

/** What each server makes anew. */
const MADE = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z/g;

function steady(name: string, value: string): string {
  // Where nobody is refused, the minutes of the two servers may begin apart; the narrow pair compares what is left.
  if (name === 'x-ratelimit-remaining' && Number(value) > 1_000) return 'many';
  return /^(?:x-ratelimit-reset|retry-after)$/.test(name) ? 'a time' : value.replaceAll(MADE, 'made');
}

/** What both answer to each in turn. */
async function collectAnswers({ short, whole }: Pair, asked: readonly SentRequest[]) {
  const moment = /"retryAfter":\d+|again in \d+ s/g;
  const found = { short: [] as Answer[], whole: [] as Answer[] };
  for (const one of asked) {
    const pairOfAnswers = await Promise.all([ask(short, one), ask(whole, one)]);
    const [brief, long] = pairOfAnswers.map((answer) => ({
      ...answer,
      body: answer.body.replaceAll(moment, ''),
    }));
    if (brief !== undefined) found.short.push(brief);
    if (long !== undefined) found.whole.push(long);
  }
  return found;
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Every code; the type makes the list complete. */
const CODES: Readonly<Record<AppErrorCode, true>> = {
  BAD_USER_INPUT: true,
  NOT_FOUND: true,
  UNAUTHENTICATED: true,
  FORBIDDEN: true,
  IDEMPOTENCY_CONFLICT: true,
  CONFLICT: true,
  PAYLOAD_TOO_LARGE: true,
  RATE_LIMITED: true,
  BUDGET_EXCEEDED: true,
  QUEUE_FULL: true,
  MODEL_RETIRED: true,
  NOT_INSTALLED: true,
  EVENTS_EXPIRED: true,
  TOO_LATE: true,
  NOT_CONFIGURED: true,
  UNAVAILABLE: true,
  QUERY_REFUSED: true,
  INTERNAL: true,
};

const HEADERS: readonly Readonly<Record<string, string>>[] = [
  JSON_TYPE,
  { 'content-type': 'application/json; charset=utf-8', accept: '*/*', origin: 'https://app.example' },
  {
    ...JSON_TYPE,
    accept: 'application/json',
    origin: 'https://other.example',
    'accept-encoding': 'gzip, br',
  },
  { ...JSON_TYPE, accept: 'application/graphql-response+json,application/json;q=0.9' },
  { ...JSON_TYPE, accept: 'application/json, text/plain, */*', authorization: `Bearer ${SHOP_SECRET}` },
  { ...JSON_TYPE, authorization: 'Bearer kiln_of-nobody' },
  { ...JSON_TYPE, authorization: 'Bearer', 'accept-encoding': 'identity' },
  { ...JSON_TYPE, accept: 'text/html' },
  { ...JSON_TYPE, accept: 'text/event-stream' },
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=latin1' },
];

const BODIES: readonly unknown[] = [
  { query: '{ hello whoami }' },
  { query: '{ __typename hello }', variables: null, operationName: null },
  { query: 'query a { hello } query b { version }', operationName: 'b', variables: {} },
  { query: 'query a { hello }', operationName: '' },
  { query: 'query ($n: Int!) { tasks(first: $n) { edges { node { id template } } } }', variables: { n: 60 } },
  { query: 'query ($n: Int!) { tasks(first: $n) { edges { node { id } } } }' },
  { query: 'query ($n: Int!) { tasks(first: $n) { edges { node { id } } } }', variables: { n: 'two' } },
  { query: '{ refuse fail hello }' },
  { query: 'mutation { start }', extensions: {} },
  { query: 'mutation { ignoreUpload(file: null) }' },
  { query: 'subscription { ticks(to: 3) }' },
  { query: '{ hello', variables: {} },
  { query: '{ nothing }' },
  { query: '{ __schema { queryType { name } } }' },
  { query: '{ hello }', variables: 'no object' },
  { query: '{ hello }', extensions: { persistedQuery: { version: 1, sha256Hash: 'abc' } } },
  { query: 5 },
  {},
  [],
  [{ query: '{ hello }' }],
  'a text',
  ...HOSTILE.map(([, query]) => ({ query })),
];

const TEXTS = ['{ not json', '\uFEFF{"query":"{ hello }"}', ' \n{"query":"{ hello }"}', '"a"', 'null', ''];

describe('GraphQL', () => {
  const bodies = [...BODIES.map((body) => JSON.stringify(body)), ...TEXTS];
  // With the headers that most send each body, with the others one of three in turn; in `npm run test:all` each.
  const withBodies = HEADERS.map((headers, number) => {
    const some = bodies.filter((_, index) => isWhole || number === 0 || index % 3 === number % 3);
    return [headers, some] as const;
  });
  it.each(withBodies)('answers alike on both ways with %o', async (headers, sent) => {
    const posts = (path: string) => sent.map((body) => ({ method: 'POST', path, headers, body }));
    const open = await collectAnswers(pair, posts('/graphql'));
    expect(open.short).toEqual(open.whole);
    const closed = await collectAnswers(production, posts('/base/graphql'));
    expect(closed.short).toEqual(closed.whole);
  });

  it('answers alike where another method or path is asked for', async () => {
    const body = '{"query":"{ hello }"}';
    const { short, whole } = await collectAnswers(pair, [
      ...['/graphql/', '/GraphQL', '/graphql?query={hello}'].map((path) => ({
        method: 'POST',
        path,
        headers: JSON_TYPE,
        body,
      })),
      { method: 'PUT', path: '/graphql', headers: JSON_TYPE, body },
      { method: 'OPTIONS', path: '/graphql' },
      { method: 'GET', path: '/graphql?query=%7Bhello%7D', headers: JSON_TYPE },
    ]);
    expect(short).toEqual(whole);
  });

  it('answers alike where a body is large, packed, in pieces or an upload', async () => {
    const large = `{ hello } #${'x'.repeat(70_000)}`;
    const json = JSON.stringify({ query: '{ hello whoami }' });
    const post = { method: 'POST', path: '/graphql' };
    const parts = [
      [
        'operations',
        '{"query":"mutation ($file: Upload!) { ignoreUpload(file: $file) }","variables":{"file":null}}',
      ],
      ['map', '{"0":["variables.file"]}'],
      ['0"; filename="a.txt', 'text'],
    ].map(([name, text]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`);
    const upload = {
      ...post,
      headers: { 'content-type': 'multipart/form-data; boundary=b', 'apollo-require-preflight': 'true' },
      body: `${parts.join('')}--b--\r\n`,
    };
    const asked: SentRequest[] = [
      { ...post, headers: JSON_TYPE, body: JSON.stringify({ query: large }) },
      {
        ...post,
        headers: { ...JSON_TYPE, 'accept-encoding': 'gzip' },
        body: JSON.stringify({ query: large }),
      },
      { ...post, headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync(json) },
      { ...post, headers: { ...JSON_TYPE, 'transfer-encoding': 'chunked' }, body: json },
      { ...post, headers: { 'content-type': 'application/graphql+json' }, body: json },
      { ...post, headers: { ...JSON_TYPE, accept: 'multipart/mixed;subscriptionSpec=1.0' }, body: json },
      upload,
      { ...upload, headers: { ...upload.headers, 'apollo-require-preflight': '' } },
      {
        ...upload,
        headers: { ...upload.headers, accept: 'application/graphql-response+json, application/json' },
      },
      ...['{hello}', 'mutation{start}', '{nothing}', 'subscription{ticks(to:1)}', ''].flatMap((query) =>
        [{}, { 'apollo-require-preflight': 'true' }].map((headers) => ({
          method: 'GET',
          path: `/graphql?query=${encodeURIComponent(query)}`,
          headers,
        })),
      ),
    ];
    const { short, whole } = await collectAnswers(pair, asked);
    expect(short).toEqual(whole);
    expect(short.slice(0, 8).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 406, 200, 400]);
  });

  it.each(Object.keys(CODES))('answers alike with the code %s, alone and beside data', async (code) => {
    const refusals = [`refuse(code: "${code}")`, `refuse(code: "${code}", retryAfter: 7)`];
    const queries = refusals.flatMap((refusal) => [
      `{ ${refusal} }`,
      `{ hello ${refusal} }`,
      `query ($n: Int! = 2) { ${refusal} fail tasks(first: $n) { edges { node { id } } } }`,
    ]);
    const asked = [JSON_TYPE, { ...JSON_TYPE, accept: 'application/graphql-response+json' }].flatMap(
      (headers) =>
        queries.map((query) => ({
          method: 'POST',
          path: '/graphql',
          headers,
          body: JSON.stringify({ query }),
        })),
    );
    const { short, whole } = await collectAnswers(pair, asked);
    expect(short).toEqual(whole);
    const waits = short.map(({ headers }) => headers.includes('retry-after: a time'));
    // What is away altogether is worth another try anyhow; of a fault of ours nothing is told.
    const [isUnavailable, isTold] = [code === 'UNAVAILABLE', code !== 'INTERNAL'];
    const each = [isUnavailable, false, false, isTold, isTold, isTold];
    expect(waits).toEqual([...each, ...each]);
  });

  it('refuses alike who asks too often', async () => {
    const queries = ['{ hello }', 'mutation { start }', 'mutation { start }', '{ hello }', '{ hello }'];
    const asked = queries.map((query) => ({
      method: 'POST',
      path: '/graphql',
      headers: JSON_TYPE,
      body: JSON.stringify({ query }),
    }));
    const { short, whole } = await collectAnswers(narrow, asked);
    expect(short).toEqual(whole);
    expect(short.map(({ status }) => status)).toEqual([200, 200, 429, 429, 429]);
  });
});

function makeSample({ name, type, enum: allowed = [], known = [] }: Field): unknown {
  const samples: Readonly<Record<string, unknown>> = { integer: 1, number: 1, boolean: true, object: {} };
  const named: Readonly<Record<string, unknown>> = { task_id: '0199aaaa-0000-7000-8000-000000000000' };
  return [...allowed, ...known][0] ?? named[name] ?? samples[type] ?? (type === 'json' ? '{}' : 'some words');
}

/** A request with a value for every input but files, or none at all. */
function requestTo({ method, path, params, body }: Documented, isFull: boolean): SentRequest {
  const query = new URLSearchParams();
  let target = path;
  for (const field of params) {
    const value = String(makeSample(field));
    if (field.in === 'path') target = target.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (isFull) query.append(field.name, value);
  }
  const asked = { method, path: query.size === 0 ? target : `${target}?${query.toString()}` };
  if (!isFull || body?.fields === undefined) return asked;
  const fields = body.fields
    .filter(({ type }) => type !== 'file')
    .map((field) => [field.name, makeSample(field)]);
  if (body.type === 'application/json')
    return { ...asked, headers: JSON_TYPE, body: JSON.stringify(Object.fromEntries(fields)) };
  const parts = fields.map(
    ([name, value]) =>
      `--b\r\nContent-Disposition: form-data; name="${String(name)}"\r\n\r\n${String(value)}\r\n`,
  );
  return {
    ...asked,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
    body: `${parts.join('')}--b--\r\n`,
  };
}

describe('the documented REST operations', () => {
  // Without a header each operation, with them one of three; in `npm run test:all` each.
  it.each([
    [{}, 1],
    [
      { origin: 'https://app.example', 'accept-encoding': 'gzip', authorization: `Bearer ${SHOP_SECRET}` },
      extent(3, 1),
    ],
    [{ 'idempotency-key': 'once', authorization: 'Bearer kiln_of-nobody' }, extent(3, 1)],
  ] as const)('answer alike on both ways with %o', async (more, every) => {
    const some = documented.filter((_, index) => index % every === 0);
    const asked = some.flatMap((operation) => {
      const full = requestTo(operation, true);
      return [full, requestTo(operation, false), { ...full, method: 'PATCH' }];
    });
    const { short, whole } = await collectAnswers(
      pair,
      asked.map((one) => ({ ...one, headers: { ...one.headers, ...more } })),
    );
    expect(short).toEqual(whole);
  });

  it('answer alike below a prefix, at unknown paths, and to those who ask too often', async () => {
    const paths = ['/base/api/task/status/x', '/base/api/nothing', '/api/nothing', '/base/api/', '/base/api'];
    const asked = paths.flatMap((path) => ['GET', 'HEAD', 'OPTIONS'].map((method) => ({ method, path })));
    const below = await collectAnswers(production, asked);
    expect(below.short).toEqual(below.whole);
    const status = { method: 'GET', path: '/api/task/status/x' };
    const { short, whole } = await collectAnswers(narrow, [status, status, status]);
    expect(short).toEqual(whole);
    expect(short.map((answer) => answer.status)).toEqual([200, 200, 429]);
  });
});
