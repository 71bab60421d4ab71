import { composeServices } from '@apollo/composition';
import { type ExecutionResult, GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { createDocuments } from '../../../platform/graphql/operations/documents.ts';
import type { SubgraphLink, SubgraphRequest } from '../../../platform/graphql/operations/subgraph.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { findUnavailable } from '../../request/errors.ts';
import { createExecution } from '../execution.ts';
import { createPlanner } from '../plans.ts';
import { compileRepresentation } from './representations.ts';

const LINK = `extend schema @link(url: "https://specs.apollo.dev/federation/v2.6", import: ["@key", "@shareable"])`;
const subgraphs = {
  shop: `${LINK}
    union Found = Product | Shelf
    type Product @key(fields: "id") { id: ID! name: String! twin: Product inside: [Found!] }
    type Shelf @key(fields: "id") { id: ID! label: String }
    type Slot @key(fields: "at { row side }") { at: Spot! }
    type Spot @shareable { row: Int! side: String! }
    type Facts { int: Int float: Float boolean: Boolean id: ID string: String }
    type Query { found: [Found!]! products: [Product!]! best: [Product!]! facts: Facts product(id: ID!): Product slots: [Slot!]! }
    type Mutation { restock: Product! sell: Product! }`,
  stock: `${LINK}
    type Product @key(fields: "id") { id: ID! count: Int! note: String places: [Place!] }
    type Slot @key(fields: "at { row side }") { at: Spot! free: Boolean! }
    type Spot @shareable { row: Int! side: String! }
    type Place { code: String! }
    type Mutation { count: Int }`,
};
const composed = composeServices(
  Object.entries(subgraphs).map(([name, sdl]) => ({ name, url: `http://${name}/`, typeDefs: parse(sdl) })),
);
const planner = createPlanner(composed.supergraphSdl ?? '');

type Answer = (request: SubgraphRequest) => ExecutionResult | Promise<ExecutionResult>;
interface Representation {
  readonly __typename: string;
  readonly id: string;
}

/** Runs an operation over two subgraphs that answer as the test says; `asked` are the representations of each fetch. */
async function run(query: string, answers: { shop: Answer; stock: Answer }, variables = {}) {
  const asked: string[][] = [];
  const createLink = (answer: Answer): SubgraphLink => ({
    async execute(request) {
      const { representations } = request.variables as { representations?: Representation[] };
      if (representations !== undefined) asked.push(representations.map(({ id }) => id));
      return await answer(request);
    },
    subscribe: () => Promise.reject(new Error('not here')),
    check: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
  const links = { shop: createLink(answers.shop), stock: createLink(answers.stock) };
  const documents = createDocuments({ schema: planner.apiSchema });
  const execution = createExecution({ planner, documents, links, logger: silentLogger() });
  const context = { caller: anonymousCaller('trace', null), signal: new AbortController().signal };
  const result = await execution.execute({ query, variables, context });
  return { asked, whole: result, result: JSON.parse(JSON.stringify(result)) as ExecutionResult };
}

const product = (id: string, more = {}) => ({ __typename: 'Product', id, ...more });

/** Answers each representation with what a function makes of its id. */
function entities(make: (id: string) => object | null): Answer {
  return ({ variables }) => {
    const { representations } = variables as { representations: Representation[] };
    return { data: { _entities: representations.map(({ id }) => make(id)) } };
  };
}

describe('a fetch of entities', () => {
  it('asks for equal representations once, and fills every place', async () => {
    const shop = () => ({ data: { products: ['a', 'b', 'a', 'a'].map((id) => product(id)) } });
    const stock = entities((id) => ({ places: [{ code: `${id}1` }], count: id.length }));
    const { asked, result } = await run('{ products { places { code } count } }', { shop, stock });
    expect(asked).toEqual([['a', 'b']]);
    const [a, b] = ['a', 'b'].map((id) => ({ places: [{ code: `${id}1` }], count: 1 }));
    expect(result).toEqual({ data: { products: [a, b, a, a] } });
  });

  it('asks once for equal keys that are objects, and for each of those that differ within', async () => {
    const slot = (row: number, side: string) => ({ __typename: 'Slot', at: { row, side } });
    const shop = () => ({ data: { slots: [slot(1, 'a'), slot(1, 'b'), slot(1, 'a')] } });
    const asked: unknown[] = [];
    const stock: Answer = ({ variables }) => {
      const { representations } = variables as { representations: { at: { side: string } }[] };
      asked.push(...representations.map(({ at }) => at));
      return { data: { _entities: representations.map(({ at }) => ({ free: at.side === 'a' })) } };
    };
    const { result } = await run('{ slots { free } }', { shop, stock });
    expect(asked).toEqual([
      { row: 1, side: 'a' },
      { row: 1, side: 'b' },
    ]);
    expect(result).toEqual({ data: { slots: [{ free: true }, { free: false }, { free: true }] } });
  });

  it('asks nobody twice in one query, also where the second asks before the first is answered', async () => {
    const shop = () => ({
      data: { products: [product('a'), product('b')], best: [product('b'), product('c')] },
    });
    const stock = entities((id) => ({ count: id.codePointAt(0) }));
    const { asked, result } = await run('{ products { count } best { count } }', { shop, stock });
    expect(asked).toHaveLength(2);
    expect(asked.flat().toSorted((one, other) => one.localeCompare(other))).toEqual(['a', 'b', 'c']);
    expect(result.data).toEqual({
      products: [{ count: 97 }, { count: 98 }],
      best: [{ count: 98 }, { count: 99 }],
    });
  });

  it('asks once more for itself when another fetch asked in vain', async () => {
    const shop = () => ({ data: { products: [product('a')], best: [product('a')] } });
    let calls = 0;
    const stock: Answer = (request) => {
      calls += 1;
      return calls === 1 ? { errors: [new GraphQLError('busy')] } : entities(() => ({ note: 'n' }))(request);
    };
    const { asked, result } = await run('{ products { note } best { note } }', { shop, stock });
    expect(asked).toEqual([['a'], ['a']]);
    expect(result.errors).toMatchObject([{ message: 'busy' }]);
    const { products, best } = result.data as Record<string, [{ note: string | null }]>;
    expect(new Set([products?.[0].note, best?.[0].note])).toEqual(new Set(['n', null]));
  });

  it('reads anew after each root field of a mutation', async () => {
    let count = 0;
    const shop: Answer = ({ query }) => ({
      data: query.includes('restock') ? { restock: product('a') } : { sell: product('a') },
    });
    const stock: Answer = (request) => {
      count += 1;
      return request.query.startsWith('mutation')
        ? { data: { count } }
        : entities(() => ({ count }))(request);
    };
    const query = 'mutation { restock { count } count sell { count } }';
    const { asked, result } = await run(query, { shop, stock });
    expect(asked).toEqual([['a'], ['a']]);
    const { restock, sell } = result.data as Record<string, { count: number }>;
    expect(restock?.count).not.toBe(sell?.count);
  });

  it('names the entity that an error is about, also behind a type condition', async () => {
    const found = [
      { __typename: 'Shelf', id: 's' },
      product('a'),
      { __typename: 'Shelf', id: 't' },
      product('b'),
    ];
    const stock: Answer = () => ({
      data: { _entities: [{ places: null }, { places: null }] },
      errors: [new GraphQLError('no places', { path: ['_entities', 1, 'places'] })],
    });
    const query = '{ found { ... on Product { places { code } } } }';
    const { result } = await run(query, { shop: () => ({ data: { found } }), stock });
    expect(result.errors).toMatchObject([{ message: 'no places', path: ['found', 3, 'places'] }]);
  });

  it('tells an error at every place of the entity that it is about', async () => {
    const shop = () => ({
      data: { products: [product('a', { twin: product('b') }), product('b', { twin: null })] },
    });
    const stock: Answer = ({ variables }) => {
      const { representations } = variables as { representations: Representation[] };
      const at = representations.findIndex(({ id }) => id === 'b');
      const error = new GraphQLError('no places', {
        path: ['_entities', at, 'places'],
        extensions: { code: 'X' },
      });
      return {
        data: { _entities: representations.map(() => ({ places: null })) },
        errors: at < 0 ? [] : [error],
      };
    };
    const { result } = await run('{ products { places { code } twin { places { code } } } }', {
      shop,
      stock,
    });
    expect(result.errors?.map(({ path }) => path?.join('.')).toSorted()).toEqual([
      'products.0.twin.places',
      'products.1.places',
    ]);
    expect(result.errors?.[0]?.extensions).toEqual({ code: 'X' });
  });

  it.each([
    [{ product: null, facts: null }, ['product', 'facts'], true],
    [{ product: null, facts: null }, ['product'], false],
    [{ product: null, facts: { int: 1 } }, ['product'], false],
    [{ product: null, facts: { int: 1 } }, [], false],
  ])(
    'of root fields that is answered %j with errors about %j is unavailable: %s',
    async (data, failed, expected) => {
      const errors = failed.map(
        (name) =>
          new GraphQLError('away', { path: [name], extensions: { code: 'UNAVAILABLE', retryAfter: 7 } }),
      );
      const shop = () => ({ data, ...(errors.length > 0 && { errors }) });
      const { whole } = await run('{ product(id: "1") { name } facts { int } }', {
        shop,
        stock: () => ({ data: {} }),
      });
      const { data: answered, errors: told } = whole;
      const unavailable = findUnavailable({ data: answered, errors: told?.map((error) => error.toJSON()) });
      expect(unavailable !== null).toBe(expected);
    },
  );

  it('masks what a subgraph that breaks the protocol did, and keeps what others answered', async () => {
    const shop = () => ({ data: { products: [product('a', { name: 'one' })] } });
    const stock = () => ({ data: { _entities: [] } });
    const { result } = await run('{ products { name places { code } } }', { shop, stock });
    expect(result.data).toEqual({ products: [{ name: 'one', places: null }] });
    expect(result.errors).toMatchObject([{ message: 'internal error', extensions: { code: 'INTERNAL' } }]);
  });
});

describe('what breaks the protocol', () => {
  const products = () => ({ data: { products: [product('a', { name: 'one' })] } });
  const internal = [{ message: 'internal error', extensions: { code: 'INTERNAL' } }];

  it.each([
    ['entities that are no list', () => ({ data: { _entities: {} } })],
    ['a link that throws', () => Promise.reject(new Error('password=hunter2'))],
  ] as [string, Answer][])('is masked: %s', async (_, stock) => {
    const { result } = await run('{ products { name note } }', { shop: products, stock });
    expect(result.data).toEqual({ products: [{ name: 'one', note: null }] });
    expect(result.errors).toMatchObject(internal);
    expect(JSON.stringify(result)).not.toContain('hunter2');
  });

  it.each([
    ['data that is a list', () => ({ data: [] as never })],
    ['data that is a text', () => ({ data: 'text' as never })],
    ['a link that throws', () => Promise.reject(new Error('password=hunter2'))],
  ] as [string, Answer][])('is masked for root fields: %s', async (_, shop) => {
    const { result } = await run('{ facts { int } }', { shop, stock: () => ({ data: null }) });
    expect(result.data ?? { facts: null }).toEqual({ facts: null });
    expect(result.errors).toMatchObject(internal);
  });

  it('is told at the place of the fetch where an error names no entity', async () => {
    const errors = [new GraphQLError('all of it', { path: ['_entities'] }), new GraphQLError('anything')];
    const { result } = await run('{ products { note } }', {
      shop: products,
      stock: () => ({ data: null, errors }),
    });
    expect(result.errors?.map(({ message, path }) => [message, path?.join('.')])).toEqual([
      ['all of it', 'products.@._entities'],
      ['anything', undefined],
    ]);
  });
});

describe('a representation', () => {
  const field = (name: string, selections?: readonly object[]) => ({ kind: 'Field', name, selections });
  const on = (typeCondition: string | undefined, ...names: readonly string[]) => ({
    kind: 'InlineFragment',
    typeCondition,
    selections: names.map((name) => field(name)),
  });
  const compile = (...selections: readonly object[]) =>
    compileRepresentation(selections as never, planner.apiSchema);

  it('has the part that is for the type of an object, where all of it is there', () => {
    const represent = compile(on('Product', '__typename', 'id'), on('Shelf', '__typename', 'label'));
    expect(represent({ __typename: 'Product', id: 'a', label: 'l' })).toEqual({
      __typename: 'Product',
      id: 'a',
    });
    expect(represent({ __typename: 'Shelf', id: 'a', label: 'l' })).toEqual({
      __typename: 'Shelf',
      label: 'l',
    });
    expect(represent({ __typename: 'Facts', id: 'a' })).toEqual({});
    expect(represent({ __typename: 'Product' })).toEqual({});
    expect(represent(null)).toBeNull();
    const only = compile(on('Product', '__typename', 'id'));
    expect([only({ __typename: 'Product', id: 'a' }), only({ __typename: 'Shelf' }), only(null)]).toEqual([
      { __typename: 'Product', id: 'a' },
      {},
      null,
    ]);
    expect(compile(on(undefined, 'id'))({ __typename: 'Product', id: 'a' })).toEqual({});
  });

  it('is for every type under an abstract one, and for no other', () => {
    const represent = compile(on('Found', '__typename'));
    for (const name of ['Product', 'Shelf'])
      expect(represent({ __typename: name })).toEqual({ __typename: name });
    expect(represent({ __typename: 'Facts' })).toEqual({});
  });

  it('has objects and lists within, and is none where a part is missing', () => {
    const represent = compile(field('__typename'), field('at', [field('row')]));
    const of = (at: unknown) => represent({ __typename: 'Slot', at });
    expect(of({ row: 1, side: 'a' })).toEqual({ __typename: 'Slot', at: { row: 1 } });
    expect(of([{ row: 1 }, null])).toEqual({ __typename: 'Slot', at: [{ row: 1 }, null] });
    expect(of(null)).toEqual({ __typename: 'Slot', at: null });
    expect([of(undefined), represent(null)]).toEqual([null, null]);
    const inherited = compile(field('toString'));
    expect([inherited({ toString: 's' }), inherited({})]).toEqual([{ toString: 's' }, null]);
  });
});

describe('the shape of an answer', () => {
  const nothing = () => ({ data: null });

  it('has members whose names every object inherits only where they were received', async () => {
    const shop = () =>
      JSON.parse(
        '{"data":{"products":[{"__proto__":"p","constructor":"c","toString":"s"}]}}',
      ) as ExecutionResult;
    const query = '{ products { __proto__: name constructor: name toString: name } }';
    const { result } = await run(query, { shop, stock: nothing });
    expect(JSON.stringify(result)).toBe(
      '{"data":{"products":[{"__proto__":"p","constructor":"c","toString":"s"}]}}',
    );
    const without = await run('{ products { toString: name } }', {
      shop: () => ({ data: { products: [{}] } }),
      stock: nothing,
    });
    expect(without.result.data).toBeNull();
  });

  it('is right beyond the number of variants that are compiled', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `v${index}`);
    const fields = names.map((name) => `${name}: name @include(if: $${name})`);
    const query = `query (${names.map((name) => `$${name}: Boolean!`).join(' ')}) { products { ${fields.join(' ')} } }`;
    for (let vector = 0; vector < 128; vector += 1) {
      const variables = Object.fromEntries(names.map((name, bit) => [name, ((vector >> bit) & 1) === 1]));
      const kept = Object.fromEntries(
        names.filter((name) => variables[name] === true).map((name) => [name, 'n']),
      );
      const shop = () => ({ data: { products: [{ ...kept }] } });
      const { result } = await run(query, { shop, stock: nothing }, variables);
      expect(result).toEqual({ data: { products: [kept] } });
    }
  });

  it.each([
    ['int', [7]],
    ['float', [7, 7.5]],
    ['boolean', [true, false]],
    ['id', ['text', '', 7]],
    ['string', ['text', '']],
  ])('has of %s only values of its kind', async (name, fitting: readonly unknown[]) => {
    for (const value of ['text', '', 7, 7.5, true, false, {}, [], 1e21]) {
      const shop = () => ({ data: { facts: { [name]: value } } });
      const { result } = await run(`{ facts { ${name} } }`, { shop, stock: nothing });
      const fits = fitting.includes(value) || (name === 'float' && value === 1e21);
      expect([value, result.data]).toEqual([value, { facts: { [name]: fits ? value : null } }]);
      expect([value, result.extensions === undefined]).toEqual([value, fits]);
    }
    const { result } = await run(`{ facts { ${name} } }`, {
      shop: () => ({ data: { facts: {} } }),
      stock: nothing,
    });
    expect(result).toEqual({ data: { facts: { [name]: null } } });
  });

  it('has no object where something else was received', async () => {
    for (const value of [[], [{ int: 7 }], 7, 'text', true]) {
      const shop = () => ({ data: { facts: value } });
      const { result } = await run('{ facts { int } }', { shop, stock: nothing });
      expect([value, result.data]).toEqual([value, { facts: null }]);
    }
  });

  it('fails the field of a value of the wrong shape at its path, and no other', async () => {
    const shop = () => ({
      data: {
        products: [product('a', { name: 'one', twin: 42 }), product('b', { name: 'two', inside: {} })],
        facts: [],
        best: [product('c')],
      },
    });
    const stock = entities((id) => (id === 'c' ? (42 as never) : { places: [7], count: 1 }));
    const query =
      '{ products { name twin { name count } inside { __typename } note } facts { int } best { id note } }';
    const { result } = await run(query, { shop, stock });
    expect(result.data).toEqual({
      products: [
        { name: 'one', twin: null, inside: null, note: null },
        { name: 'two', twin: null, inside: null, note: null },
      ],
      facts: null,
      best: [{ id: 'c', note: null }],
    });
    const at = result.errors?.map(({ path }) => path?.join('.')).toSorted();
    expect(at).toEqual(['best.0', 'facts', 'products.0.twin', 'products.1.inside']);
    const nested = await run('{ products { places { code } } }', { shop, stock });
    expect(nested.result.data).toEqual({ products: [{ places: null }, { places: null }] });
    expect(nested.result.errors?.map(({ path }) => path)).toEqual([
      ['products', 0, 'places', 0],
      ['products', 1, 'places', 0],
    ]);
  });

  it.each(['__proto__', 'constructor', 'toString'])('takes a variable of the name %s', async (name) => {
    const seen: unknown[] = [];
    const shop: Answer = ({ variables }) => {
      seen.push(JSON.stringify(variables));
      return { data: { product: product('a', { name: 'one' }) } };
    };
    const query = `query ($${name}: ID!, $skip: Boolean!) { product(id: $${name}) { name @skip(if: $skip) } }`;
    const variables = JSON.parse(`{ "${name}": "a", "skip": false }`) as Record<string, unknown>;
    const { result } = await run(query, { shop, stock: nothing }, variables);
    expect(result).toEqual({ data: { product: { name: 'one' } } });
    expect(seen[0]).toContain(`"${name}":"a"`);
    const skips = `query ($${name}: Boolean!) { product(id: "a") { name @skip(if: $${name}) id } }`;
    const skipped = await run(skips, { shop, stock: nothing }, JSON.parse(`{ "${name}": true }`) as object);
    expect(skipped.result).toEqual({ data: { product: { id: 'a' } } });
  });

  it("says what is wrong with values that break the schema in Apollo's words", async () => {
    const shop = () => ({ data: { products: [product('a', { name: 7, twin: 'text' })] } });
    const { result } = await run('{ products { name } }', { shop, stock: nothing });
    expect(result).toEqual({
      data: null,
      extensions: {
        valueCompletion: [
          {
            message: 'Invalid value found for field Product.name.',
            path: ['products', 0, 'name'],
            extensions: { code: 'INVALID_GRAPHQL' },
          },
        ],
      },
    });
  });
});
