import { render, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { afterPause, collects, modelFor, openForm, openStudio } from '../../../testing/studio.ts';
import { closeConsole } from '../../../testing/whole-console.tsx';
import { setDraft } from '../../../work/keeper.ts';
import { type Budget, budgetProblem, Estimate, tightest } from './estimate.tsx';

afterEach(closeConsole);

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

it('a budget refuses from its last cent on, and prices of another currency where it takes known ones alone', () => {
  const said = (change: Partial<Budget>, total: number, currency = 'USD') =>
    budgetProblem(budgetWith(change), { total, currency });
  expect([
    said({}, 1),
    said({}, 1.01),
    said({ left: 0 }, 0),
    said({ left: -1 }, 0),
    said({ left: null }, 9),
    said({}, 9, 'EUR'),
    said({ refusesUnknownPrices: true }, 0.1, 'EUR'),
  ]).toEqual([null, 'over', 'over', 'over', null, null, 'unknown']);
  expect(tightest([budgetWith({ left: 1 }), budgetWith({ left: -1 }), budgetWith({ left: 0 })])?.left).toBe(
    -1,
  );
});

it('says nothing that is not known yet, what one costs, and why a budget refuses', async () => {
  const texts = [
    {
      estimated: { total: undefined, currency: null, budget: undefined, problem: null },
      count: 2,
      isFree: false,
    },
    { estimated: { total: 0.04, currency: 'USD', budget, problem: null }, count: 1, isFree: false },
    {
      estimated: { total: null, currency: null, budget, problem: 'unknown' as const },
      count: 2,
      isFree: false,
    },
    { estimated: { total: 0, currency: 'USD', budget, problem: null }, count: 1, isFree: true },
    { estimated: { total: null, currency: null, budget, problem: null }, count: 1, isFree: true },
  ].map((props) => {
    const { container, unmount } = render(<Estimate {...props} />);
    const lines = outline(container);
    unmount();
    return lines;
  });
  await expect(texts.join('\n')).toMatchFileSnapshot('outlines/estimates.txt');
});

it('asks for what decides a price: the words, the size, the length, the options and the count', async () => {
  const { given, field: estimateCost } = collects(() => ({ amount: null, currency: null, estimated: true }));
  const properties = { quality: { type: 'string', enum: ['low', 'high'] } };
  const inputs = ['text', 'voiceId', 'prompt', 'resolution', 'duration', 'image'];
  const models = [modelFor('VIDEO', { inputs, optionsSchema: { properties } })];
  await openForm('video', models, { estimateCost });
  const isAsked = async (values: object, priced: object) => {
    await afterPause(500, () => setDraft('video', { key: '', values: { ...values } }));
    const base = { kind: 'VIDEO', generator: 'painter', model: 'of VIDEO' };
    await waitFor(() => expect(given.at(-1)).toEqual({ input: { ...base, ...priced } }));
  };
  const all = { text: 'b', resolution: '1K', duration: 5, options: { quality: 'low' } };
  await isAsked({ prompt: 'a', ...all }, all);
  await isAsked({ prompt: 'a', resolution: 3, duration: '5' }, { text: 'a' });
  await screen.findByText('Price unknown');
});

it('asks for no budget of a visitor, and prices a graph without its inputs', async () => {
  const { given, field: estimateCost } = collects(() => ({ amount: 1, currency: 'USD', estimated: true }));
  const optionsSchema = { properties: { quality: { type: 'string', enum: ['low', 'high'] } } };
  const { askedFor } = await openStudio(
    '/?kind=comfy',
    { models: [modelFor('COMFY_WORKFLOW', { optionsSchema })], estimateCost },
    { isVisitor: true },
  );
  await screen.findByRole('button', { name: 'As code' });
  await afterPause(500, () => setDraft('comfy', { key: '', values: { options: { quality: 'low' } } }));
  await waitFor(() => expect(given.length).toBeGreaterThan(0));
  expect(given.at(-1)).toEqual({
    input: { kind: 'COMFY_WORKFLOW', generator: 'painter', model: 'of COMFY_WORKFLOW' },
  });
  expect(askedFor('MyBudgets')).toEqual([]);
});
