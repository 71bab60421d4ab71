import { buildSchema, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { refusedOperation, SubscriptionRootRule } from './refused-operation.ts';

const schema = buildSchema(`
  type Query { mine: Int other: Int sure: Int! open: Int }
  type Mutation { make: Int }
  type Subscription { told: Int other: Int }
`);
const caller = anonymousCaller('trace', null);

/** What an operation is answered of which root fields are refused, all but `open`. */
function refused(query: string, operationName?: string) {
  const asked: unknown[] = [];
  const result = refusedOperation(
    parse(query),
    { operationName, context: { caller } as never },
    {
      planner: { apiSchema: schema },
      logger: silentLogger(),
      refuseRootField: (kind, name, asking) => {
        asked.push([kind, name, asking === caller]);
        return name === 'open' ? null : new AppError('UNAUTHENTICATED', `${name} needs a caller`);
      },
    },
  );
  const errors = result?.errors?.map(({ message, path, extensions }) => [message, path, extensions['code']]);
  return { result, errors, data: result?.data, asked };
}

describe('an operation of which its caller may use nothing', () => {
  it('is answered as the subgraphs would, without being planned', () => {
    const { data, errors, asked } = refused('{ mine b: other b: other }');
    expect(data).toEqual({ mine: null, b: null });
    expect(errors).toEqual([
      ['mine needs a caller', ['mine'], 'UNAUTHENTICATED'],
      ['other needs a caller', ['b'], 'UNAUTHENTICATED'],
    ]);
    expect(asked.slice(0, 2)).toEqual([
      ['query', 'mine', true],
      ['query', 'other', true],
    ]);
    expect(refused('mutation { make }')).toMatchObject({
      data: { make: null },
      asked: [['mutation', 'make', true]],
    });
    expect(refused('query A { open } query B { mine }', 'B').data).toEqual({ mine: null });
  });

  it('has no data where it follows something', () => {
    const { result, errors } = refused('subscription { told }');
    expect(result).not.toHaveProperty('data');
    expect(errors).toEqual([['told needs a caller', ['told'], 'UNAUTHENTICATED']]);
  });

  it.each([
    ['one field is permitted', '{ mine open }'],
    ['a field may not be null', '{ sure }'],
    ['a directive decides', '{ mine @skip(if: true) }'],
    ['a fragment decides', '{ ... on Query { mine } }'],
  ])('is left to the plan where %s', (_, query) => {
    expect(refused(query).result).toBeNull();
  });

  it('is left to the plan where nobody knows the rules', () => {
    const options = { planner: { apiSchema: schema }, logger: silentLogger() };
    const request = { operationName: undefined, context: { caller } as never };
    expect(refusedOperation(parse('{ mine }'), request, options)).toBeNull();
  });
});

it.each([
  ['subscription { told }', 0],
  ['subscription { told @skip(if: false) }', 1],
  ['subscription { told @include(if: true) }', 1],
  ['subscription { told @deprecated }', 0],
  ['subscription { ... on Subscription { told @skip(if: false) } }', 1],
  ['subscription { ... @include(if: true) { told } }', 1],
  ['subscription { ...F } fragment F on Subscription { told @skip(if: false) }', 1],
  ['subscription { ...F } fragment F on Subscription { told ...G } fragment G on Subscription { ...F }', 0],
  ['subscription { ...None }', 0],
  ['query { mine @skip(if: true) }', 0],
  ['mutation { make @include(if: true) }', 0],
])('%s has %i conditions at the root of a subscription', (query, count) => {
  const problems = validate(schema, parse(query), [SubscriptionRootRule]);
  expect(problems.map(({ message }) => message)).toEqual(
    Array.from({ length: count }, () => '@skip and @include are not allowed at the root of a subscription'),
  );
});
