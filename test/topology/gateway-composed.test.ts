import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql } from '../kit/clients/requests.ts';
import { type OtherGateway, startOtherGateway, writeYaml } from './other-gateway.ts';
import { openShop, type Shop } from './shop.ts';

/** A gateway that composes its supergraph at the start: the example of docs/gateway.md. */

let shop: Shop;
let gateway: OtherGateway;
let subgraphs: string;
const PRODUCTS = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.5", import: ["@key"])
type Review @key(fields: "id", resolvable: false) { id: ID! }
type Query { product: Review }`;
beforeAll(async () => {
  shop = await openShop();
  subgraphs = writeYaml(
    'subgraphs:',
    {
      'http://127.0.0.1:4202/graphql': shop.reviews.url,
      // It says another schema than the file.
      'http://127.0.0.1:4201/graphql': shop.accounts.url,
    },
    'schema: products.graphql',
  );
  gateway = await startOtherGateway({
    supergraph: subgraphs,
    isComposed: true,
    files: { 'products.graphql': PRODUCTS },
    config: 'authentication: { issuers: [{ issuer: x, jwks: "http://127.0.0.1:9/keys" }] }\n',
  });
});
afterAll(async () => {
  await gateway?.end();
  await shop?.close();
});

async function rootFields(): Promise<readonly string[]> {
  const { data } = await graphql(gateway.url, '{ __type(name: "Query") { fields { name } } }');
  return data.__type.fields.map(({ name }: { readonly name: string }) => name);
}

it('asks a subgraph for its schema, and reads that of another from a file', async () => {
  expect(await graphql(gateway.url, '{ reviews { id } }')).toMatchObject({ data: { reviews: [{}, {}] } });
  expect(await rootFields()).toEqual(expect.arrayContaining(['product', 'reviews']));
});

it('composes again when a schema changes, and keeps what it has when they do not compose', async () => {
  const file = path.join(gateway.folder, 'products.graphql');
  await writeFile(file, PRODUCTS.replace('product:', 'goods:'));
  await expect.poll(rootFields).toContain('goods');
  await writeFile(file, PRODUCTS.replace('id: ID!', 'id: Int!'));
  await expect.poll(() => gateway.output()).toContain('they do not compose');
  expect(await rootFields()).toContain('goods');
});

it('does not start with mistakes in the file', async () => {
  const started = startOtherGateway({ supergraph: 'subgraphs:\n  shop: { url: shop }\n', isComposed: true });
  await expect(started).rejects.toThrow('subgraphs.yaml, line 2: subgraphs.shop.url must begin with http://');
});
