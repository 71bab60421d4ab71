import { parse } from 'graphql';
import { expect, it } from 'vitest';

import type { EntityFetch } from './entity-requests.ts';
import { linkNarrowerFetches } from './narrower-fetches.ts';

const field = (name: string, more: object = {}) => ({ kind: 'Field', name, ...more });
const fragment = (typeCondition: string, ...selections: readonly object[]) => ({
  kind: 'InlineFragment',
  typeCondition,
  selections,
});
const KEY = [fragment('User', field('__typename'), field('id'))];

/** A fetch that asks for these fields of a user. */
function fetching(selected: string, changed: Record<string, unknown> = {}): EntityFetch {
  const {
    cacheKey = selected,
    document = `{ _entities { ... on User { ${selected} } } }`,
    ...fetch
  } = changed;
  return {
    cacheKey,
    narrower: [],
    fetch: {
      serviceName: 'users',
      requires: KEY,
      operationDocumentNode: document === null ? undefined : parse(document as string),
      ...fetch,
    },
  } as unknown as EntityFetch;
}

/** Whether what the first has requested answers the other too. */
function answers(wide: EntityFetch, narrow: EntityFetch): boolean {
  linkNarrowerFetches([wide, narrow]);
  const isLinked = wide.narrower.includes(narrow);
  expect(wide.narrower.length + narrow.narrower.length).toBe(Number(isLinked));
  return isLinked;
}

it('one fetch answers another that asks for a part of it', () => {
  expect(answers(fetching('a b'), fetching('a'))).toBe(true);
  expect(answers(fetching('a b'), fetching('c'))).toBe(false);
  const more = [fragment('User', field('__typename'), field('id'), field('region'))];
  expect(answers(fetching('a b', { requires: more }), fetching('a'))).toBe(true);
  expect(answers(fetching('a b'), fetching('a', { requires: more }))).toBe(false);
});

it('equal fetches of other keys answer each other, those of the same key are one', () => {
  const [one, other] = [fetching('a', { cacheKey: '1' }), fetching('a', { cacheKey: '2' })];
  linkNarrowerFetches([one, other]);
  expect([one.narrower, other.narrower]).toEqual([[other], [one]]);
  expect(answers(fetching('a', { cacheKey: '1' }), fetching('a', { cacheKey: '1' }))).toBe(false);
});

it.each([
  ['of another subgraph', { serviceName: 'others' }],
  ['that is not kept', { cacheKey: null }],
  ['with variables', { variableUsages: ['x'] }],
  ['of several types', { requires: [...KEY, fragment('Other', field('id'))] }],
  [
    'with names of their own in what it requires',
    { requires: [fragment('User', field('id', { alias: 'x' }))] },
  ],
  ['that requires no fragment', { requires: [field('id')] }],
  ['that requires nothing', { requires: [] }],
  ['that requires another type', { requires: [fragment('Other', field('id'))] }],
  [
    'of another type',
    {
      requires: [fragment('Other', field('__typename'), field('id'))],
      document: '{ _entities { ... on Other { a } } }',
    },
  ],
  ['with two fragments', { document: '{ _entities { ... on User { a } ... on User { b } } }' }],
  ['without a fragment', { document: '{ _entities { a } }' }],
  ['without a type', { document: '{ _entities { ... { a } } }' }],
  ['with a condition', { document: '{ _entities { ... on User @skip(if: true) { a } } }' }],
  ['of no operation', { document: 'fragment F on User { a }' }],
  ['without a document', { document: null }],
])('nothing answers a fetch %s', (_, changed) => {
  expect(answers(fetching('a b'), fetching('a', changed))).toBe(false);
});
