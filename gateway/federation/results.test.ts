import { GraphQLError, parse } from 'graphql';
import { expect, it } from 'vitest';

import { withOwnNames } from './operation/own-names.ts';
import { renamedResult } from './results.ts';

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
