import { graphql, printSchema } from 'graphql';
import { expect, it } from 'vitest';

import { anonymousCaller } from '../../access/caller.ts';
import { createSubgraphBuilder } from './builder.ts';
import { isNullOnlyOnError } from './nullable-roots-plugin.ts';
import type { RuleContext } from './rule-plugin.ts';
import { subgraphSchema } from './subgraph-schema.ts';

interface Thing {
  readonly id: string;
  readonly name: string;
}

const things: readonly Thing[] = [
  { id: '1', name: 'one' },
  { id: '2', name: 'two' },
];

function makeSchema() {
  const { builder, connection } = createSubgraphBuilder<RuleContext>();
  const Thing = builder.objectRef<Thing>('Thing').implement({
    description: 'A thing.',
    fields: (t) => ({ id: t.exposeID('id'), name: t.exposeString('name') }),
  });
  builder.asEntity(Thing, {
    key: builder.selection<{ id: string }>('id'),
    resolveReference: ({ id }) => things.find((thing) => thing.id === id) ?? null,
  });
  interface Page {
    readonly items: readonly Thing[];
    readonly hasNextPage: boolean;
    readonly after: string | null;
  }
  const Things = connection<Thing, Page>(Thing, {
    name: 'Thing',
    readItems: ({ items }) => items,
    readCount: async ({ items }) => items.length + 5,
  });
  const Entries = connection<Thing, Page>(Thing, {
    name: 'Entry',
    plural: 'entries',
    order: 'by name',
    readItems: ({ items }) => items,
    formatCursor: ({ name }) => name,
  });
  const args = builder.args((t) => ({ after: t.string() }));
  const createPage = (items: readonly Thing[], after: string | null | undefined): Page => ({
    items,
    hasNextPage: items.length > 0,
    after: after ?? null,
  });
  builder.queryFields((t) => ({
    things: t.field({
      rule: 'public',
      type: Things,
      args,
      resolve: (_, { after }) => createPage(things, after),
    }),
    entries: t.field({
      rule: 'public',
      type: Entries,
      args,
      resolve: (_, { after }) => createPage(things, after),
    }),
    none: t.field({ rule: 'public', type: Entries, resolve: () => createPage([], null) }),
    at: t.field({
      rule: 'public',
      type: 'DateTime',
      args: { given: t.arg({ type: 'JSON' }) },
      resolve: () => new Date(0),
    }),
    maybe: t.string({ rule: 'public', nullable: true, resolve: () => null }),
  }));
  builder.mutationField('change', (t) => t.boolean({ rule: 'public', resolve: () => true }));
  builder.subscriptionField('ticks', (t) =>
    t.int({
      rule: 'public',
      async *subscribe() {
        yield 1;
      },
      resolve: (tick) => tick,
    }),
  );
  return subgraphSchema(builder);
}

const schema = makeSchema();
const contextValue: RuleContext = { caller: anonymousCaller('t', null), authMode: 'open' };
const ask = (source: string) => graphql({ schema, source, contextValue });

it('describes what all subgraphs share, and what a connection is made of', async () => {
  await expect(printSchema(schema)).toMatchFileSnapshot('builder.graphql.txt');
});

it('answers pages with the cursors of their items', async () => {
  const page =
    'edges { cursor node { name } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }';
  const { data, errors } = await ask(
    `{ things { totalCount ${page} } entries(after: "zero") { ${page} } none { ${page} } }`,
  );
  expect(errors).toBeUndefined();
  const edges = (cursors: readonly string[]) =>
    things.map(({ name }, index) => ({ cursor: cursors[index], node: { name } }));
  expect(data).toEqual({
    things: {
      totalCount: 7,
      edges: edges(['1', '2']),
      pageInfo: { hasNextPage: true, hasPreviousPage: false, startCursor: '1', endCursor: '2' },
    },
    entries: {
      edges: edges(['one', 'two']),
      pageInfo: { hasNextPage: true, hasPreviousPage: true, startCursor: 'one', endCursor: 'two' },
    },
    none: {
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    },
  });
});

it('finds entities by their keys, and prints its schema for routers', async () => {
  const { data, errors } = await ask(
    '{ _entities(representations: [{ __typename: "Thing", id: "2" }]) { ... on Thing { name } } _service { sdl } }',
  );
  expect(errors).toBeUndefined();
  expect(data).toMatchObject({ _entities: [{ name: 'two' }] });
  const { sdl } = Object(data?.['_service']) as { readonly sdl: string };
  expect(sdl).toContain('@link(url: "https://specs.apollo.dev/federation/v2.6"');
  expect(sdl).toMatch(/type Thing\s+@key\(fields: "id"\)/);
  expect(sdl).toMatch(/type PageInfo\s+@shareable/);
  expect(sdl).not.toContain('_service');
});

it('marks root fields that are null only with an error', () => {
  const fields = schema.getQueryType()?.getFields() ?? {};
  const marked = Object.values(fields).filter((field) => isNullOnlyOnError(field));
  expect(marked.map(({ name }) => name)).toEqual(['at', 'entries', 'none', 'things']);
});
