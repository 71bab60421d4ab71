import type { QueryPlanSelectionNode } from '@apollo/query-planner';
import { buildSchema } from 'graphql';
import { describe, expect, it } from 'vitest';

import { compileEntityLocator, createEntityCache, noEntities } from './known-entities.ts';
import { compileRepresentation } from './representations.ts';
import { isInherited, memberReader } from './response-path.ts';

const schema = buildSchema(`
  interface Named { id: ID }
  type User implements Named { id: ID }
  type Group implements Named { id: ID }
  union Any = User | Group
  type Query { a: Any }
`);
const field = (name: string, selections?: QueryPlanSelectionNode[], alias?: string) =>
  ({
    kind: 'Field',
    name,
    ...(selections && { selections }),
    ...(alias && { alias }),
  }) as QueryPlanSelectionNode;
const on = (typeCondition: string | undefined, ...selections: QueryPlanSelectionNode[]) =>
  ({ kind: 'InlineFragment', typeCondition, selections }) as QueryPlanSelectionNode;

/** The representation of each object, and which objects are found at one place. */
function made(selections: readonly QueryPlanSelectionNode[], objects: readonly unknown[]) {
  const represent = compileRepresentation(selections, schema);
  const locate = compileEntityLocator(selections, schema);
  const { start } = noEntities();
  const places = objects.map((object) => locate(object, start));
  return {
    representations: objects.map((object) => represent(object)),
    places: places.map((place) => (place === null ? null : places.indexOf(place))),
  };
}

describe('the representation of an entity, and its place among those that are known', () => {
  it('are of leaves, and of nothing where one is missing', () => {
    const objects = [
      { id: 1, x: 2 },
      { id: 1 },
      { id: null },
      {},
      null,
      { id: { b: [1] } },
      { id: { b: [1] } },
    ];
    expect(made([field('id')], objects)).toEqual({
      representations: [
        { id: 1 },
        { id: 1 },
        { id: null },
        null,
        null,
        { id: { b: [1] } },
        { id: { b: [1] } },
      ],
      places: [0, 0, 2, null, null, 5, 5],
    });
    // A number is not its text, and what holds values is not the text of them.
    expect(made([field('id')], [{ id: 1 }, { id: '1' }, { id: [1] }, { id: '[1]' }]).places).toEqual([
      0, 1, 2, 3,
    ]);
    expect(
      made(
        [field('a'), field('b')],
        [
          { a: 1, b: 2 },
          { a: 2, b: 1 },
          { a: 1, b: 2 },
        ],
      ).places,
    ).toEqual([0, 1, 0]);
    expect(made([field('id', undefined, 'x')], [{ x: 1 }, { id: 1 }, { x: 2 }])).toEqual({
      representations: [{ x: 1 }, null, { x: 2 }],
      places: [0, null, 2],
    });
  });

  it('are of what is inside of objects and lists', () => {
    const selections = [field('id'), field('owner', [field('name')])];
    const objects = [
      { id: 1, owner: { name: 'a', more: 1 } },
      { id: 1, owner: { name: 'a' } },
      { id: 1, owner: [{ name: 'a' }, { name: 'b' }] },
      { id: 1, owner: null },
      { id: 1 },
      { id: 1, owner: { other: 1 } },
    ];
    expect(made(selections, objects)).toEqual({
      representations: [
        { id: 1, owner: { name: 'a' } },
        { id: 1, owner: { name: 'a' } },
        { id: 1, owner: [{ name: 'a' }, { name: 'b' }] },
        { id: 1, owner: null },
        null,
        { id: 1, owner: null },
      ],
      places: [0, 0, 2, 3, null, 3],
    });
  });

  it('are under the names that objects have in the answer', () => {
    const selections = [field('id', undefined, 'x'), field('owner', [field('name', undefined, 'n')], 'boss')];
    const objects = [
      { x: 1, boss: { n: 'a' } },
      { x: 1, boss: { n: 'b' } },
      { id: 1, owner: { name: 'a' } },
    ];
    expect(made(selections, objects)).toEqual({
      representations: [objects[0], objects[1], null],
      places: [0, 1, null],
    });
  });

  it('are by the type that an object says it has', () => {
    const user = { __typename: 'User', id: 1 };
    const group = { __typename: 'Group', id: 1, size: 2 };
    const untyped = { id: 1 };
    const typed = [field('__typename'), field('id')];
    expect(made([on('User', ...typed)], [user, group, untyped]).representations).toEqual([user, {}, {}]);
    expect(made([on('Named', ...typed)], [user, group]).representations).toEqual([
      user,
      { __typename: 'Group', id: 1 },
    ]);
    expect(made([on('Any', ...typed)], [user, group]).places).toEqual([0, 1]);
    // A condition on no type is met by none.
    expect(made([on(undefined, ...typed)], [user, group])).toEqual({
      representations: [{}, {}],
      places: [0, 0],
    });
    const both = made(
      [on('User', ...typed), on('Group', ...typed, field('size'))],
      [user, group, { ...group, size: 3 }],
    );
    expect(both).toEqual({
      representations: [user, group, { ...group, size: 3 }],
      places: [0, 1, 2],
    });
    const missing = made([on('User', field('none')), on('User', ...typed)], [user, { ...user, none: 1 }]);
    expect(missing).toEqual({ representations: [user, { ...user, none: 1 }], places: [0, 1] });
  });

  it('have own members alone, of whatever name', () => {
    const own = JSON.parse('{"toString":1,"id":2}') as object;
    expect(made([field('toString'), field('id')], [own, { id: 2 }])).toEqual({
      representations: [{ toString: 1, id: 2 }, null],
      places: [0, null],
    });
    expect(['toString', 'length', '__proto__', 'id'].map(isInherited)).toEqual([true, true, true, false]);
    expect([
      memberReader('length')([1]),
      memberReader('length')({ length: 7 }),
      memberReader('id')({ id: 7 }),
    ]).toEqual([1, 7, 7]);
  });
});

it('entities are known by the cache key of their query, up to a bound', () => {
  const cache = createEntityCache();
  const known = cache.of('a');
  expect([cache.of('a'), cache.of('b') === known]).toEqual([known, false]);
  known.size = 49_999;
  expect(cache.of('a')).toBe(known);
  known.size = 50_000;
  const fresh = cache.of('a');
  expect([fresh === known, fresh.size, cache.of('a') === fresh]).toEqual([false, 0, true]);
});
