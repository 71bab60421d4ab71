import type { ExecutionResult } from 'graphql';
import { buildSchema, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import { awaitBatches, type EntityFetch, requestEntities } from './entity-requests.ts';
import { compileEntityLocator, createEntityCache } from './known-entities.ts';
import { compileRepresentation } from './representations.ts';
import type { Run } from './run.ts';

const schema = buildSchema('type User { id: ID } type Query { user: User }');
const requires = ['__typename', 'id'].map((name) => ({ kind: 'Field', name }) as const);
const user = (id: string) => ({ __typename: 'User', id });

type Answer = (representations: readonly { readonly id: string }[]) => ExecutionResult;
const echo: Answer = (representations) => ({
  data: { _entities: representations.map(({ id }) => ({ id })) },
});

/** A fetch of users that keeps what it asked for. */
function createFetch(options: Partial<EntityFetch> = {}, answer: Answer = echo) {
  const asked: string[] = [];
  const compiled: EntityFetch = {
    fetch: { variableUsages: ['v'] } as never,
    path: [],
    supergraphSchema: schema,
    send: async (_run, { representations }) => {
      const all = representations as readonly { readonly id: string }[];
      asked.push(all.map(({ id }) => id).join(' '));
      return answer(all);
    },
    represent: compileRepresentation(requires, schema),
    locate: compileEntityLocator(requires, schema),
    leaves: new Set(['id']),
    leafMerging: null,
    cacheKey: 'users',
    narrower: [],
    ...options,
  };
  return { compiled, asked };
}

const createRun = (variables = {}, answers: Run['answers'] = createEntityCache()) =>
  ({ variables, answers, isShared: false }) as unknown as Run;

describe('what several places are given of one answer', () => {
  const several = [user('a'), user('b'), user('a')];

  it.each([
    ['is shared at once where later fetches may find it', {}, [true, true, true], false],
    ['is shared where one fetch finds it twice', { cacheKey: null }, [true, false, true], false],
    [
      'makes objects of the run shared where it has any',
      { cacheKey: null, leaves: null },
      [true, false, true],
      true,
    ],
  ])('%s', (_, options, shared, isRunShared) => {
    const run = createRun();
    const { objects } = requestEntities(createFetch(options).compiled, run, several);
    expect(objects.map(({ entity }) => entity.isShared)).toEqual(shared);
    expect([objects[0]?.entity === objects[2]?.entity, run.isShared]).toEqual([true, isRunShared]);
  });

  it('leaves the run alone where each object is found once', () => {
    const run = createRun();
    const { objects } = requestEntities(createFetch({ cacheKey: null, leaves: null }).compiled, run, [
      user('a'),
    ]);
    expect([objects[0]?.entity.isShared, run.isShared]).toEqual([false, false]);
  });
});

it('asks nothing for objects without a key or a type, and nobody where none is left', async () => {
  const { compiled, asked } = createFetch();
  const found = [{ id: 'a' }, { __typename: 'User' }, { __typename: '', id: 'a' }, null];
  const { objects } = requestEntities(compiled, createRun(), found);
  expect([objects, asked]).toEqual([[], []]);
  const variables = { representations: [] };
  const taken = createFetch({ fetch: { variableUsages: ['representations'] } as never }).compiled;
  expect(() => requestEntities(taken, createRun(variables), [])).toThrow('$representations');
});

it('asks again for what failed before, and where nothing is kept', async () => {
  const failing: Answer = (all) => ({ ...echo(all), errors: [new GraphQLError('busy')] });
  for (const [run, answer, expected] of [
    [createRun(), echo, ['a']],
    [createRun({}, null), echo, ['a', 'a']],
    [createRun(), failing, ['a', 'a']],
  ] as const) {
    const { compiled, asked } = createFetch({}, answer);
    for (let count = 0; count < 2; count += 1)
      await awaitBatches(compiled, run, requestEntities(compiled, run, [user('a')]));
    expect(asked).toEqual(expected);
  }
});

describe('entities that another fetch has asked for in vain', () => {
  const failed: Answer = () => ({ errors: [new GraphQLError('busy')] });

  it('are asked for once more, equal ones once, and no others', async () => {
    const run = createRun();
    const [one, other] = [createFetch({}, failed), createFetch()];
    requestEntities(one.compiled, run, [user('a'), user('b')]);
    const found = [user('a'), user('c'), user('a')];
    const requests = requestEntities(other.compiled, run, found);
    expect(other.asked).toEqual(['c']);
    const batches = await awaitBatches(other.compiled, run, requests);
    expect(other.asked).toEqual(['c', 'a']);
    expect([...batches].map(({ result }) => result?.data)).toEqual([
      { _entities: [{ id: 'c' }] },
      { _entities: [{ id: 'a' }] },
    ]);
    expect(requests.objects.map(({ entity: { index, isShared } }) => [index, isShared])).toEqual([
      [0, true],
      [0, true],
      [0, true],
    ]);
  });

  it('are those of which it got nothing, or wanted more than was answered well', async () => {
    const inPart: Answer = (all) => ({ ...echo(all), errors: [new GraphQLError('no place')] });
    for (const [narrow, answer, expected] of [
      [false, inPart, []],
      [true, inPart, ['a']],
      [true, echo, []],
    ] as const) {
      const run = createRun();
      const later = createFetch({ cacheKey: narrow ? 'part of users' : 'users' });
      const wide = createFetch({ narrower: narrow ? [later.compiled] : [] }, answer);
      requestEntities(wide.compiled, run, [user('a')]);
      const requests = requestEntities(later.compiled, run, [user('a')]);
      expect(requests.objects[0]?.entity.taken).toEqual(narrow ? new Set(['id']) : null);
      await awaitBatches(later.compiled, run, requests);
      expect([narrow, later.asked]).toEqual([narrow, expected]);
    }
  });
});
