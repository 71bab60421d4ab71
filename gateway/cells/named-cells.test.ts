import { describe, expect, it } from 'vitest';

import { markId, newId } from '../../platform/ids.ts';
import { cellOfAddress, cellOfOperation } from './named-cells.ts';

const urls = new Map([0, 1, 2].map((cell) => [cell, `https://cell-${cell}.example`]));
const cells = { own: 1, home: 0, urls };
const [first, own, other, unknown] = [newId(), ...[1, 2, 9].map((cell) => markId(newId(), cell))];

describe('the cell of an address', () => {
  it.each([
    ['of an id in the path', `/v1/videos/${other}/content`, 2],
    ['of an id in the query', `/api/x?task_id=${other}`, 2],
    ['of an id without a mark', `/api/x?task_id=${first}`, 0],
    ['that is named', '/graphql?cell=2', 2],
    ['of sign-in', '/api/auth/login', 0],
    ['of an id of its own', `/api/x?task_id=${own}`, null],
    ['of a cell that nobody knows', `/api/x?task_id=${unknown}`, null],
    ['of ids of two cells', `/api/x?a=${other}&b=${first}`, null],
    ['without an id', '/api/x', null],
  ])('is found %s', (_, url, cell) => {
    expect(cellOfAddress(url, cells)).toBe(cell);
  });
});

describe('the cell of an operation', () => {
  const inQuery = (query: string) =>
    cellOfOperation({ query, operationName: undefined, variables: {} }, cells);
  const inVariables = (variables: Record<string, unknown>) =>
    cellOfOperation({ query: '{ __typename }', operationName: undefined, variables }, cells);

  it('is found by ids among variables, and not by keys that callers choose or texts with ids', () => {
    expect(inVariables({ input: { ids: [other] } })).toBe(2);
    expect(inVariables({ input: { idempotencyKey: other } })).toBeNull();
    expect(inVariables({ prompt: `like ${other}` })).toBeNull();
    expect(inVariables({ ids: [own, other] })).toBeNull();
  });

  it('is found by quoted ids', () => {
    expect(inQuery(`{ task(id: "${other}") { id } }`)).toBe(2);
  });

  it('is the home cell for accounts alone', () => {
    expect(inQuery('{ viewer { id } }')).toBe(0);
    expect(inQuery('{ viewer { id } tasks { totalCount } }')).toBeNull();
    expect(inQuery('{ tasks { edges { node { id } } } }')).toBeNull();
  });
});
