import { type ExecutionResult, GraphQLError, Kind } from 'graphql';
import { describe, expect, it } from 'vitest';

import type { Run } from '../compiled/run.ts';
import { answerParts } from './answer-parts.ts';

const DOCUMENT = { kind: Kind.DOCUMENT, definitions: [] } as const;
const at = (...path: (string | number)[]) => new GraphQLError(path.join('.'), { path });

/** Of objects the members of these names alone, also inside lists and objects; `names` of the root are an object. */
type Names = { readonly [name: string]: Names | true };
function pick(data: unknown, names: Names | true): unknown {
  if (names === true || typeof data !== 'object' || data === null) return data;
  if (Array.isArray(data)) return data.map((one) => pick(one, names));
  const own = Object.entries(names).filter(([name]) => Object.hasOwn(data, name));
  return Object.fromEntries(
    own.map(([name, inner]) => [name, pick((data as Record<string, unknown>)[name], inner)]),
  );
}
const shaping =
  (names: Names, more: Partial<ExecutionResult> = {}) =>
  ({ data }: { readonly data: unknown }) => ({
    data: pick(data, names) as ExecutionResult['data'] & object,
    ...more,
  });

interface PartOf {
  readonly key: string;
  readonly path: readonly string[];
  readonly names: Names;
  readonly parent?: string;
  readonly label?: string;
  /** Errors of its own fetches; absent: it has none. */
  readonly errors?: readonly GraphQLError[];
  readonly more?: Partial<ExecutionResult>;
}

/** Every message of an answer, errors by their messages. */
async function told(
  data: object | null,
  options: {
    readonly first: Names;
    readonly errors?: readonly GraphQLError[];
    readonly parts: readonly PartOf[];
  },
) {
  const { first, errors = [], parts } = options;
  const run = { data, errors: [...errors], variables: {}, isShared: false } as unknown as Run;
  const createRun = (key: string) => {
    const part = parts.find((one) => one.key === key);
    return part?.errors === undefined
      ? undefined
      : Promise.resolve({ data, errors: part.errors } as unknown as Run);
  };
  const answer = answerParts({
    run,
    runs: { of: createRun } as never,
    shapeFirst: shaping(first),
    parts: parts.map(({ key, path, names, parent = null, label, more }) => {
      const shape = shaping(names, more) as never;
      return { key, path, parent, label, document: DOCUMENT, shape };
    }),
  });
  const messages = await Array.fromAsync(answer);
  return JSON.parse(JSON.stringify(messages), (name, value: unknown) =>
    name === 'errors' ? (value as { message: string }[]).map(({ message }) => message) : value,
  ) as unknown;
}

const ITEM = { key: 'p', path: ['item'], names: { item: { b: true } } } as const;

