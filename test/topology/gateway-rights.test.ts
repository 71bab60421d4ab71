import { createClient } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { graphql } from '../kit/clients/requests.ts';
import { type OtherGateway, startOtherGateway, writeYaml } from './other-gateway.ts';
import { openIssuer, openShop, type Shop, type TokenIssuer } from './shop.ts';

/** The example of docs/gateway.md about who callers are, over subgraphs that know nothing of Kiln. */

let shop: Shop;
let issuer: TokenIssuer;
let gateway: OtherGateway;
beforeAll(async () => {
  [shop, issuer] = await Promise.all([openShop(), openIssuer()]);
  gateway = await startOtherGateway({
    supergraph: shop.supergraph(),
    config: writeYaml('authentication:', {
      'https://id.example.org/keys.json': issuer.jwks,
      'https://id.example.org': issuer.issuer,
    }),
  });
});
afterAll(async () => {
  await gateway?.end();
  await Promise.all([shop?.close(), issuer?.close()]);
});

const bearer = async (claims?: Readonly<Record<string, unknown>>) => ({
  authorization: `Bearer ${await issuer.token(claims)}`,
});
const DENIED = { code: 'UNAUTHORIZED_FIELD_OR_TYPE' };

it('gives nobody in particular what needs no right, and null with an error for the rest', async () => {
  const before = shop.accounts.seen.length;
  expect(await graphql(gateway.url, '{ me { name } }')).toMatchObject({
    data: { me: null },
    errors: [{ message: 'Unauthorized field or type', path: ['me'], extensions: DENIED }],
  });
  expect(shop.accounts.seen.length).toBe(before);
  expect(await graphql(gateway.url, '{ users { name email } reviews { id draft } }')).toEqual({
    data: {
      users: [
        { name: 'Ada', email: null },
        { name: 'Bob', email: null },
      ],
      reviews: [
        { id: 'r1', draft: null },
        { id: 'r2', draft: null },
      ],
    },
    errors: [
      ['users', 0, 'email'],
      ['users', 1, 'email'],
      ['reviews', 0, 'draft'],
      ['reviews', 1, 'draft'],
    ].map((path) => ({ message: 'Unauthorized field or type', path, extensions: DENIED })),
  });
});

it('asks no subgraph for what its caller may not see', async () => {
  const before = shop.reviews.queries.length;
  await graphql(gateway.url, '{ reviews { id draft } }');
  const [query = ''] = shop.reviews.queries.slice(before);
  expect(query).toContain('reviews');
  expect(query).not.toContain('draft');
});

it.each([
  ['one of the scopes', { scope: 'openid email' }, 'ada@example.org'],
  ['all scopes of another list', { scope: ['admin', 'all'] }, 'ada@example.org'],
  ['a part of that list', { scope: 'admin' }, null],
])('shows what needs scopes to whose token has %s', async (_, claims, email) => {
  const { data } = await graphql(gateway.url, '{ me { email } }', {}, await bearer(claims));
  expect(data).toEqual({ me: { email } });
});

it('shows what needs a policy to whom the configuration gives it, and null takes its parent with it', async () => {
  const query = '{ me { name salary } }';
  expect(await graphql(gateway.url, query, {}, await bearer({ roles: ['hr-team'] }))).toEqual({
    data: { me: { name: 'Ada', salary: 10 } },
  });
  expect(await graphql(gateway.url, query, {}, await bearer())).toMatchObject({
    data: { me: null },
    errors: [{ path: ['me', 'salary'], extensions: DENIED }],
  });
});

it('runs no mutation without its right', async () => {
  const before = shop.accounts.seen.length;
  const denied = await graphql(gateway.url, 'mutation { rename(name: "Eve") { name } }');
  expect(denied).toMatchObject({ data: { rename: null }, errors: [{ path: ['rename'] }] });
  expect(shop.accounts.seen.length).toBe(before);
});

it('finds rights in fragments, aliases and arguments that are the same text', async () => {
  const query =
    'query ($all: Boolean = true) { people: users { ...Of } } fragment Of on User { mail: email @include(if: $all) id }';
  expect(await graphql(gateway.url, query)).toMatchObject({
    data: {
      people: [
        { mail: null, id: 'u1' },
        { mail: null, id: 'u2' },
      ],
    },
    errors: [{ path: ['people', 0, 'mail'] }, { path: ['people', 1, 'mail'] }],
  });
});

describe('a token', () => {
  it('is told to subgraphs by its claims, where a rule says so', async () => {
    const before = shop.accounts.seen.length;
    await graphql(gateway.url, '{ me { name } }', {}, { ...(await bearer()), 'x-user': 'eve' });
    expect(shop.accounts.seen[before]).toMatchObject({ 'x-user': 'ada' });
    expect(shop.accounts.seen[before]).not.toHaveProperty('authorization');
  });

  it.each([
    ['of another audience', { aud: 'bank' }],
    ['that has expired', { exp: Math.floor(Date.now() / 1_000) - 120 }],
    ['of another issuer', { iss: 'https://elsewhere.example.org' }],
  ])('%s is refused', async (_, claims) => {
    const answer = await graphql(gateway.url, '{ reviews { id } }', {}, await bearer(claims));
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('that is no token of an issuer is refused', async () => {
    const answer = await graphql(gateway.url, '{ reviews { id } }', {}, { authorization: 'Bearer x.y.z' });
    expect(answer.errors?.[0]?.extensions).toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});

it('gives each event of a subscription without what its caller may not see', async () => {
  const client = createClient({
    url: `${gateway.url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
  });
  const events = client.iterate({ query: 'subscription { userChanged { id email reviews { draft } } }' });
  const first = events.next();
  await expect.poll(() => shop.listeners()).toBe(1);
  for (const id of ['u1', 'u2']) {
    shop.emit(id);
    const { value } = id === 'u1' ? await first : await events.next();
    expect(value).toMatchObject({
      data: { userChanged: { id, email: null, reviews: [{ draft: null }, { draft: null }] } },
      errors: [{ path: ['userChanged', 'email'] }, {}, {}],
    });
  }
  await events.return?.();
  await client.dispose();
  await expect.poll(() => shop.listeners()).toBe(0);
});

it('does not start where nothing says who callers are, or who has a policy', async () => {
  const start = (config: string) =>
    startOtherGateway({ supergraph: shop.supergraph(), config }).then(
      () => 'it has started',
      (error: unknown) => String(error),
    );
  expect(await start('errors: whole\n')).toContain(
    'name the issuers of tokens in authentication of --config',
  );
  const issuers = `authentication:\n  issuers: [{ issuer: x, jwks: "${issuer.jwks}" }]\n`;
  expect(await start(issuers)).toContain('say in authentication.policies of --config who has hr');
});
