import { GraphQLError, parse } from 'graphql';
import { expect, it } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { withOwnNames } from './operation/own-names.ts';
import { gatewayFailure, renamedResult, variableErrors } from './results.ts';

/** What callers see of nulls that the schema does not allow. */

const completion = (message: string, path: (string | number)[]) => ({
  data: { _r0: null },
  extensions: { valueCompletion: [new GraphQLError(message, { path })] },
});

it('shows the names of the caller in valueCompletion, not those of the shared document', () => {
  const names = new Map([['_r0', 'mine']]);
  const result = completion('Cannot return null for non-nullable field Query._r0.', ['_r0', 0]);
  const { extensions, data } = renamedResult(result, { text: '', names, values: {} });
  expect(data).toEqual({ mine: null });
  expect(extensions?.['valueCompletion']).toMatchObject([
    { message: 'Cannot return null for non-nullable field Query.mine.', path: ['mine', 0] },
  ]);
});

it('shows them where the plan has a name of its own for a field', () => {
  const document = parse('{ item { price(currency: "EUR") } }');
  const { restore } = withOwnNames(document, { names: new Set(['price']) });
  const own = 'price__kiln_own';
  const result = completion(`Cannot return null for non-nullable field Item.${own}.`, ['item', own]);
  expect(restore(result).extensions?.['valueCompletion']).toMatchObject([
    { message: 'Cannot return null for non-nullable field Item.price.', path: ['item', 'price'] },
  ]);
});

it('shows them in data and in errors, and leaves alone what is of no field', () => {
  const form = { text: '', names: new Map([['_r0', 'mine']]), values: {} };
  const cause = new Error('cause');
  const errors = [
    new GraphQLError('Query._r0 and _r1', {
      path: ['_r0', 'x'],
      originalError: cause,
      extensions: { code: 'X' },
    }),
    new GraphQLError('of _r0, at no place'),
    new GraphQLError('of a place', { path: [0] }),
  ];
  const result = { data: { _r0: 1, other: 2 }, errors, extensions: { x: 1 } };
  const renamed = renamedResult(result, form);
  expect(renamed.data).toEqual({ mine: 1, other: 2 });
  expect(renamed.extensions).toEqual({ x: 1 });
  const [first, ...others] = renamed.errors ?? [];
  expect(first).toMatchObject({
    message: 'Query.mine and _r1',
    path: ['mine', 'x'],
    extensions: { code: 'X' },
  });
  expect(first?.originalError).toBe(cause);
  expect(others).toEqual(errors.slice(1));
  expect(renamedResult({ data: null, errors: [] }, form)).toEqual({ data: null, errors: [] });
  expect(renamedResult(result, { ...form, names: new Map() })).toBe(result);
});

it('leaves of messages about variables their beginning and their end', () => {
  const shown = (length: number) => variableErrors([new GraphQLError('x'.repeat(length))]).errors?.[0];
  expect(shown(500)?.message).toBe('x'.repeat(500));
  expect(shown(501)?.message).toBe(`${'x'.repeat(200)} ... ${'x'.repeat(300)}`);
  expect(shown(1)?.extensions).toEqual({ code: 'BAD_USER_INPUT' });
  const long = variableErrors([new GraphQLError(`begins${'x'.repeat(600)}ends`)]).errors?.[0]?.message ?? '';
  expect([long.startsWith('begins'), long.endsWith('ends')]).toEqual([true, true]);
});

it('masks what nobody expects, and logs it as a failure of the gateway with the id of the request', () => {
  const lines: object[] = [];
  const logger = { ...silentLogger(), error: (fields: object | string) => void lines.push(Object(fields)) };
  const thrown = new Error('connect ECONNREFUSED 10.0.0.7');
  const context = { caller: anonymousCaller('trace-1', null), signal: new AbortController().signal };
  const { errors } = gatewayFailure(thrown, context, logger);
  expect(errors).toMatchObject([{ extensions: { code: 'INTERNAL', traceId: 'trace-1' } }]);
  expect(String(errors)).not.toContain('10.0.0.7');
  expect(lines).toMatchObject([{ error: thrown, subgraph: 'gateway', traceId: 'trace-1' }]);
});
