import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type ExecutionResult, GraphQLError } from 'graphql';
import { expect, it } from 'vitest';

import type { SubgraphLink, SubgraphRequest } from '../../platform/graphql/operations/subgraph.ts';
import { createEntityCache, type EntityCacheRule } from './entity-cache.ts';

const QUERY =
  'query($representations:[_Any!]!){_entities(representations:$representations){...on User{name}}}';

/** A link that answers with a number of its own each time, and what it was asked. */
function answering(answer: (ids: readonly string[]) => Partial<ExecutionResult> = () => ({})) {
  const asked: string[][] = [];
  const link: SubgraphLink = {
    async execute({ variables }) {
      const { representations = [] } = variables as {
        readonly representations?: readonly { readonly id: string }[];
      };
      const ids = representations.map(({ id }) => id);
      asked.push(ids);
      return { data: { _entities: ids.map((id) => ({ name: `${id} ${asked.length}` })) }, ...answer(ids) };
    },
    subscribe: () => Promise.reject(new Error('none')),
    check: async () => [],
    close: async () => undefined,
  };
  return { asked, link };
}

function cached(link: SubgraphLink, changed: Partial<EntityCacheRule> = {}) {
  const counted = { hit: 0, miss: 0 };
  const over = createEntityCache(1_000_000).over(link, {
    subgraph: 'accounts',
    maxAgeSeconds: 60,
    types: {},
    readIdentity: null,
    count: (outcome) => void (counted[outcome] += 1),
    ...changed,
  });
  const ask = (ids: readonly string[], { query = QUERY, who = 'ada', caller = {} } = {}) => {
    const representations = ids.map((id) => ({ __typename: 'User', id }));
    const context = { caller: Object.assign(caller, { who }), signal: new AbortController().signal };
    return over.execute({ query, variables: { representations }, context } as unknown as SubgraphRequest);
  };
  return { ask, counted };
}

it('asks only for what it has not kept, and puts it in its place', async () => {
  const { asked, link } = answering();
  const { ask, counted } = cached(link);
  await ask(['u1', 'u2']);
  expect(await ask(['u3', 'u1', 'u4'])).toEqual({
    data: { _entities: [{ name: 'u3 2' }, { name: 'u1 1' }, { name: 'u4 2' }] },
  });
  expect(asked).toEqual([
    ['u1', 'u2'],
    ['u3', 'u4'],
  ]);
  expect(counted).toEqual({ hit: 1, miss: 4 });
});

it('gives everybody an entity of their own', async () => {
  const { ask } = cached(answering().link);
  await ask(['u1']);
  const [first, second] = [await ask(['u1']), await ask(['u1'])];
  const { _entities: entities } = Object(first.data) as { readonly _entities: { name: string }[] };
  entities[0] = { name: 'changed' };
  expect(second.data).toEqual({ _entities: [{ name: 'u1 1' }] });
});

it('keeps entities for whom they were fetched, where they are private', async () => {
  const { asked, link } = answering();
  const { ask } = cached(link, { readIdentity: ({ caller }) => (caller as unknown as { who: string }).who });
  await ask(['u1']);
  await ask(['u1'], { who: 'bob' });
  await ask(['u1'], { who: 'bob' });
  expect(asked).toHaveLength(2);
});

it('forgets after its time, and keeps no type of which the rule says 0', async () => {
  const { asked, link } = answering();
  const { ask } = cached(link, { types: { User: 0 } });
  await ask(['u1']);
  await ask(['u1']);
  expect(asked).toHaveLength(2);
});

it('keeps nothing of an answer with errors, which stand where their entity does', async () => {
  const { asked, link } = answering((ids) =>
    ids.includes('bad')
      ? {
          errors: [['_entities', 0, 'name'], ['other', 0], undefined].map(
            (at) => new GraphQLError('no', { path: at }),
          ),
        }
      : {},
  );
  const { ask } = cached(link);
  await ask(['u1']);
  const { errors } = await ask(['u1', 'bad']);
  // What is of no entity stays as it is.
  expect(errors?.map(({ path: at }) => at)).toEqual([['_entities', 1, 'name'], ['other', 0], undefined]);
  await ask(['bad']);
  expect(asked).toEqual([['u1'], ['bad'], ['bad']]);
});

it('shows whoever writes what they wrote', async () => {
  const { asked, link } = answering();
  const { ask } = cached(link, { readIdentity: ({ caller }) => (caller as unknown as { who: string }).who });
  await ask(['u1']);
  const caller = {};
  await ask([], { query: 'mutation{rename}', caller });
  await ask(['u1'], { caller });
  await ask(['u1']);
  expect(asked).toEqual([['u1'], [], ['u1'], ['u1']]);
});

it('shows whoever writes again what they wrote, and everybody what everybody may see until its time', async () => {
  const { asked, link } = answering();
  const own = cached(link, { readIdentity: ({ caller }) => (caller as unknown as { who: string }).who });
  for (let round = 0; round < 3; round += 1) {
    await own.ask(['u1']);
    await own.ask(['u1']);
    await own.ask([], { query: 'mutation{rename}' });
  }
  expect(asked.splice(0)).toEqual([['u1'], [], ['u1'], [], ['u1'], []]);
  const all = cached(link);
  await all.ask(['u1']);
  await all.ask([], { query: 'mutation{rename}' });
  await all.ask(['u1']);
  expect(asked).toEqual([['u1'], []]);
});

