import { describe, expect, it } from 'vitest';

import { computeMargin } from './margin.ts';

const paid = { amount: 500, amountRefunded: 0, currency: 'usd' };
const measured = { amount: 0.061_234, currency: 'USD', estimated: false };

describe('the margin of a sale', () => {
  it('is what was kept, without what the task cost, in minor units', () => {
    expect(computeMargin(paid, measured)).toEqual({
      kept: 500,
      cost: 6.1234,
      margin: 493.8766,
      isEstimated: false,
    });
    expect(computeMargin({ ...paid, amountRefunded: 500 }, measured)).toMatchObject({
      kept: 0,
      margin: -6.1234,
    });
    const yen = computeMargin(
      { amount: 80, amountRefunded: 0, currency: 'jpy' },
      { ...measured, amount: 9, currency: 'JPY' },
    );
    expect(yen).toMatchObject({ cost: 9, margin: 71 });
    const dinars = computeMargin(
      { amount: 80_000, amountRefunded: 0, currency: 'kwd' },
      { ...measured, amount: 9, currency: 'KWD' },
    );
    expect(dinars).toMatchObject({ cost: 9_000, margin: 71_000 });
  });

  it.each(['isk', 'ugx', 'huf', 'idr'])(
    'counts %s in hundredths, as the payment provider charges it',
    (currency) => {
      const cost = { ...measured, amount: 9, currency: currency.toUpperCase() };
      expect(computeMargin({ amount: 8_000, amountRefunded: 0, currency }, cost)).toMatchObject({
        cost: 900,
        margin: 7_100,
      });
    },
  );

  it('is unknown, never 0, where the cost is, and between currencies', () => {
    const unknown = { kept: 500, cost: null, margin: null };
    expect(computeMargin(paid, null)).toMatchObject(unknown);
    expect(computeMargin(paid, { ...measured, amount: null })).toMatchObject(unknown);
    expect(computeMargin(paid, { ...measured, currency: 'EUR' })).toMatchObject(unknown);
    expect(computeMargin(paid, { amount: 0, currency: 'USD', estimated: false })).toMatchObject({
      cost: 0,
      margin: 500,
    });
  });
});
