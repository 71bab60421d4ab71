import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

import { settingsTable } from '../../platform/config/config.ts';
import { readGatewayFile } from './gateway-file.ts';

/** The tables of docs/gateway.md that say what other gateways' settings are here: each line as an example that is read. */

const root = path.join(import.meta.dirname, '../..');
const page = readFileSync(path.join(root, 'docs/gateway.md'), 'utf8');

/** What a line comes to: a part of the file, or settings of the process; and the test that runs it. */
interface Example {
  readonly here: string;
  readonly runBy: string;
}

/** Any that is there. */
const FILE = import.meta.filename;
const HEADERS = `headers: [{ propagate: x-tenant, as: x-org }, { insert: x-team, value: orders }, { remove: authorization }]`;
const JWT = `authentication: { issuers: [{ issuer: https://id.example, jwks: https://id.example/keys.json, audiences: [shop] }] }
headers: [{ claim: sub, as: x-user }]`;

const EXAMPLES: Readonly<Record<string, Readonly<Record<string, Example>>>> = {
  "From Apollo Router's YAML": {
    'supergraph.listen': { here: 'PORT HOST', runBy: 'gateway-of' },
    'override_subgraph_url.NAME': {
      here: 'subgraphs: { shop: { url: http://shop:4001/ } }',
      runBy: 'gateway-file',
    },
    'headers.all.request': { here: HEADERS, runBy: 'gateway-file' },
    'headers.subgraphs.NAME.request': { here: `subgraphs: { shop: { ${HEADERS} } }`, runBy: 'gateway-file' },
    '${env.NAME}': { here: 'headers: [{ insert: x-key, value: "${NAME}" }]', runBy: 'gateway-file' },
    'include_subgraph_errors.all: true': {
      here: 'errors: whole\nsubgraphs: { shop: { errors: whole } }',
      runBy: 'gateway-file',
    },
    'traffic_shaping.subgraphs.NAME.timeout: 2s': {
      here: 'subgraphs: { shop: { timeoutMs: 2000 } }',
      runBy: 'gateway-file',
    },
    'traffic_shaping.all.deduplicate_query': {
      here: 'subgraphs: { shop: { sharesReads: true } }',
      runBy: 'gateway-subgraphs',
    },
    'subscription.mode.passthrough.subgraphs.NAME': {
      here: 'subgraphs: { shop: { websocketUrl: ws://shop:4001/, subscriptions: { protocol: graphql-ws } } }',
      runBy: 'gateway-subgraphs',
    },
    'authentication.router.jwt.jwks[].url': { here: JWT, runBy: 'gateway-rights' },
    'limits.max_depth': {
      here: 'limits: { depth: 12, aliases: 20, rootFields: 10, tokens: 3000, bodyBytes: 500000 }',
      runBy: 'gateway-file',
    },
    'demand_control.strategy.static_estimated: { max, list_size }': {
      here: 'cost: { max: 25, listSize: 3, mode: enforce }',
      runBy: 'gateway-cost',
    },
    'persisted_queries.local_manifests': {
      here: 'persistedOperations: { manifest: operations.json, mode: only }',
      runBy: 'gateway-persisted',
    },
    'apq.enabled': { here: 'persistedOperations: { automatic: true }', runBy: 'gateway-persisted' },
    'batching: { enabled, maximum_size }': { here: 'limits: { batch: 5 }', runBy: 'gateway-cost' },
    'tls.subgraph.all.certificate_authorities': {
      here: `subgraphs: { shop: { tls: { ca: ${FILE}, certificate: ${FILE}, key: ${FILE} } } }`,
      runBy: 'gateway-tls',
    },
    sandbox: { here: 'introspection: true', runBy: 'gateway-file' },
    'telemetry.exporters': { here: 'METRICS_PORT OTEL_EXPORTER_OTLP_ENDPOINT', runBy: 'gateway-file' },
  },
  "From Hive Gateway's config": {
    "supergraph: './supergraph.graphql'": { here: '', runBy: 'gateway-of' },
    'transportEntries.NAME.location': {
      here: 'subgraphs: { shop: { url: http://shop:4001/ } }',
      runBy: 'gateway-file',
    },
    'transportEntries.NAME.options.subscriptions': {
      here: 'subgraphs: { shop: { websocketUrl: ws://shop:4001/, subscriptions: { protocol: sse } } }',
      runBy: 'gateway-subgraphs',
    },
    'propagateHeaders.fromClientToSubgraphs': { here: HEADERS, runBy: 'gateway-file' },
    'propagateHeaders.fromSubgraphsToClient': {
      here: 'responseHeaders: [{ propagate: cache-control }]',
      runBy: 'gateway-subgraphs',
    },
    'jwt: { signingKeyProviders, tokenVerification, forward }': { here: JWT, runBy: 'gateway-rights' },
    'maskedErrors: false': { here: 'errors: whole', runBy: 'gateway-file' },
    persistedDocuments: {
      here: 'persistedOperations: { manifest: operations.json }',
      runBy: 'gateway-persisted',
    },
    upstreamTimeout: { here: 'subgraphs: { shop: { timeoutMs: 2000, retries: 2 } }', runBy: 'gateway-file' },
    maxTokens: { here: 'limits: { tokens: 3000, depth: 12 }', runBy: 'gateway-file' },
    demandControl: { here: 'cost: { max: 25 }', runBy: 'gateway-cost' },
    'batching: { limit }': { here: 'limits: { batch: 5 }', runBy: 'gateway-cost' },
    pollingInterval: { here: '', runBy: 'gateway-reload' },
  },
};

