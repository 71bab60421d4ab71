import { expect, it } from 'vitest';

import { type Row, addRows } from './sums.ts';

const row = (change: Partial<Row> = {}, amount: number | null = 1): Row => ({
  day: '2026-11-24',
  model: 'm',
  generator: null,
  provider: null,
  owner: null,
  key: null,
  succeeded: 1,
  failed: 0,
  cancelled: 0,
  chats: 0,
  unpriced: amount === null ? 1 : 0,
  cost: {
    amount,
    currency: amount === null ? null : 'USD',
    units: { pictures: 1, seconds: 0, inputTokens: 0, outputTokens: 0 },
  },
  sandbox: false,
  ...change,
});

it('work of the sandbox counts as work and costs nothing; what it would have cost is told apart', () => {
  const sum = addRows('m', [row(), row({ sandbox: true }, 5)]);
  expect(sum).toMatchObject({
    done: 2,
    pictures: 2,
    cost: { amount: 1, currency: 'USD' },
    wouldCost: { amount: 5, currency: 'USD' },
  });
});

it('sandbox work alone has cost nothing, not something unknown', () => {
  expect(addRows(null, [row({ sandbox: true }, 5)]).cost).toEqual({ amount: 0, currency: 'USD' });
});

it('what has no known price is unknown, never nothing', () => {
  expect(addRows(null, [row({}, null)]).cost.amount).toBeNull();
  expect(addRows(null, [row({}, null), row()]).cost.amount).toBe(1);
});

it('amounts of several currencies are not added up', () => {
  const euro = row();
  expect(addRows(null, [row(), { ...euro, cost: { ...euro.cost, currency: 'EUR' } }]).cost.amount).toBeNull();
});
