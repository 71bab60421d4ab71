import { render, screen } from '@testing-library/preact';
import { expect, it } from 'vitest';

import { type Budget, budgetProblem, Estimate, tightest } from './estimate.tsx';

const budget = { id: 'b', amount: 10, left: 0.05, currency: 'USD', refusesUnknownPrices: false };

it('work of the sandbox is free, and says what it would cost for real', () => {
  const estimated = { total: 0.16, currency: 'USD', budget, problem: null };
  render(<Estimate estimated={estimated} count={4} isFree />);
  expect(screen.getByRole('status').textContent).toBe(
    'Sandbox: free, drawn on this machine · for real about $0.16',
  );
});

it('a price says what it is made of, what the budget has left, and that it is too much', () => {
  const estimated = { total: 0.16, currency: 'USD', budget, problem: 'over' } as const;
  render(<Estimate estimated={estimated} count={4} isFree={false} />);
  expect(screen.getByText('$0.16')).toBeDefined();
  expect(screen.getByText('4 × $0.04')).toBeDefined();
  expect(screen.getByText(/\$0\.05 of \$10\.00 left/)).toBeDefined();
  expect(screen.getByText('This is more than the budget has left.')).toBeDefined();
});

it('an unknown price is said to be unknown, never 0', () => {
  const estimated = { total: null, currency: null, budget: undefined, problem: null };
  render(<Estimate estimated={estimated} count={1} isFree={false} />);
  expect(screen.getByRole('status').textContent).toBe('Price unknown');
});

const budgetWith = (change: Partial<Budget> = {}): Budget => ({
  id: 'b',
  amount: 10,
  left: 1,
  currency: 'USD',
  refusesUnknownPrices: false,
  ...change,
});

it('the tightest budget is the one with the least left, of those that bound money', () => {
  const [wide, narrow, unbounded] = [
    budgetWith({ left: 5 }),
    budgetWith({ left: 2 }),
    budgetWith({ left: null }),
  ];
  expect(tightest([wide, narrow, unbounded])).toBe(narrow);
  expect(tightest([unbounded])).toBeUndefined();
});

it('a budget refuses what costs more than is left, and unknown prices where it is told to', () => {
  expect(budgetProblem(budgetWith(), { total: 1.5, currency: 'USD' })).toBe('over');
  expect(budgetProblem(budgetWith(), { total: 0.5, currency: 'USD' })).toBeNull();
  expect(budgetProblem(budgetWith(), { total: null, currency: null })).toBeNull();
  expect(budgetProblem(budgetWith({ refusesUnknownPrices: true }), { total: null, currency: null })).toBe(
    'unknown',
  );
  expect(budgetProblem(budgetWith(), { total: undefined, currency: null })).toBeNull();
});
