import { type ExecutionResult, GraphQLError } from 'graphql';
import { describe, expect, it } from 'vitest';

import { isWhole } from '../../platform/graphql/operations/answers.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createErrorInclusion, createHeaderRules, createResponseRules } from './subgraph-rules.ts';
import type { ErrorInclusion, HeaderRule, ResponseRule } from './subgraph.schema.ts';

describe('headers for a subgraph', () => {
  const send = (rules: readonly unknown[], claims?: object) =>
    createHeaderRules(rules as HeaderRule[])(
      { headers: { 'x-a': 'a', 'x-list': ['1', '2'], 'x-claim': 'forged' }, caller: { claims } } as never,
      { authorization: 'Bearer x', 'x-own': 'own' },
    );

  it('are its own and those that the rules say, in their order', () => {
    expect(send([])).toEqual({ authorization: 'Bearer x', 'x-own': 'own' });
    expect(send([{ remove: 'authorization' }, { insert: 'x-key', value: 'k' }])).toEqual({
      'x-own': 'own',
      'x-key': 'k',
    });
    expect(
      send([
        { propagate: 'x-a' },
        { propagate: 'x-a', as: 'x-b' },
        { propagate: 'x-list' },
        { propagate: 'x-none' },
      ]),
    ).toEqual({ authorization: 'Bearer x', 'x-own': 'own', 'x-a': 'a', 'x-b': 'a', 'x-list': '1, 2' });
    expect(send([{ propagate: 'x-a' }, { remove: 'x-a' }])).not.toHaveProperty('x-a');
  });

  it('are of claims, and nothing of what a caller wrote there', () => {
    const claim = (value: unknown) =>
      send([{ propagate: 'x-claim' }, { claim: 'c', as: 'x-claim' }], { c: value })['x-claim'];
    expect(['text', 7, false, ['a'], { b: 1 }].map(claim)).toEqual([
      'text',
      '7',
      'false',
      '["a"]',
      '{"b":1}',
    ]);
    expect([null, undefined, 'two\nlines', '漢'].map(claim)).toEqual(Array(4).fill(undefined));
    expect(send([{ propagate: 'x-claim' }, { claim: 'c', as: 'x-claim' }])).not.toHaveProperty('x-claim');
  });
});

describe('the errors of a subgraph', () => {
  const error = new GraphQLError('secret', { path: ['a'], extensions: { code: 'FULL', own: 1 } });
  const show = (inclusion: ErrorInclusion, result: ExecutionResult) => {
    const lines: unknown[] = [];
    const logger = { ...silentLogger(), warn: (fields: object | string) => void lines.push(fields) };
    const shown = createErrorInclusion(inclusion, { subgraph: 'shop', logger })(result, 'trace');
    return { shown, lines, whole: shown.errors?.map(isWhole) };
  };

  it('are shown whole, by their codes, or not at all', () => {
    const result = { data: { a: null }, errors: [error, new GraphQLError('no code')] };
    expect(show('whole', result)).toMatchObject({ shown: result, whole: [true, true], lines: [] });
    const { shown, lines, whole } = show('codes', result);
    const masked = { message: 'internal error', extensions: { code: 'INTERNAL', traceId: 'trace' } };
    expect(shown.errors?.map((one) => one.toJSON())).toMatchObject([
      { message: 'the subgraph says FULL', path: ['a'], extensions: { code: 'FULL' } },
      masked,
    ]);
    expect([shown.data, whole]).toEqual([{ a: null }, [true, false]]);
    expect(shown.errors?.[0]?.extensions).not.toHaveProperty('own');
    expect(lines).toEqual([
      { subgraph: 'shop', traceId: 'trace', message: 'secret', path: ['a'] },
      { subgraph: 'shop', traceId: 'trace', message: 'no code', path: undefined },
    ]);
    expect(show('masked', result).shown.errors?.map((one) => one.toJSON())).toMatchObject([
      { ...masked, path: ['a'] },
      masked,
    ]);
    expect(show('masked', { data: {} }).shown).toEqual({ data: {} });
  });
});

describe('headers of the answers of subgraphs', () => {
  /** What a caller gets after these answers. */
  function answered(rules: readonly ResponseRule[], answers: readonly object[], headersSent = false) {
    const headers: Record<string, unknown> = {};
    const response = {
      headersSent,
      getHeader: (name: string) => headers[name],
      setHeader: (name: string, value: unknown) => void (headers[name] = value),
      appendHeader: (name: string, value: unknown) =>
        void (headers[name] = [headers[name] ?? [], value].flat()),
    };
    const apply = createResponseRules(rules);
    for (const answer of answers) apply({ response } as never, answer as never);
    apply({} as never, { 'x-a': 'nobody' });
    return headers;
  }
  const rule = (propagate: string, as?: string) =>
    ({ propagate, ...(as !== undefined && { as }) }) as ResponseRule;

  it('are the last of each, and the cookies of all', () => {
    const rules = [rule('x-a'), rule('x-a', 'x-b'), rule('set-cookie'), rule('x-none')];
    expect(
      answered(rules, [
        { 'x-a': '1', 'set-cookie': ['a=1'] },
        { 'x-a': '2', 'set-cookie': ['b=2'] },
      ]),
    ).toEqual({
      'x-a': '2',
      'x-b': '2',
      'set-cookie': ['a=1', 'b=2'],
    });
    expect(answered(rules, [{ 'x-a': '1' }], true)).toEqual({});
  });

  it.each([
    [['max-age=60, public', 'max-age=30'], 'max-age=30, public'],
    [['max-age=60', 'PRIVATE, max-age=90'], 'max-age=60, private'],
    [['max-age=60', 'no-cache'], 'no-store'],
    [['No-Store', 'max-age=60'], 'no-store'],
    [['max-age=60', 'public'], 'max-age=0, public'],
    [['max-age=60'], 'max-age=60'],
  ])('allow of cache-control %j what all allow', (values, expected) => {
    const answers = values.map((value) => ({ 'cache-control': value }));
    expect(answered([rule('cache-control')], answers)).toEqual({ 'cache-control': expected });
  });
});
