import { buildSubgraphSchema } from '@apollo/subgraph';
import { buildSchema, execute, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';

import { createCompiledExecutor } from '../../../platform/graphql/execution/compiled-executor.ts';
import { extent, isWhole } from '../../../test/kit/extent.ts';
import { createLocalSubject, runLocalCampaign } from './local-campaign.ts';
import { localSubjects } from './subjects.ts';

describe('the executor of subgraphs in this process', () => {
  it("executes random operations over Kiln's two schemas and others as graphql-js does", async () => {
    const cases = extent(150, 2_000);
    const outcome = await runLocalCampaign({ subjects: localSubjects(), cases, seed: 20261122 });
    expect(outcome.differences).toEqual([]);
    expect(outcome.withErrors).toBeGreaterThan(cases / 4);
    expect(outcome.calls).toBeGreaterThan(cases * 2.5);
  });
});

// It proves nothing of the product.
describe.runIf(isWhole)('the comparison with graphql-js', () => {
  it('finds an executor that calls a resolver too often, and shows the smallest operation that tells', async () => {
    const schema = buildSchema('type Query { a: A b: Int } type A { c: Int d: Int }');
    const subject = createLocalSubject('twice', schema);
    const twice = {
      ...subject,
      executor: {
        execute(request: Parameters<typeof subject.executor.execute>[0]) {
          const result = subject.executor.execute(request);
          const { calls } = request.contextValue as { calls: string[] };
          const again = calls.find((call) => call.includes('"a"'));
          if (again !== undefined) calls.push(again);
          return result;
        },
      },
    };
    const { differences } = await runLocalCampaign({ subjects: [twice], cases: 200, seed: 2 });
    expect(differences[0]).toMatch(/\{\n {2}(\w+: )?a \{\n {4}\w+\n {2}\}\n\}/);
  });
});

describe('the entities of a schema that buildSubgraphSchema made', () => {
  it('are answered at once where nothing has to be waited for', async () => {
    const typeDefs = parse('type Query { a: Int } type Task @key(fields: "id") { id: ID! name: String }');
    const __resolveReference = ({ id }: { readonly id: string }) => ({ id, name: `task ${id}` });
    const schema = buildSubgraphSchema({ typeDefs, resolvers: { Task: { __resolveReference } } });
    const request = {
      document: parse(
        'query ($representations: [_Any!]!) { _entities(representations: $representations) { __typename ... on Task { name } } }',
      ),
      variableValues: { representations: [{ __typename: 'Task', id: '1' }] },
      contextValue: {},
    };
    const ours = createCompiledExecutor(schema).execute(request);
    expect(ours).not.toBeInstanceOf(Promise);
    expect(ours).toEqual({ data: { _entities: [{ __typename: 'Task', name: 'task 1' }] } });
    expect(ours).toEqual(await execute({ schema, ...request }));
  });
});

describe('a compiled operation', () => {
  const schema = buildSchema(`
    enum Mood { GLAD SAD }
    input Filter { limit: Int! = 3 mood: Mood }
    type Query { echo(int: Int float: Float id: ID text: String flag: Boolean mood: Mood list: [[Int!]] filter: Filter need: Int! = 4): String }
    type Mutation { first: Int second: Int }
    type Subscription { ticks: Int }
  `);
  const executor = createCompiledExecutor(schema);
  const echo = { echo: (given: object) => JSON.stringify(given) };

  interface Request {
    readonly query: string;
    readonly variables?: Record<string, unknown>;
    readonly rootValue?: object;
    readonly operationName?: string;
  }

  /** What is answered otherwise than graphql-js answers it. */
  async function differences(requests: readonly Request[]) {
    const found: object[] = [];
    for (const { query, variables = {}, rootValue = echo, operationName = null } of requests) {
      const document = parse(query);
      expect(validate(schema, document)).toEqual([]);
      const request = { document, variableValues: variables, contextValue: {}, rootValue, operationName };
      const [ours, theirs] = [await executor.execute(request), await execute({ schema, ...request })];
      if (JSON.stringify(ours) !== JSON.stringify(theirs)) found.push({ query, variables, ours, theirs });
    }
    return found;
  }

  const types = ['Int', 'Float', 'ID', 'String', 'Boolean', 'Mood', '[[Int!]]', 'Filter', 'Int!'] as const;
  const names = ['int', 'float', 'id', 'text', 'flag', 'mood', 'list', 'filter', 'need'];
  const values: readonly unknown[] = [
    undefined,
    null,
    1,
    -1,
    1.5,
    2 ** 31,
    Number.NaN,
    '',
    'GLAD',
    'x',
    true,
    [1],
    [[1], [2]],
    [[null]],
    [[1], 2],
    {},
    { limit: 1, mood: 'SAD' },
    { limit: null },
    { other: 1 },
  ];

  it.each(types.map((type, index) => [type, names[index] ?? ''] as const))(
    'takes variables of type %s',
    async (type, name) => {
      const requests = values.map((v) => ({
        query: `query ($v: ${type}) { echo(${name}: $v) }`,
        variables: v === undefined ? {} : { v },
      }));
      expect(await differences(requests)).toEqual([]);
    },
  );

  it('takes defaults of variables and arguments', async () => {
    const requests = [
      { query: 'query ($a: Int = 7, $f: Filter = { mood: GLAD }) { echo(int: $a, filter: $f) }' },
      { query: 'query ($a: Int) { echo(int: $a) }', variables: { a: null } },
      { query: 'query ($n: Int = 5) { echo(need: $n) }' },
      { query: 'query ($n: Int = 5) { echo(need: $n) }', variables: { n: null } },
    ];
    expect(await differences(requests)).toEqual([]);
  });

  it('executes the operation that is named, and refuses what is not there', async () => {
    const query = 'query A { a: echo } query B { b: echo } mutation C { first second }';
    const requests = [
      { query, operationName: 'B' },
      { query, operationName: 'C', rootValue: { first: 1, second: () => Promise.resolve(2) } },
      { query, operationName: 'D' },
      { query },
    ];
    expect(await differences(requests)).toEqual([]);
  });

  it("runs a mutation's fields one after the other", async () => {
    const log: string[] = [];
    const later = (name: string) => async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      return 1;
    };
    const document = parse('mutation { first second }');
    const rootValue = { first: later('first'), second: later('second') };
    await executor.execute({ document, variableValues: {}, contextValue: {}, rootValue });
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends']);
  });

  it('is right beyond the number of variants that are compiled', async () => {
    const flags = Array.from({ length: 7 }, (_, index) => `f${index}`);
    const fields = flags.map((name) => `${name}: __typename @include(if: $${name})`);
    const query = `query (${flags.map((name) => `$${name}: Boolean!`).join(' ')}) { ${fields.join(' ')} echo }`;
    const requests = Array.from({ length: 128 }, (_, vector) => ({
      query,
      variables: Object.fromEntries(flags.map((name, bit) => [name, ((vector >> bit) & 1) === 1])),
    }));
    expect(await differences(requests)).toEqual([]);
  });

  it('hands each call arguments of its own', async () => {
    const list = buildSchema('type Query { items: [Item] } type Item { echo(of: [Int]): Int }');
    const seen: object[] = [];
    const item = { echo: (given: Record<string, unknown>) => (seen.push(given), (given['of'] = null), 1) };
    const request = { document: parse('{ items { echo(of: [1]) } }'), variableValues: {}, contextValue: {} };
    await createCompiledExecutor(list).execute({ ...request, rootValue: { items: [item, item] } });
    expect(seen).toHaveLength(2);
    expect(seen[0]).not.toBe(seen[1]);
  });

  it('answers introspection', async () => {
    const query = '{ __schema { queryType { name } } __type(name: "Filter") { kind } }';
    expect(await differences([{ query }])).toEqual([]);
  });
});
