import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { breakingChanges, composeSupergraph, subgraphSdl, type SubgraphSource } from './generate.ts';

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@shareable", "@inaccessible"])';

function subgraph(name: string, types: string): SubgraphSource {
  const schema = buildSubgraphSchema({ typeDefs: parse(`${LINK} ${types}`) });
  return { name, url: `http://${name}/graphql`, schema };
}

const other = subgraph('b', 'type Query { b: Int }');

describe('the generated contracts', () => {
  it('hold the federated SDL of a subgraph', () => {
    const sdl = subgraphSdl(subgraph('a', 'type Task @key(fields: "id") { id: ID! } type Query { a: Task }'));
    expect(sdl).toContain('@key(fields: "id")');
    expect(sdl).toMatch(/^# Generated/);
  });

  it('hold the supergraph with its routing URLs', () => {
    const supergraph = composeSupergraph([subgraph('a', 'type Query { a: Int }'), other]);
    expect(supergraph).toContain('@join__graph(name: "a", url: "http://a/graphql")');
  });

  it('are refused when the subgraphs do not compose', () => {
    const clash = subgraph('a', 'type Query { b: Int }');
    expect(() => composeSupergraph([clash, other])).toThrow('do not compose');
  });

  it('are refused when the subgraphs merely disagree', () => {
    const one = subgraph('a', 'type Query { a: Size } type Size @shareable { x: Int! }');
    const two = subgraph('b', 'type Query { b: Size } type Size @shareable { x: Int }');
    expect(() => composeSupergraph([one, two])).toThrow('do not agree');
  });

  it('name what would break callers, and nothing that callers can not see', () => {
    const compose = (types: string) => composeSupergraph([subgraph('a', types), other]);
    const before = compose('type Query { a: Int gone(x: Int): Int hidden: Int @inaccessible }');
    const after = compose('type Query { a: Int added: Int }');
    expect(breakingChanges(before, after)).toEqual(['FIELD_REMOVED: Query.gone was removed.']);
    expect(breakingChanges(after, before)).toEqual(['FIELD_REMOVED: Query.added was removed.']);
  });
});
