import { describe, expect, it } from 'vitest';

import { addRows, readName, type Row, sumsBy } from './sums.ts';

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

describe('rows of usage', () => {
  const units = { pictures: 1, seconds: 2, inputTokens: 3, outputTokens: null };
  const row = (more: object, amount: number | null = 1, currency: string | null = 'USD') =>
    ({
      model: 'm',
      generator: 'g',
      provider: 'p',
      owner: 'o',
      key: null,
      succeeded: 1,
      chats: 2,
      failed: 3,
      cancelled: 4,
      unpriced: 0,
      sandbox: false,
      cost: { amount, currency, units },
      ...more,
    }) as unknown as Row;

  it('are summed up, those of the sandbox by what they would have cost', () => {
    expect(addRows('x', [row({}), row({ unpriced: 1 }, 2), row({ sandbox: true, unpriced: 5 }, 7)])).toEqual({
      name: 'x',
      done: 9,
      failed: 9,
      cancelled: 12,
      unpriced: 1,
      pictures: 3,
      seconds: 6,
      inputTokens: 9,
      outputTokens: 0,
      cost: { amount: 3, currency: 'USD' },
      wouldCost: { amount: 7, currency: 'USD' },
    });
  });

  it('cost what is known, and nothing known is unknown', () => {
    const addCosts = (...rows: Row[]) => addRows(null, rows).cost;
    expect(addCosts(row({}), row({ unpriced: 1 }, null, null))).toEqual({ amount: 1, currency: 'USD' });
    expect(addCosts(row({ unpriced: 1 }, null, null), row({}, 0))).toEqual({ amount: null, currency: 'USD' });
    expect(addCosts(row({}, 0))).toEqual({ amount: 0, currency: 'USD' });
    expect(addCosts(row({}), row({}, 1, 'EUR')).amount).toBeNull();
    expect(addCosts(row({}, null, 'EUR'))).toEqual({ amount: 0, currency: 'EUR' });
    expect(addCosts(row({ sandbox: true }), row({}, 2, 'EUR'))).toEqual({ amount: 2, currency: 'EUR' });
    expect(addCosts(row({}, 5, null))).toEqual({ amount: 0, currency: null });
  });

  it('are grouped by a name, the largest first', () => {
    const rows = [row({ model: 'a' }), row({ model: 'b', failed: 9 }), row({ model: 'a' })];
    const sums = sumsBy(rows, 'MODEL', ({ failed }) => failed);
    expect(sums.map(({ name, failed }) => [name, failed])).toEqual([
      ['b', 9],
      ['a', 6],
    ]);
    const groups = ['MODEL', 'GENERATOR', 'PROVIDER', 'OWNER', 'KEY'] as const;
    expect(groups.map((group) => readName(row({}), group))).toEqual(['m', 'g', 'p', 'o', null]);
  });
});
