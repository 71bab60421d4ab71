import SchemaBuilder from '@pothos/core';
import { graphql, Kind, parse, type FieldNode, type GraphQLResolveInfo } from 'graphql';
import { expect, it } from 'vitest';

import { neededMembers, oncePerSelection, reads, selectsAny } from './needed-members.ts';

interface Book {
  readonly title: string;
  readonly pages: number;
  readonly author: { readonly name: string };
}

const builder = new SchemaBuilder<{ DefaultFieldNullability: false }>({ defaultFieldNullability: false });
const Author = builder.objectRef<Book['author']>('Author').implement({
  fields: (t) => ({ name: t.exposeString('name'), books: t.string({ resolve: () => 'all' }) }),
});
const Book = builder.objectRef<Book>('Book').implement({
  fields: (t) => ({
    title: t.exposeString('title'),
    isLong: t.boolean({ extensions: reads<Book>('pages'), resolve: ({ pages }) => pages > 500 }),
    length: t.exposeInt('pages'),
    summary: t.string({ resolve: ({ title, pages }) => `${title}, ${pages} pages` }),
    author: t.expose('author', { type: Author }),
  }),
});
const book: Book = { title: 'Walden', pages: 352, author: { name: 'Thoreau' } };
const MEMBERS = ['title', 'pages', 'author', 'name'];
let found: (readonly string[] | undefined)[] = [];
builder.queryType({
  fields: (t) => ({
    books: t.field({
      rule: 'public',
      type: [Book],
      resolve(_source, _values, _context, info) {
        found = [[], ['author']].map((path) => {
          const isNeeded = neededMembers(info, path);
          return isNeeded && MEMBERS.filter(isNeeded);
        });
        return [book];
      },
    }),
  }),
});
const schema = builder.toSchema();

/** What a selection needs of books, and of their authors. */
async function neededBy(selection: string, fragments = '') {
  const { errors } = await graphql({ schema, source: `{ ${selection} } ${fragments}` });
  expect(errors).toBeUndefined();
  return found;
}

it('needs the member of a field without a resolver, and what a resolver says that it reads', async () => {
  expect(await neededBy('books { title }')).toEqual([['title'], undefined]);
  expect(await neededBy('books { isLong a: title b: title }')).toEqual([['title', 'pages'], undefined]);
  expect(await neededBy('books { __typename }')).toEqual([[], undefined]);
});

it('needs everything for a resolver that does not say', async () => {
  expect(await neededBy('books { summary }')).toEqual([MEMBERS, undefined]);
  expect(await neededBy('books { author { books } }')).toEqual([['author'], MEMBERS]);
});

it('needs of objects below what is selected there, by whatever name', async () => {
  expect(await neededBy('books { author { name } }')).toEqual([['author'], ['name']]);
  expect(await neededBy('books { one: author { __typename } two: author { name } }')).toEqual([
    ['author'],
    ['name'],
  ]);
});

it('looks into fragments, and takes what a condition may leave out as selected', async () => {
  const fragments = 'fragment Long on Book { ...Titled isLong } fragment Titled on Book { title }';
  expect(await neededBy('books { ...Long ... on Book { ...Titled } }', fragments)).toEqual([
    ['title', 'pages'],
    undefined,
  ]);
  expect(await neededBy('books { title @include(if: false) author { name } }')).toEqual([
    ['title', 'author'],
    ['name'],
  ]);
});

it('is found once for a selection, and anew where a condition puts other nodes together', () => {
  const [one, other] = [{}, {}] as unknown as readonly FieldNode[];
  let made = 0;
  const find = oncePerSelection(() => (made += 1));
  const createInfo = (...fieldNodes: readonly (FieldNode | undefined)[]) =>
    ({ fieldNodes }) as unknown as GraphQLResolveInfo;
  expect(
    [createInfo(one), createInfo(one), createInfo(one, other), createInfo(one, other), createInfo(other)].map(
      find,
    ),
  ).toEqual([1, 1, 2, 2, 3]);
});

it.each([
  ['{ books { title } }', false],
  ['{ books { title author { name } } }', true],
  ['{ books { n: title } }', false],
  ['{ books { title: name } }', true],
  ['{ books { ... on Book { author { ...A } } } } fragment A on Author { name }', true],
  [
    '{ books { ...B } } fragment B on Book { author { ...A ...B } ...B } fragment A on Author { books }',
    false,
  ],
  ['{ name { title } }', true],
])('tells whether %s selects a field of a name somewhere below: %s', (query, expected) => {
  const { definitions } = parse(query);
  const [operation] = definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation');
  const fieldNodes = operation.selectionSet.selections as readonly FieldNode[];
  const fragments = Object.fromEntries(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  expect(selectsAny({ fieldNodes, fragments }, new Set(['name']))).toBe(expected);
});
