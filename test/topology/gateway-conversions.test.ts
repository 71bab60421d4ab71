import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { parse } from 'yaml';

import { settingsTable } from '../../platform/config/config.ts';
import { type GraphqlAnswer, graphql } from '../kit/clients/requests.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { type Collector, startCollector } from '../observability/collector.ts';
import { type OtherGateway, startOtherGateway } from './other-gateway.ts';
import { openIssuer, openShop, type Shop, type TokenIssuer } from './shop.ts';

/**
 * The tables of docs/gateway.md that say what other gateways' settings are here: a gateway is started with what all lines come to, and each
 * line is seen at work. What only one mode of a setting shows is seen at a second gateway.
 */

const page = readFileSync(path.join(import.meta.dirname, '../../docs/gateway.md'), 'utf8');

/** What a line comes to, and what shows that it has an effect. */
interface Line {
  /** A part of the configuration, or settings of the process. */
  readonly here: string;
  readonly shows: () => Promise<void>;
  /** Whether it is the second gateway's. */
  readonly isOfSecond?: boolean;
}

let shop: Shop;
let issuer: TokenIssuer;
let collector: Collector;
let metricsUrl: string;
let gateway: OtherGateway;
let second: OtherGateway;
let late: Promise<GraphqlAnswer>;

const ask = (query: string, headers: Readonly<Record<string, string>> = {}) =>
  graphql(gateway.url, query, {}, headers);
const refusedBy = async (query: string) => (await ask(query)).errors?.[0]?.extensions['limit'];
const send = (url: string, body: unknown) =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** What both subgraphs get for a query of both. */
async function sentFor(headers: Readonly<Record<string, string>>) {
  const { data } = await ask('{ users { id } reviews { id } }', headers);
  expect(data).toMatchObject({ users: [{}, {}], reviews: [{}, {}] });
  return { accounts: shop.accounts.seen.at(-1) ?? {}, reviews: shop.reviews.seen.at(-1) ?? {} };
}

/** The headers by which the gateway subscribes for a subscription. */
async function subscribedWith(field: string, seen: readonly Readonly<Record<string, unknown>>[]) {
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const events = client.iterate({ query: `subscription { ${field} { id } }` });
  const first = events.next();
  await expect.poll(() => shop.listeners()).toBe(1);
  shop.emit('u1');
  expect((await first).value).toMatchObject({ data: { [field]: { id: 'u1' } } });
  const used = seen.at(-1);
  await client.dispose();
  await expect.poll(() => shop.listeners()).toBe(0);
  return used;
}

const showsHeaders = async () => {
  const sent = await sentFor({ 'x-tenant': 'acme', authorization: `Bearer ${await issuer.token()}` });
  for (const one of [sent.accounts, sent.reviews]) {
    expect(one).toMatchObject({ 'x-org': 'acme', 'x-team': 'orders' });
    expect(one).not.toHaveProperty('authorization');
  }
};
const showsAddress = async () =>
  // The supergraph has another one, where nobody is.
  expect((await ask('{ users { id } }')).data).toEqual({ users: [{ id: 'u1' }, { id: 'u2' }] });
const showsWhole = async () =>
  expect((await ask('{ broken }')).errors).toMatchObject([
    { message: 'the shelf fell over', extensions: {} },
  ]);
const showsTimeout = async () =>
  expect((await late).errors?.[0]).toMatchObject({ extensions: { code: 'UNAVAILABLE' } });