/** The lines of a table: the first setting of another gateway, and all words in code on our side. */
function linesOf(title: string): readonly (readonly [string, readonly string[]])[] {
  const table = page.split(`### ${title}`)[1]?.split('\n#')[0] ?? '';
  const rows = [...table.matchAll(/^\| (`.*?) \| (.*) \|$/gm)].filter(([, there]) => there !== undefined);
  return rows.map(([, there = '', here = '']) => [codeIn(there)[0] ?? '', codeIn(here)]);
}

const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

/** The names of members anywhere in a value. */
function membersOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...membersOf(member)]);
}

/** Names of settings in a word of the table: `subgraphs.NAME.tls: { ca, key }` has subgraphs, tls, ca and key. */
const namesIn = (code: string): readonly string[] =>
  [...code.replace(/: (?:whole|true|\d+)$/, '').matchAll(/[a-z][A-Za-z]+/g)].map(([name]) => name);

describe.each(Object.keys(EXAMPLES))('%s', (title) => {
  const examples = EXAMPLES[title] ?? {};
  const lines = linesOf(title);

  it('has an example for each line, and none besides', () => {
    expect(lines.map(([there]) => there)).toEqual(Object.keys(examples));
  });

  const isOfProcess = (there: string): boolean => /^[A-Z_]+(?: [A-Z_]+)*$/.test(examples[there]?.here ?? '');
  const ofFile = lines.filter(([there]) => !isOfProcess(there));

  it('names settings of the process that there are, and tests', () => {
    const known = settingsTable().map(({ name }) => name);
    const settings = Object.values(examples).filter(({ here }) => /^[A-Z_ ]+$/.test(here));
    expect(known).toEqual(expect.arrayContaining(settings.flatMap(({ here }) => here.split(' '))));
    const tests = Object.values(examples).map(({ runBy }) => path.join(root, 'test/topology', `${runBy}.ts`));
    expect(tests.filter((file) => !existsSync(file) && !existsSync(file.replace(/ts$/, 'test.ts')))).toEqual(
      [],
    );
  });

  it.each(ofFile)('%s', (there, codes) => {
    const { here: text = '' } = examples[there] ?? {};
    expect(() =>
      readGatewayFile({ path: '/etc/gateway.yaml', text, variables: { NAME: 'fox' } }, ['shop']),
    ).not.toThrow();
    const named = codes.filter((code) => !code.startsWith('-') && !code.startsWith('$')).flatMap(namesIn);
    expect(membersOf(parse(text))).toEqual(expect.arrayContaining(named));
  });
});
