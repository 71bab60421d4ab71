import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../access/caller.ts';
import type { AuthMode } from '../../access/policy.ts';
import { enforceEntityRules } from './subgraph-schema.ts';

const schema = enforceEntityRules(
  buildSubgraphSchema({
    typeDefs: parse(
      'extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key"])\n' +
        'type Open @key(fields: "id") { id: ID! } type Owned @key(fields: "id") { id: ID! } type Query { open: Open }',
    ),
    resolvers: {
      // As a loader does with a key that is not there.
      Open: { __resolveReference: ({ id }: { id: string }) => ({ id: id.slice() }) },
      Owned: { __resolveReference: ({ id }: { id: string }) => ({ id }) },
    },
  }),
  { Open: 'public', Owned: 'anyone' },
);

const ALL = [
  { __typename: 'Owned', id: '1' },
  { __typename: 'Open', id: '2' },
  { __typename: 'Owned', id: '3' },
  { __typename: 'Open', id: '4' },
];

const ask = (authMode: AuthMode, representations: readonly object[] = ALL) =>
  graphql({
    schema,
    source: `query ($representations: [_Any!]!) {
      _entities(representations: $representations) { ... on Open { id } ... on Owned { id } }
    }`,
    variableValues: { representations },
    contextValue: { caller: anonymousCaller('t', null), authMode },
  });

describe('asking for things by their keys', () => {
  it('refuses each that its rule keeps from the caller, and answers the others in their places', async () => {
    const { data, errors } = await ask('required');
    expect(data?.['_entities']).toEqual([null, { id: '2' }, null, { id: '4' }]);
    expect(errors?.map(({ path, originalError }) => [path, originalError])).toEqual([
      [['_entities', 0], expect.objectContaining({ code: 'UNAUTHENTICATED' })],
      [['_entities', 2], expect.objectContaining({ code: 'UNAUTHENTICATED' })],
    ]);
  });

  it('is as open as the mode', async () => {
    const { data, errors } = await ask('compat');
    expect([data?.['_entities'], errors]).toEqual([
      [{ id: '1' }, { id: '2' }, { id: '3' }, { id: '4' }],
      undefined,
    ]);
  });

  it.each([
    ['a null key', { __typename: 'Open', id: null }],
    ['an unknown type', { __typename: 'Other', id: '1' }],
    ['a name of every object', { __typename: 'constructor', id: '1' }],
    ['no type', { id: '1' }],
    ['a key that no database takes', { __typename: 'Open', id: 'a\0' }],
  ])('fails for %s alone', async (_, representation) => {
    const { data, errors } = await ask('open', [representation, { __typename: 'Open', id: '2' }]);
    expect(data?.['_entities']).toEqual([null, { id: '2' }]);
    expect(errors?.map(({ path, originalError }) => [path, originalError])).toEqual([
      [['_entities', 0], expect.objectContaining({ code: 'BAD_USER_INPUT' })],
    ]);
  });

  it('fails alone for what throws at once', async () => {
    const { data, errors } = await ask('open', [{ __typename: 'Open' }, { __typename: 'Open', id: '2' }]);
    expect(data?.['_entities']).toEqual([null, { id: '2' }]);
    expect(errors?.map(({ path }) => path)).toEqual([['_entities', 0]]);
  });
});
