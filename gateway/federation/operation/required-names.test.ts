import type { FetchNode, PlanNode, QueryPlan } from '@apollo/query-planner';
import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { operationContext } from './operation-context.ts';
import { realName, withRequiredNames } from './required-names.ts';
import { hasOwnNames, splitRequirements, withRealNames } from './split-requirements.ts';
import { refuseUnplanned } from './unplanned.ts';

const needing = (requires: string) => `@join__field(graph: A, requires: ${JSON.stringify(requires)})`;
const SDL = `
  directive @join__field(graph: String, requires: String) repeatable on FIELD_DEFINITION
  interface Priced { price(currency: String!, net: Boolean): Int }
  type Ware implements Priced {
    price(currency: String!, net: Boolean): Int
    maker: [Producer!]
    duty: Int ${needing('price(currency: "USD")')}
    same: Int ${needing('price(currency: "USD")')}
    abroad: Int ${needing('price(net: true, currency: "EUR")')}
    again: Int ${needing('price(currency: "EUR", net: true)')}
    origin: Int ${needing('maker { town(long: true) ... on Producer { name } }')}
    short: Int ${needing('maker { town(long: false) }')}
    plain: Int @join__field(graph: A)
  }
  type Producer { town(long: Boolean!): String name: String }
`;
const { supergraphSdl, findNeeds } = withRequiredNames(SDL);

describe('fields that are required with different arguments', () => {
  it('have a name of their own for each further list of arguments', () => {
    const text = supergraphSdl.replaceAll(/\s+/g, ' ');
    expect(text.match(/price\w*\(currency: String!, net: Boolean\): Int/g)).toEqual([
      'price(currency: String!, net: Boolean): Int',
      'price(currency: String!, net: Boolean): Int',
      'price__kiln_1(currency: String!, net: Boolean): Int',
    ]);
    expect(text).toContain('same: Int @join__field(graph: A, requires: "price(currency: \\"USD\\")")');
    // The order of arguments makes no other list.
    expect(text).toContain(
      'again: Int @join__field(graph: A, requires: "price__kiln_1(currency: \\"EUR\\", net: true)")',
    );
    expect(text).toContain('plain: Int @join__field(graph: A) }');
    expect(supergraphSdl).toContain('town__kiln_1(long: false)');
    const needs = (field: string) => Object.fromEntries(findNeeds('Ware', field));
    expect(['duty', 'abroad', 'again', 'origin', 'short', 'plain'].map(needs)).toEqual([
      { '.price': 'price' },
      { '.price': 'price__kiln_1' },
      { '.price': 'price__kiln_1' },
      { '.maker.town': 'town' },
      { '.maker.town': 'town__kiln_1' },
      {},
    ]);
    expect(['price__kiln_12', 'price', 'price__kiln_x'].map(realName)).toEqual([
      'price',
      'price',
      'price__kiln_x',
    ]);
  });

  it('are the only ones that change a supergraph', () => {
    const without = SDL.replaceAll('requires:', 'graph2:');
    expect(withRequiredNames(without).supergraphSdl).toBe(without);
    const one = `type A { b(c: Int): Int d: Int ${needing('b(c: 1)')} e: Int ${needing('b(c: 1)')} }`;
    expect(withRequiredNames(one).supergraphSdl).toBe(one);
    expect(withRequiredNames(one).findNeeds('A', 'd').size).toBe(0);
    // An interface's fields are those of its objects as well.
    const wide = `interface I { b(c: Int): Int } type A implements I { b(c: Int): Int i: I
      d: Int ${needing('i { b(c: 1) }')} e: Int ${needing('i { b(c: 2) }')} }`;
    expect(withRequiredNames(wide).supergraphSdl.match(/b__kiln_1\(c: Int\)/g)).toHaveLength(2);
    // Of a type that is narrowed to, others have none.
    const narrowed = (i: string) => `${i} type A { b(c: Int): Int i: I
      d: Int ${needing('i { ... on A { b(c: 1) } }')} e: Int ${needing('i { ... on A { b(c: 2) } }')} }
      type B { b(c: Int): Int }`;
    const ofInterface = narrowed('interface I { x: Int }').replaceAll(/type (\w)/g, 'type $1 implements I');
    for (const sdl of [ofInterface, narrowed('union I = A | B')]) {
      const { supergraphSdl: changed, findNeeds: needs } = withRequiredNames(sdl);
      expect(changed.match(/b__kiln_1\(c: Int\)/g)).toHaveLength(1);
      expect([...needs('A', 'd'), ...needs('A', 'e')]).toEqual([
        ['.i.b', 'b'],
        ['.i.b', 'b__kiln_1'],
      ]);
    }
  });
});