describe('an answer in parts', () => {
  it('gives what is first, then each part with its label and the errors that concern it', async () => {
    const data = { item: { a: 1, b: null }, c: null };
    const part = { ...ITEM, label: 'l', errors: [at('item', 'b')] };
    const later = at('item', 'b', 'x');
    expect(
      await told(data, { first: { item: { a: true }, c: true }, errors: [at('c'), later], parts: [part] }),
    ).toEqual([
      { errors: ['c'], data: { item: { a: 1 }, c: null }, hasNext: true },
      {
        incremental: [{ errors: ['item.b', 'item.b.x'], data: { b: null }, path: ['item'], label: 'l' }],
        hasNext: false,
      },
    ]);
  });

  it('tells every error at once where nothing follows', async () => {
    const errors = [at('item', 'b'), new GraphQLError('homeless')];
    const parts = [ITEM];
    expect(
      await told({ item: null }, { first: { item: { a: true } }, errors: [at('other', 'b')], parts }),
    ).toEqual([{ errors: ['other.b'], data: { item: null }, hasNext: false }]);
    expect(await told(null, { first: {}, errors, parts })).toEqual([
      { errors: ['item.b', 'homeless'], data: null, hasNext: false },
    ]);
  });

  it('gives a part at each place of its parent, each with its own errors, and the homeless ones once', async () => {
    const data = { items: [{ a: 1, b: 1 }, null, { a: 2, b: null }] };
    const part = {
      key: 'p',
      path: ['items'],
      names: { items: { b: true } },
      errors: [at('items', 2, 'b'), new GraphQLError('homeless')],
    } as const;
    expect(await told(data, { first: { items: { a: true } }, parts: [part] })).toEqual([
      { data: { items: [{ a: 1 }, null, { a: 2 }] }, hasNext: true },
      {
        incremental: [
          { errors: ['homeless'], data: { b: 1 }, path: ['items', 0] },
          { errors: ['items.2.b'], data: { b: null }, path: ['items', 2] },
        ],
        hasNext: false,
      },
    ]);
  });

  it('tells an error of what leads to several places at each of them', async () => {
    const data = { items: [{ b: 1 }, { b: 2 }] };
    const part = { key: 'p', path: ['items'], names: { items: { b: true } }, errors: [at('items')] } as const;
    expect(await told(data, { first: { items: {} }, parts: [part] })).toEqual([
      { data: { items: [{}, {}] }, hasNext: true },
      {
        incremental: [
          { errors: ['items'], data: { b: 1 }, path: ['items', 0] },
          { errors: ['items'], data: { b: 2 }, path: ['items', 1] },
        ],
        hasNext: false,
      },
    ]);
  });

  it('tells an error that came with what is first once, with the first part that it concerns', async () => {
    const data = { item: { a: 1, b: null, c: null } };
    const other = { key: 'r', path: ['item'], names: { item: { c: true } } } as const;
    const parts = [ITEM, { ...ITEM, key: 'q', label: 'again' }, other];
    const errors = [at('item', 'b'), at('item', 'c')];
    expect(await told(data, { first: { item: { a: true } }, errors, parts })).toEqual([
      { data: { item: { a: 1 } }, hasNext: true },
      { incremental: [{ errors: ['item.b'], data: { b: null }, path: ['item'] }], hasNext: true },
      { incremental: [{ data: { b: null }, path: ['item'], label: 'again' }], hasNext: true },
      { incremental: [{ errors: ['item.c'], data: { c: null }, path: ['item'] }], hasNext: false },
    ]);
  });

  it('gives what is inside of a part after it', async () => {
    const data = { item: { a: 1, b: { c: 1 } } };
    const inner = {
      key: 'q',
      path: ['item', 'b'],
      parent: 'p',
      names: { item: { b: { c: true } } },
    } as const;
    const outer = { ...ITEM, names: { item: { b: {} } } };
    expect(await told(data, { first: { item: { a: true } }, parts: [inner, outer] })).toEqual([
      { data: { item: { a: 1 } }, hasNext: true },
      { incremental: [{ data: { b: {} }, path: ['item'] }], hasNext: true },
      { incremental: [{ data: { c: 1 }, path: ['item', 'b'] }], hasNext: false },
    ]);
  });

  it('leaves out a part that has nothing, and says then that nothing follows', async () => {
    const part = { ...ITEM, names: { item: {} } };
    const data = { item: { a: 1 } };
    expect(await told(data, { first: { item: { a: true } }, parts: [part] })).toEqual([
      { data: { item: { a: 1 } }, hasNext: true },
      { hasNext: false },
    ]);
    expect(
      await told(data, {
        first: { item: { a: true } },
        parts: [{ ...part, errors: [new GraphQLError('homeless')] }],
      }),
    ).toEqual([
      { data: { item: { a: 1 } }, hasNext: true },
      { incremental: [{ errors: ['homeless'], data: {}, path: ['item'] }], hasNext: false },
    ]);
  });

  it('says with a part what was left out of it, at its place in the whole', async () => {
    const misshapen = { errors: [at('items', 0, 'b')], extensions: { valueCompletion: [] } };
    const part = { key: 'p', path: ['items'], names: { items: { b: true } }, more: misshapen } as const;
    const data = { items: [{ a: 1, b: 1 }, { a: 2 }] };
    const [, next] = (await told(data, { first: { items: { a: true } }, parts: [part] })) as [
      unknown,
      { readonly incremental: readonly unknown[] },
    ];
    expect(next.incremental).toEqual([
      { errors: ['items.0.b'], data: { b: 1 }, path: ['items', 0] },
      { errors: ['items.0.b'], data: {}, path: ['items', 1] },
    ]);
    const alone = { ...part, more: { extensions: { x: 1 } } };
    const [, told2] = (await told(data, { first: { items: { a: true } }, parts: [alone] })) as [
      unknown,
      { readonly incremental: readonly unknown[] },
    ];
    expect(told2.incremental).toEqual([{ data: { b: 1 }, path: ['items', 0], extensions: { x: 1 } }]);
  });

  it('shapes what leads to each place alone, and finds errors of it at their places in the whole', async () => {
    const item = (b: number) => ({ __typename: 'Item', list: [{ b }] });
    const data = { __typename: 'Query', items: [item(1), item(2)], other: 3 };
    const seen: unknown[] = [];
    const shape = (merged: { readonly data: unknown }) => {
      seen.push(merged);
      return { data: merged.data, errors: [at('items', 0, 'list', 0, 'b'), new GraphQLError('at no place')] };
    };
    const run = { data, errors: [], variables: { v: 1 }, isShared: false } as unknown as Run;
    const part = {
      key: 'p',
      path: ['items', 'list'],
      parent: null,
      document: DOCUMENT,
      shape: shape as never,
    };
    const answer = answerParts({
      run,
      runs: { of: () => undefined } as never,
      shapeFirst: () => ({ data }),
      parts: [part as never],
    });
    const [, second] = await Array.fromAsync(answer);
    expect(seen).toEqual(
      [1, 2].map((b) => ({
        data: { __typename: 'Query', items: [{ __typename: 'Item', list: [{ b }] }] },
        errors: [],
        isShared: true,
        variables: { v: 1 },
      })),
    );
    expect(
      second?.incremental?.map(({ path, data: own, errors }) => [path, own, errors?.map((one) => one.path)]),
    ).toEqual(
      [0, 1].map((index) => [
        ['items', index, 'list', 0],
        { b: index + 1 },
        [['items', index, 'list', 0, 'b'], []],
      ]),
    );
  });
});