const showsRetries = async () => {
  // One more than is sent again over another connection anyway.
  shop.drop(2);
  expect((await ask('{ best { id } }')).data).toEqual({ best: { id: 'r1' } });
};
const showsRights = async () => {
  const sent = await sentFor({ authorization: `Bearer ${await issuer.token()}` });
  expect(sent.accounts).toMatchObject({ 'x-user': 'ada' });
  const other = { authorization: `Bearer ${await issuer.token({ aud: 'bank' })}` };
  expect((await ask('{ best { id } }', other)).errors?.[0]?.extensions['code']).toBe('UNAUTHENTICATED');
};
const showsLimits = async () => {
  const nested = (depth: number): string =>
    depth === 0 ? 'id' : `author { reviews { ${nested(depth - 1)} } }`;
  const aliased = (count: number, of: string) =>
    Array.from({ length: count }, (_, index) => `a${index}: ${of}`).join(' ');
  expect(await refusedBy(`{ reviews { ${nested(6)} } }`)).toBe('depth');
  expect(await refusedBy(`{ best { ${aliased(21, 'id')} } }`)).toBe('aliases');
  expect(await refusedBy(`{ ${aliased(11, 'best { id }')} }`)).toBe('root-fields');
  expect(await refusedBy(`{ best { ${'id '.repeat(3_000)} } }`)).toBe('tokens');
  expect((await send(gateway.url, { query: `{ ${' '.repeat(500_000)} best { id } }` })).status).toBe(413);
};
const showsCost = async () => {
  expect(await refusedBy('{ search(first: 26) { id } }')).toBe('cost');
  const counted = { extensions: { cost: { estimated: 6, actual: 4 } } };
  expect(await ask('{ reviews { id author { name } } }')).toMatchObject(counted);
};
const showsBatch = async () => {
  const list = (length: number) => Array.from({ length }, () => ({ query: '{ best { id } }' }));
  expect(await (await send(gateway.url, list(5))).json()).toHaveLength(5);
  const refused = { errors: [{ extensions: { limit: 'batch', allowed: 5 } }] };
  expect(await (await send(gateway.url, list(6))).json()).toMatchObject(refused);
};
const showsManifest = async () => {
  const byId = { extensions: { persistedQuery: { version: 1, sha256Hash: 'best-1' } } };
  for (const { url } of [gateway, second])
    expect(await (await send(url, byId)).json()).toMatchObject({ data: { best: { id: 'r1' } } });
};
const showsOnly = async () => {
  await showsManifest();
  const { errors } = await graphql(second.url, '{ reviews { id } }');
  expect(errors?.[0]?.extensions['code']).toBe('PERSISTED_QUERY_NOT_IN_LIST');
};
const showsAutomatic = async () => {
  const query = '{ best { text } }';
  const sha256Hash = createHash('sha256').update(query).digest('hex');
  const extensions = { persistedQuery: { version: 1, sha256Hash } };
  for (const body of [{ query, extensions }, { extensions }])
    expect(await (await send(gateway.url, body)).json()).toMatchObject({
      data: { best: { text: 'text of r1' } },
    });
};
const HEADERS =
  'headers: [{ propagate: x-tenant, as: x-org }, { insert: x-team, value: orders }, { remove: authorization }]';
const JWT = `authentication: { issuers: [{ issuer: ISSUER, jwks: ISSUER/keys.json, audiences: [shop] }] }
headers: [{ claim: sub, as: x-user }]`;
const ADDRESS: Line = { here: 'subgraphs: { accounts: { url: ACCOUNTS } }', shows: showsAddress };
const SOCKETS: Line = {
  here: 'subgraphs: { accounts: { websocketUrl: SOCKETS, subscriptions: { protocol: graphql-ws } } }',
  async shows() {
    const upgrade = await subscribedWith('userChanged', shop.accounts.seen);
    expect(upgrade).toMatchObject({ host: expect.stringMatching(/^localhost:/), upgrade: 'websocket' });
  },
};
const MANIFEST = 'persistedOperations: { manifest: operations.json }';