describe('a plan over such names', () => {
  function fetch(query: string, more: object = {}): FetchNode {
    const operationDocumentNode = parse(query);
    return { kind: 'Fetch', serviceName: 'a', operation: query, operationDocumentNode, ...more } as FetchNode;
  }
  const field = (name: string, selections?: FetchNode['requires']) =>
    ({ kind: 'Field', name, ...(selections && { selections }) }) as NonNullable<
      FetchNode['requires']
    >[number];
  const requires = [
    {
      kind: 'InlineFragment',
      typeCondition: 'Ware',
      selections: [field('price'), field('price__kiln_1'), field('code')],
    },
  ] as FetchNode['requires'];
  const ENTITIES =
    'query ($representations: [_Any!]!, $x: Int, $y: Int) { _entities(representations: $representations)';
  const split = (node: PlanNode) =>
    splitRequirements({ kind: 'QueryPlan', node }, findNeeds).node as PlanNode;
  const told = (node: PlanNode): unknown => {
    if (node.kind !== 'Fetch') return node;
    const { operation, requires: needed, id, variableUsages } = node as FetchNode & { readonly id?: string };
    return { operation: operation.replaceAll(/\s+/g, ' '), needed, id, variableUsages };
  };

  it('asks for fields under their real names', () => {
    expect(
      told(split(fetch('{ wares { price__kiln_1(currency: "EUR") x: town__kiln_1 code } }'))),
    ).toMatchObject({
      operation: '{ wares { price__kiln_1: price(currency: "EUR") x: town code } }',
    });
    const same = fetch('{ wares { code } }');
    expect(split(same)).toBe(same);
  });

  it('has a fetch for each value that one name has, with the variables that it uses', () => {
    const text = `${ENTITIES} { ... on Ware { __typename duty(a: $x) abroad(a: $y) same plain } } }`;
    const both = fetch(text, { requires, variableUsages: ['x', 'y'] });
    const { kind, nodes } = split(both) as { readonly kind: string; readonly nodes: readonly PlanNode[] };
    expect([kind, nodes.map(told)]).toEqual([
      'Parallel',
      [
        {
          operation:
            'query ($representations: [_Any!]!, $x: Int) { _entities(representations: $representations) { ... on Ware { __typename duty(a: $x) same plain } } }',
          needed: [
            { kind: 'InlineFragment', typeCondition: 'Ware', selections: [field('price'), field('code')] },
          ],
          id: undefined,
          variableUsages: ['x'],
        },
        {
          operation:
            'query ($representations: [_Any!]!, $y: Int) { _entities(representations: $representations) { ... on Ware { __typename abroad(a: $y) } } }',
          needed: [
            {
              kind: 'InlineFragment',
              typeCondition: 'Ware',
              selections: [field('price__kiln_1'), field('code')],
            },
          ],
          id: undefined,
          variableUsages: ['y'],
        },
      ],
    ]);
    // Who waits for it waits for the last one.
    const waited = split({ ...both, id: '7' }) as {
      readonly kind: string;
      readonly nodes: readonly FetchNode[];
    };
    expect([waited.kind, waited.nodes.map((one) => (told(one) as { id?: string }).id)]).toEqual([
      'Sequence',
      [undefined, '7'],
    ]);
  });

  it('is left as it is where one representation does for all', () => {
    const one = fetch(`${ENTITIES} { ... on Ware { duty same plain } } }`, { requires });
    expect(split(one)).toBe(one);
    const deep = [
      {
        kind: 'InlineFragment',
        typeCondition: 'Ware',
        selections: [field('maker', [field('town'), field('town__kiln_1')])],
      },
    ];
    const nested = fetch(`${ENTITIES} { ... on Ware { origin short } } }`, {
      requires: deep as FetchNode['requires'],
    });
    const { nodes } = split(nested) as { readonly nodes: readonly FetchNode[] };
    expect(nodes.map(({ requires: needed }) => JSON.stringify(needed).match(/town\w*/g))).toEqual([
      ['town'],
      ['town__kiln_1'],
    ]);
  });

  it('is changed wherever its fetches stand', () => {
    const inner = () => fetch('{ price__kiln_1 }');
    const nodes: PlanNode[] = [
      { kind: 'Sequence', nodes: [inner()] },
      { kind: 'Parallel', nodes: [inner()] },
      { kind: 'Flatten', path: ['a'], node: inner() },
      { kind: 'Condition', condition: 'c', ifClause: inner() },
      { kind: 'Condition', condition: 'c', elseClause: inner() },
      { kind: 'Defer', primary: { node: inner() }, deferred: [] },
      { kind: 'Defer', primary: {}, deferred: [{ depends: [], queryPath: [], node: inner() }] },
    ];
    const isText = (name: string) => name === 'operation' || name === 'operationDocumentNode';
    const rest = (node: PlanNode) =>
      JSON.stringify(node, (name, value: unknown) => (isText(name) ? undefined : value));
    for (const node of nodes) {
      expect(JSON.stringify(split(node)).match(/price\w*: price/g)?.length).toBeGreaterThan(0);
      expect(rest(split(node))).toBe(rest(node));
    }
    const subscription = { kind: 'Subscription', primary: inner(), rest: inner() } as unknown as PlanNode;
    const made = split(subscription) as unknown as { readonly primary: FetchNode; readonly rest: FetchNode };
    expect([made.primary, made.rest].map(({ operation }) => operation.includes(': price'))).toEqual([
      true,
      true,
    ]);
    const empty = { kind: 'QueryPlan' } as QueryPlan;
    expect(splitRequirements(empty, findNeeds)).toBe(empty);
  });

  it('sends representations under real names', () => {
    expect(withRealNames({ price__kiln_1: 7, maker: [{ town__kiln_2: null }], text: 'x__kiln_1' })).toEqual({
      price: 7,
      maker: [{ town: null }],
      text: 'x__kiln_1',
    });
    expect([
      hasOwnNames([field('a'), field('b', [field('price__kiln_1')])]),
      hasOwnNames(requires ?? []),
      hasOwnNames([field('a', [field('b')])]),
    ]).toEqual([true, true, false]);
  });
});

