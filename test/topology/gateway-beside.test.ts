import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { type OtherGateway, startGatewayOf, yamlOf } from './gateway-of.ts';
import { createYoga } from './shop.ts';
import { type SplitKiln, startSplitKiln } from './split.ts';

/** Kiln's subgraphs and a stranger's behind one gateway: the example of docs/gateway.md. */

const NOTES = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key"])
type Template @key(fields: "code") { code: ID! note: String }
type Query { author: String }`;

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
  const example = yamlOf(
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
  gateway = await startGatewayOf({
    supergraph: example.replaceAll(/^ {3}/gm, ''),
    isComposed: true,
    files: { 'media.graphql': schema('media'), 'workflow.graphql': schema('workflow') },
    config: 'headers:\n  - insert: x-from\n    value: gateway\n',
    settings: { MEDIA_URL, WORKFLOW_URL, INTERNAL_KEY },
  });
});
afterAll(async () => {
  await gateway?.end();
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
