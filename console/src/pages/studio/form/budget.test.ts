import { expect, it } from 'vitest';

import { type Budget, budgetProblem, tightest } from './budget.ts';

const budget = (change: Partial<Budget> = {}): Budget => ({
  id: 'b',
  amount: 10,
  left: 1,
  currency: 'USD',
  refusesUnknownPrices: false,
  ...change,
});

it('the tightest budget is the one with the least left, of those that bound money', () => {
  const [wide, narrow, unbounded] = [budget({ left: 5 }), budget({ left: 2 }), budget({ left: null })];
  expect(tightest([wide, narrow, unbounded])).toBe(narrow);
  expect(tightest([unbounded])).toBeUndefined();
});

it('a budget refuses what costs more than is left, and unknown prices where it is told to', () => {
  expect(budgetProblem(budget(), { total: 1.5, currency: 'USD' })).toBe('over');
  expect(budgetProblem(budget(), { total: 0.5, currency: 'USD' })).toBeNull();
  expect(budgetProblem(budget(), { total: null, currency: null })).toBeNull();
  expect(budgetProblem(budget({ refusesUnknownPrices: true }), { total: null, currency: null })).toBe(
    'unknown',
  );
  expect(budgetProblem(budget(), { total: undefined, currency: null })).toBeNull();
});