describe('a plan that leaves out a root field', () => {
  const refuse = (query: string, node: PlanNode | undefined) =>
    refuseUnplanned(
      operationContext({ schema: undefined as never, document: parse(query), operationName: undefined }),
      { kind: 'QueryPlan', ...(node && { node }) },
    );
  const fetch = (query: string) =>
    ({ kind: 'Fetch', serviceName: 'a', operation: query, operationDocumentNode: parse(query) }) as PlanNode;

  it('is refused by the name of the field in the answer', () => {
    const query = '{ a x: b ... { c } ...F __typename d @include(if: true) } fragment F on Query { e }';
    const all = fetch('{ a x ... on Query { c e } }');
    expect(() => refuse(query, all)).not.toThrow();
    const nodes: readonly PlanNode[] = [
      { kind: 'Sequence', nodes: [all] },
      { kind: 'Parallel', nodes: [fetch('{ a x }'), fetch('{ c e }')] },
      { kind: 'Condition', condition: 'c', ifClause: fetch('{ a x }'), elseClause: fetch('{ c e }') },
      {
        kind: 'Defer',
        primary: { node: fetch('{ a x }') },
        deferred: [{ depends: [], queryPath: [], node: fetch('{ c e }') }],
      },
      { kind: 'Subscription', primary: all } as unknown as PlanNode,
    ];
    for (const node of nodes) expect(() => refuse(query, node)).not.toThrow();
    for (const [left, name] of [
      ['{ a x c }', 'e'],
      ['{ a x e }', 'c'],
      ['{ a b c e }', 'x'],
    ] as const)
      expect(() => refuse(query, fetch(left))).toThrow(
        expect.objectContaining({
          message: `no subgraph can give what is asked of "${name}"`,
          path: [name],
          extensions: { code: 'BAD_USER_INPUT' },
        }),
      );
    expect(() => refuse('{ a }', undefined)).toThrow('"a"');
    expect(() => refuse('{ __typename ...None }', undefined)).not.toThrow();
    // What is fetched for objects is no root field.
    expect(() => refuse('{ a }', { kind: 'Flatten', path: ['b'], node: fetch('{ a }') })).toThrow('"a"');
  });
});
