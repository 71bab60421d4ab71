import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { signedIn } from '../kit/clients/sign-in.ts';
import { type OtherGateway, startOtherGateway, writeYaml } from './other-gateway.ts';
import { type PlainSubgraph, servePlainly } from './plain-subgraph.ts';
import { createYoga } from './shop.ts';
import { type SplitKiln, startSplitKiln } from './split.ts';

/** Kiln's subgraphs and a stranger's behind one gateway: the example of docs/gateway.md. */

const NOTES = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key"])
type Template @key(fields: "code") { code: ID! note: String }
type Query { author: String }`;

const TAGS = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key"])
type Template @key(fields: "code") { code: ID! tag: String }
type Query { none: Int }`;

let tags: PlainSubgraph;
let kiln: SplitKiln;
let gateway: OtherGateway;
const seen: unknown[] = [];
const notes = createServer(
  createYoga({
    logging: false,
    schema: buildSubgraphSchema({
      typeDefs: parse(NOTES),
      resolvers: {
        Template: {
          __resolveReference: (reference: object) => reference,
          note: ({ code }: { readonly code: string }) => `note on ${code}`,
        },
        Query: { author: () => 'Ada' },
      },
    }),
    plugins: [],
  }),
);
beforeAll(async () => {
  kiln = await startSplitKiln();
  notes.on('request', ({ headers }) => void seen.push(headers));
  await new Promise<void>((resolve) => notes.listen(0, '127.0.0.1', resolve));
  const { MEDIA_URL = '', WORKFLOW_URL = '', INTERNAL_KEY = '' } = kiln.settings;
  const schema = (name: string) =>
    readFileSync(path.join(import.meta.dirname, `../../schema/${name}.graphql`), 'utf8');
  const example = writeYaml(
    '   subgraphs:',
    {
      'http://127.0.0.1:4001/graphql': MEDIA_URL,
      'http://127.0.0.1:4002/graphql': WORKFLOW_URL,
      'http://127.0.0.1:4203/graphql': `http://127.0.0.1:${(notes.address() as AddressInfo).port}/graphql`,
      'schema/media.graphql': 'media.graphql',
      'schema/workflow.graphql': 'workflow.graphql',
    },
    'schema/media.graphql',
  );
  tags = await servePlainly({
    name: 'media',
    schema: buildSubgraphSchema({
      typeDefs: parse(TAGS),
      resolvers: {
        Template: {
          __resolveReference: (reference: object) => reference,
          tag: ({ code }: { readonly code: string }) => `tag of ${code}`,
        },
      },
    }),
    contextFor: (context) => context,
  });
  gateway = await startOtherGateway({
    supergraph: `${example.replaceAll(/^ {3}/gm, '')}  tags:\n    url: ${tags.url}\n`,
    isComposed: true,
    files: { 'media.graphql': schema('media'), 'workflow.graphql': schema('workflow') },
    config: 'headers:\n  - insert: x-from\n    value: gateway\n  - remove: authorization\n',
    settings: { MEDIA_URL, WORKFLOW_URL, INTERNAL_KEY },
  });
});
afterAll(async () => {
  await gateway?.end();
  await tags?.close();
  notes.closeAllConnections();
  notes.close();
  await kiln?.close();
});

it('joins a field of a stranger to an entity of Kiln, which is told nothing of its caller', async () => {
  const { data, errors } = await graphql(
    gateway.url,
    '{ author templates(activeOnly: false) { code note } }',
  );
  expect(errors).toBeUndefined();
  expect(data.author).toBe('Ada');
  expect(data.templates.length).toBeGreaterThan(0);
  for (const { code, note } of data.templates) expect(note).toBe(`note on ${code}`);
  expect(seen.at(-1)).toMatchObject({ 'x-from': 'gateway' });
  expect(seen.at(-1)).not.toHaveProperty('x-kiln-caller');
});

it('knows who has signed in at Kiln in both of its subgraphs, and keeps the token from others', async () => {
  const { access_token: token, user } = await signedIn(kiln.url);
  const authorization = `Bearer ${token}`;
  const query = '{ viewer { id } sessions { current } tasks(first: 1) { edges { node { id } } } author }';
  const ask = (headers: Record<string, string>) => graphql(gateway.url, query, {}, headers);
  const mine = await ask({ authorization });
  expect(mine.errors).toBeUndefined();
  expect(mine.data).toMatchObject({ viewer: { id: user.id }, tasks: { edges: [] }, author: 'Ada' });
  expect(mine.data.sessions.length).toBeGreaterThan(0);
  expect(seen.at(-1)).not.toHaveProperty('authorization');
  const anonymous = await ask({});
  expect(anonymous.data).toMatchObject({ viewer: null, author: 'Ada' });
});

it('joins what an Apollo Server gives to the same entity', async () => {
  const { data } = await graphql(gateway.url, '{ templates(activeOnly: false) { code tag note } }');
  for (const { code, tag, note } of data.templates)
    expect({ tag, note }).toEqual({ tag: `tag of ${code}`, note: `note on ${code}` });
});
