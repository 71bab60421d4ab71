import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { answerText, unreadAnswer } from '../../platform/graphql/operations/answers.ts';
import { codedError } from '../../platform/graphql/operations/errors.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { startTestGateway, type TestGateway } from '../server/server-under-test.fixture.ts';
import { createFederation } from './federation.ts';

/** Answers of a subgraph of our own, over a channel: as bytes where nothing is left to do. */

const SDL = `type Query { product: Product! shelf: Shelf! } type Product { name: String! weight: Float! note: String! }
  type Shelf { label: String! }`;
const { supergraphSdl = '' } = composeServices([
  { name: 'shop', url: 'http://shop/', typeDefs: parse(SDL) },
  { name: 'rest', url: 'http://rest/', typeDefs: parse('type Query { other: Int }') },
]);

let gateway: TestGateway;
let answer = '';

beforeAll(async () => {
  const link: SubgraphLink = {
    execute: async () => unreadAnswer(Buffer.from(answer)) ?? { errors: [codedError('UNAVAILABLE', 'read')] },
    subscribe: () => Promise.reject(new Error('not here')),
    check: async () => [],
    close: async () => undefined,
  };
  const other: SubgraphLink = { ...link, execute: async () => ({ data: { other: 1 } }) };
  const federation = await createFederation({
    supergraphSdl,
    links: { shop: link, rest: other },
    logger: silentLogger(),
  });
  gateway = await startTestGateway({ federation });
});
afterAll(() => gateway.close());

async function ask(query: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`${gateway.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  expect(response.status).toBe(200);
  return response.text();
}

it.each([
  ['short', 'Füchse 🦊'],
  ['long, and compressed on its way', 'Füchse 🦊'.repeat(300)],
])('is the bytes that the subgraph sent where that has all of it: %s', async (_, name) => {
  answer = `{"data":{"product":{"name":${JSON.stringify(name)},"weight":9007199254740993.0}}}`;
  expect(await ask('{ product { name weight } }')).toBe(`${answer}\n`);
  expect(await ask('{ product { name weight } }', { 'accept-encoding': 'identity' })).toBe(`${answer}\n`);
});

it.each([
  ['another subgraph has a part of it', '{ product { weight } other }'],
  ['the operation is not sent as it is', '{ ... @include(if: true) { product { weight } } }'],
  ['it is answered by Apollo Server', '{ product { weight } } #'],
])('is read, and written anew where %s', async (_, query) => {
  answer = '{"data":{"product":{"weight":1.0}}}';
  const headers = query.endsWith('#') ? { accept: 'application/json;q=0.7' } : {};
  expect(JSON.parse(await ask(query, headers)).data.product).toEqual({ weight: 1 });
});

it('begins with data only where there is nothing else', () => {
  const errors = [codedError('NOT_FOUND', 'no fox')];
  expect(answerText({ data: { fox: 1 } })).toBe('{"data":{"fox":1}}');
  expect(answerText({ data: { fox: null }, errors })).toMatch(/^\{"errors":/);
  expect(answerText({ data: { fox: 1 }, extensions: { cost: 1 } })).toBe(
    '{"extensions":{"cost":1},"data":{"fox":1}}',
  );
  expect(unreadAnswer(Buffer.from(answerText({ data: { fox: null }, errors })))).toBeNull();
  expect(unreadAnswer(Buffer.from('{"data":null}'))).toBeNull();
  expect(unreadAnswer(Buffer.from('{'))).toBeNull();
});
