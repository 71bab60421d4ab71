import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';

import { sharedForm } from './shared-form.ts';

const schema = buildSchema(`
  type Query { task(id: ID!, wait: Int, mode: Mode, of: Of): Task tasks(first: Int = 5, day: Day, above: Float): [Task!] }
  type Mutation { start: Task }
  type Task { id: ID! next(id: ID): Task }
  enum Mode { FAST SLOW }
  input Of { id: ID }
  scalar Day
`);
const readForm = (query: string) => sharedForm(schema, query, parse(query));

describe('the shared form of a query', () => {
  it.each([
    ['{ task(id: "x") { id } }', 'query ($_v0: ID!) { task(id: $_v0) { id } }'],
    ['query { a: task(id: 7) { id } }', 'query ($_v0: ID!) { _r0: task(id: $_v0) { id } }'],
    [
      'query T($w: Int) { task(wait: $w, id: "x", mode: FAST) { id } }',
      'query T($w: Int $_v0: ID! $_v1: Mode) { task(wait: $w, id: $_v0, mode: $_v1) { id } }',
    ],
    ['query T @x { b: task(id: "x") { c: id } }', 'query T($_v0: ID!) @x { _r0: task(id: $_v0) { c: id } }'],
  ])('has numbered aliases, and variables in place of literals: %s', (query, text) => {
    expect(readForm(query)?.text).toBe(text);
  });

  it('tells the names and values that are its own', () => {
    const form = readForm('{ a: task(id: 7, wait: 3) { id } b: task(id: "y") { id } }');
    expect([...(form?.names ?? [])]).toEqual([
      ['_r0', 'a'],
      ['_r1', 'b'],
    ]);
    expect(form?.values).toEqual({ _v0: '7', _v1: 3, _v2: 'y' });
    expect(validate(schema, parse(form?.text ?? ''))).toEqual([]);
  });

  it('keeps sizes, nulls, objects, scalars of ours, literals that do not fit, and what is below the root', () => {
    const query =
      '{ a: tasks(first: 50, day: "x") { next(id: "y") { id } } task(of: { id: 1 }, wait: "no", mode: null) { id } c: tasks(above: 1e999) { id } }';
    expect(readForm(query)?.text).toBe(query.replace('a:', '_r0:').replace('c:', '_r1:'));
  });

  it.each([
    'mutation { a: start { id } }',
    '{ task(id: $id) { id } }',
    'query A { a: tasks { id } } query B { b: tasks { id } }',
    '{ a: tasks { id } ... { b: tasks { id } } }',
    '{ a: tasks @skip(if: true) { id } }',
    '{ a: tasks { id } a: task(id: 1) { id } }',
    '{ a: __typename }',
    '{ _r0: tasks { id } }',
    'query ($_v0: ID!) { a: task(id: $_v0) { id } }',
  ])('is not there where names or values decide on more: %s', (query) => {
    expect(readForm(query)).toBeNull();
  });
});