it('gives what it has where the rest fails, with what the subgraph says, and keeps no null', async () => {
  const error = new GraphQLError('away', { path: ['_entities', 0] });
  const other = new GraphQLError('elsewhere', { path: ['other', 0] });
  const { asked, link } = answering((ids) => {
    if (ids.includes('away')) return { data: null, errors: [error, other], extensions: { x: 1 } };
    return ids.includes('none') ? { data: { _entities: ids.map(() => null) }, extensions: { x: 2 } } : {};
  });
  const { ask } = cached(link);
  await ask(['u1']);
  const { errors, ...partly } = await ask(['u1', 'away']);
  expect(partly).toEqual({ data: { _entities: [{ name: 'u1 1' }, null] }, extensions: { x: 1 } });
  expect(errors?.map(({ path: at }) => at)).toEqual([
    ['_entities', 1],
    ['other', 0],
  ]);
  expect(await ask(['away'])).toMatchObject({ data: null });
  for (let round = 0; round < 2; round += 1)
    expect(await ask(['none', 'u1'])).toEqual({
      data: { _entities: [null, { name: 'u1 1' }] },
      extensions: { x: 2 },
    });
  expect(asked.slice(3)).toEqual([['none'], ['none']]);
});

it('fails where the subgraph answers of another number of entities than it was asked for', async () => {
  const { link } = answering((ids) => (ids.includes('u2') ? { data: { _entities: [] } } : {}));
  const { ask } = cached(link);
  await ask(['u1']);
  for (const ids of [['u1', 'u2'], ['u2']])
    await expect(ask(ids)).rejects.toThrow('Expected "data._entities" to contain 1 elements');
});

it('asks with the other variables, and keeps apart what was asked with others', async () => {
  const seen: unknown[] = [];
  const { link } = answering();
  const noting: SubgraphLink = {
    ...link,
    execute: (request) => (seen.push(request.variables), link.execute(request)),
  };
  const over = createEntityCache(1_000_000).over(noting, {
    subgraph: 'accounts',
    maxAgeSeconds: 60,
    types: {},
    readIdentity: null,
    count: () => undefined,
  });
  const representations = [{ __typename: 'User', id: 'u1' }];
  for (const size of [1, 2, 1]) {
    const variables = { size, representations };
    const context = { caller: {}, signal: new AbortController().signal };
    await over.execute({ query: QUERY, variables, context } as unknown as SubgraphRequest);
  }
  expect(seen).toEqual([1, 2].map((size) => ({ size, representations })));
});

/** The three examples of docs/gateway.md. */
const page = readFileSync(path.join(import.meta.dirname, '../../docs/gateway.md'), 'utf8');
const [KEY = '', TYPE = '', ALL = ''] = [...page.matchAll(/`\[?(\{ "kind": .*?\})\]?`/g)].map(
  ([, text]) => text,
);

it.each([
  ['a key', KEY, ['u1']],
  ['a type', TYPE, ['u1', 'u2']],
  ['another type', TYPE.replace('User', 'Other'), []],
  ['everything', ALL, ['u1', 'u2']],
])('forgets %s when an answer says so', async (_, invalidation, gone) => {
  const { asked, link } = answering((ids) =>
    ids.length === 0 ? { extensions: { invalidation: [JSON.parse(invalidation) as object] } } : {},
  );
  const { ask } = cached(link);
  await ask(['u1', 'u2']);
  await ask([], { query: 'mutation{rename}' });
  await ask(['u1', 'u2']);
  expect(asked.slice(2)).toEqual(gone.length === 0 ? [] : [gone]);
});

it('keeps nothing that was asked for before an answer said that it is not true any more', async () => {
  const { asked, link } = answering((ids) =>
    ids.length === 0 ? { extensions: { invalidation: [JSON.parse(TYPE) as object] } } : {},
  );
  const held = Promise.withResolvers<void>();
  let isHeld = true;
  const { ask } = cached({
    ...link,
    async execute(request) {
      const result = await link.execute(request);
      if (isHeld && asked.at(-1)?.length === 1) await held.promise;
      return result;
    },
  });
  const before = ask(['u1']);
  await ask([], { query: 'mutation{rename}' });
  isHeld = false;
  held.resolve();
  await before;
  await ask(['u1']);
  await ask(['u1']);
  expect(asked).toEqual([['u1'], [], ['u1']]);
});

it('forgets by a key that has fields of its own', async () => {
  const gone = { kind: 'entity', type: 'User', key: { of: { id: 'o1' } } };
  const { asked, link } = answering((ids) =>
    ids.length === 0 ? { extensions: { invalidation: [gone] } } : {},
  );
  const over = createEntityCache(1_000_000).over(link, {
    subgraph: 'accounts',
    maxAgeSeconds: 60,
    types: {},
    readIdentity: null,
    count: () => undefined,
  });
  const ask = (query: string, ids: readonly string[]) => {
    const representations = ids.map((id) => ({ __typename: 'User', id, of: { id: `o${id.slice(1)}` } }));
    const context = { caller: {}, signal: new AbortController().signal };
    return over.execute({ query, variables: { representations }, context } as unknown as SubgraphRequest);
  };
  await ask(QUERY, ['u1', 'u2']);
  await ask('mutation{move}', []);
  await ask(QUERY, ['u1', 'u2']);
  expect(asked).toEqual([['u1', 'u2'], [], ['u1']]);
});