const LINES: Readonly<Record<string, Readonly<Record<string, Line | string>>>> = {
  "From Hive Gateway's config": {
    "supergraph: './supergraph.graphql'": { here: '', shows: showsAddress },
    'transportEntries.NAME.location': ADDRESS,
    'transportEntries.NAME.options.subscriptions': {
      here: 'subgraphs: { accounts: { websocketUrl: SOCKETS }, reviews: { subscriptions: { protocol: sse } } }',
      async shows() {
        await SOCKETS.shows();
        const request = await subscribedWith('reviewAdded', shop.reviews.seen);
        expect(request?.['accept']).toContain('text/event-stream');
      },
    },
    'propagateHeaders.fromClientToSubgraphs': { here: HEADERS, shows: showsHeaders },
    'propagateHeaders.fromSubgraphsToClient': {
      here: 'responseHeaders: [{ propagate: cache-control }]',
      async shows() {
        const { headers } = await send(gateway.url, { query: '{ best { id } }' });
        expect(headers.get('cache-control')).toBe('max-age=60');
      },
    },
    'jwt: { signingKeyProviders, tokenVerification, forward }': { here: JWT, shows: showsRights },
    'maskedErrors: false': { here: 'errors: whole', shows: showsWhole },
    persistedDocuments: { here: MANIFEST, shows: showsManifest },
    upstreamTimeout: {
      here: 'subgraphs: { accounts: { timeoutMs: 2000 }, reviews: { retries: 2 } }',
      async shows() {
        await showsTimeout();
        await showsRetries();
      },
    },
    maxTokens: { here: 'limits: { tokens: 3000, depth: 12 }', shows: showsLimits },
    demandControl: { here: 'cost: { max: 25 }', shows: showsCost },
    'batching: { limit }': { here: 'limits: { batch: 5 }', shows: showsBatch },
    // gateway-reload.test.ts, which changes them.
    pollingInterval: '',
  },
  "From Apollo Router's YAML": {
    'supergraph.listen': {
      here: 'PORT HOST',
      shows: async () => expect(gateway.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/),
    },
    'override_subgraph_url.NAME': ADDRESS,
    'headers.all.request': { here: HEADERS, shows: showsHeaders },
    'headers.subgraphs.NAME.request': {
      here: 'subgraphs: { reviews: { headers: [{ insert: x-only, value: reviews }] } }',
      async shows() {
        const sent = await sentFor({});
        expect([sent.reviews['x-only'], sent.accounts['x-only']]).toEqual(['reviews', undefined]);
      },
    },
    '${env.NAME}': {
      here: 'headers: [{ insert: x-key, value: "${HOME}" }]',
      shows: async () => expect((await sentFor({})).reviews['x-key']).toBe(process.env['HOME']),
    },
    'include_subgraph_errors.all: true': {
      here: 'errors: masked\nsubgraphs: { reviews: { errors: whole } }',
      isOfSecond: true,
      async shows() {
        await showsWhole();
        expect((await graphql(second.url, '{ broken }')).errors).toMatchObject([
          { message: 'the shelf fell over' },
        ]);
      },
    },
    'traffic_shaping.subgraphs.NAME.timeout: 2s': {
      here: 'subgraphs: { accounts: { timeoutMs: 2000 } }',
      shows: showsTimeout,
    },
    'traffic_shaping.all.deduplicate_query': {
      here: 'subgraphs: { reviews: { sharesReads: true } }',
      async shows() {
        const before = shop.reviews.seen.length;
        const same = { query: '{ search(first: 3) { id } }' };
        expect(await (await send(gateway.url, [same, same, same])).json()).toHaveLength(3);
        expect(shop.reviews.seen.length - before).toBe(1);
      },
    },
    'subscription.mode.passthrough.subgraphs.NAME': SOCKETS,
    'authentication.router.jwt.jwks[].url': { here: JWT, shows: showsRights },
    'limits.max_depth': {
      here: 'limits: { depth: 12, aliases: 20, rootFields: 10, tokens: 3000, bodyBytes: 500000 }',
      shows: showsLimits,
    },
    'demand_control.strategy.static_estimated: { max, list_size }': {
      here: 'cost: { max: 25, listSize: 3, mode: enforce, inAnswers: true }',
      shows: showsCost,
    },
    'persisted_queries.local_manifests': {
      here: 'persistedOperations: { manifest: operations.json, mode: only }',
      isOfSecond: true,
      shows: showsOnly,
    },
    'apq.enabled': { here: 'persistedOperations: { automatic: true }', shows: showsAutomatic },
    'batching: { enabled, maximum_size }': { here: 'limits: { batch: 5 }', shows: showsBatch },
    // gateway-tls.test.ts, which has certificates.
    'tls.subgraph.all.certificate_authorities':
      'subgraphs: { x: { tls: { ca: a, certificate: b, key: c } } }',
    sandbox: {
      here: 'introspection: false',
      shows: async () =>
        expect((await ask('{ __schema { queryType { name } } }')).errors?.[0]?.message).toContain(
          'introspection',
        ),
    },
    'telemetry.exporters': {
      here: 'METRICS_PORT OTEL_EXPORTER_OTLP_ENDPOINT',
      async shows() {
        expect((await sentFor({})).reviews['traceparent']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
        const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
        expect(metrics).toMatch(/kiln_subgraph_request_seconds_count\{[^}]*subgraph="reviews"/);
        await gateway.end();
        expect(collector.spans.map(({ name }) => name)).toContain('fetch reviews');
      },
    },
  },
};

const ALL = Object.values(LINES).flatMap((table) =>
  Object.values(table).filter((line) => typeof line !== 'string'),
);
const isOfProcess = (here: string): boolean => /^[A-Z_ ]+$/.test(here);

/** One configuration of all parts that are for this gateway. */
function writeConfig(isOfSecond: boolean): string {
  const parts = ALL.filter((line) => (line.isOfSecond ?? false) === isOfSecond && !isOfProcess(line.here));
  return JSON.stringify(parts.map(({ here }) => parse(here) as unknown).reduce(merged, {}))
    .replaceAll('ACCOUNTS', shop.accounts.url)
    .replaceAll('SOCKETS', shop.accounts.url.replace('http://127.0.0.1', 'ws://localhost'))
    .replaceAll('ISSUER', issuer.issuer);
}

/** Objects member by member, lists one after the other without what is there already. */
function merged(one: unknown, other: unknown): unknown {
  if (Array.isArray(one) && Array.isArray(other)) {
    const texts = [...one, ...other].map((element) => JSON.stringify(element));
    return [...new Set(texts)].map((text) => JSON.parse(text) as unknown);
  }
  if (typeof one !== 'object' || typeof other !== 'object') return other ?? one;
  const both = { ...one } as Record<string, unknown>;
  for (const [name, value] of Object.entries(other ?? {}))
    both[name] = name in both ? merged(both[name], value) : value;
  return both;
}

beforeAll(async () => {
  [shop, issuer, collector] = await Promise.all([openShop(), openIssuer(), startCollector()]);
  const [metricsPort] = await freePorts(1);
  metricsUrl = `http://127.0.0.1:${metricsPort}`;
  const supergraph = shop.supergraph(true);
  const operations = [{ id: 'best-1', name: 'Best', type: 'query', body: 'query Best { best { id } }' }];
  const whole = { id: 'broken-1', name: 'Broken', type: 'query', body: '{ broken }' };
  const manifest = (all: readonly object[]) => ({
    'operations.json': JSON.stringify({
      format: 'apollo-persisted-query-manifest',
      version: 1,
      operations: all,
    }),
  });
  gateway = await startOtherGateway({
    // Accounts are where the configuration says.
    supergraph: supergraph.replaceAll(shop.accounts.url, 'http://127.0.0.1:9/graphql'),
    config: writeConfig(false),
    files: manifest(operations),
    settings: {
      HOST: '127.0.0.1',
      METRICS_PORT: String(metricsPort),
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
  });
  // Answered while the rest is tried.
  late = ask('{ late }');
  second = await startOtherGateway({
    supergraph,
    config: writeConfig(true),
    files: manifest([...operations, whole]),
  });
});
afterAll(async () => {
  await Promise.all([gateway?.end(), second?.end()]);
  await Promise.all([shop?.close(), issuer?.close(), collector?.close()]);
});

/** The lines of a table: the first setting of another gateway, and all words in code on our side. */
function readLines(title: string): readonly (readonly [string, readonly string[]])[] {
  const table = page.split(`### ${title}`)[1]?.split('\n#')[0] ?? '';
  const rows = [...table.matchAll(/^\| (`.*?) \| (.*) \|$/gm)];
  return rows.map(([, there = '', here = '']) => [codeIn(there)[0] ?? '', codeIn(here)]);
}

const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The names of members anywhere in a value. */
function listMembers(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...listMembers(member)]);
}

/** Names of settings in a word of the table: `subgraphs.NAME.tls: { ca, key }` has subgraphs, tls, ca and key. */
const namesIn = (code: string): readonly string[] =>
  [...code.replace(/: (?:whole|true|\d+)$/, '').matchAll(/[a-z][A-Za-z]+/g)].map(([name]) => name);

describe.each(Object.keys(LINES))('%s', (title) => {
  const table = LINES[title] ?? {};
  const lines = readLines(title);

  it('has an example for each line, and none besides', () => {
    expect(lines.map(([there]) => there)).toEqual(Object.keys(table));
  });

  it.each(lines)('%s', async (there, codes) => {
    const line = table[there] ?? '';
    const here = typeof line === 'string' ? line : line.here;
    const words = isOfProcess(here) ? here.split(' ') : listMembers(parse(here));
    const named = codes.filter((code) => !code.startsWith('-') && !code.startsWith('$')).flatMap(namesIn);
    expect(words).toEqual(expect.arrayContaining(named));
    const settings = isOfProcess(here) ? words : [];
    expect(settings.filter((name) => !settingsTable().some((known) => known.name === name))).toEqual([]);
    if (typeof line !== 'string') await line.shows();
  });
});
