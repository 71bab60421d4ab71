import { describe, expect, it } from 'vitest';

import { fractionDigits, minorMoneyText, moneyFormat, moneyText } from './money.ts';

describe('money', () => {
  const usd = (amount: number | null) => ({ amount, currency: 'USD' });

  it('is written with the digits that it needs, and never as 0 where it is not known', () => {
    expect([12, 1, 0, 0.5, 0.0312, 0.0001, 0.00004].map((amount) => moneyText(usd(amount)))).toEqual([
      '$12.00',
      '$1.00',
      '$0.00',
      '$0.50',
      '$0.0312',
      '$0.0001',
      '< $0.0001',
    ]);
    const unknown = moneyText(usd(null));
    expect([unknown, moneyText({ amount: 0, currency: null })]).toEqual([unknown, unknown]);
    expect(unknown).not.toMatch(/0/);
  });

  it('of a column has as many digits as the smallest needs', () => {
    const column = (amounts: (number | null)[]) => amounts.map((one) => moneyFormat(amounts)(usd(one)));
    expect(column([1, 0.01, 0])).toEqual(['$1.00', '$0.01', '$0.00']);
    expect(column([1, 0.009])).toEqual(['$1.0000', '$0.0090']);
    expect(column([null])[0]).toBe(moneyText(usd(null)));
  });

  it('is written as well when many currencies were written before', () => {
    const codes = Array.from(
      { length: 60 },
      (_, at) => `A${String.fromCodePoint(65 + (at % 26), 65 + Math.floor(at / 26))}`,
    );
    for (const currency of codes) expect(moneyText({ amount: 2, currency })).toContain('2.00');
    expect(moneyText({ amount: 2, currency: 'ZZZ' })).toBe(moneyText({ amount: 2, currency: 'ZZZ' }));
    expect(moneyText({ amount: -0.5, currency: 'USD' })).toBe('-$0.50');
    expect(moneyText({ amount: -12.345, currency: 'USD' })).toBe('-$12.35');
    expect(moneyFormat([-0.001])({ amount: -0.001, currency: 'USD' })).toBe('-$0.0010');
    expect(moneyFormat([1])({ amount: 1, currency: null })).toBe(
      moneyText({ amount: null, currency: 'USD' }),
    );
  });

  it('in minor units goes by its currency', () => {
    expect([minorMoneyText(1_250, 'usd'), minorMoneyText(1_250, 'jpy')]).toEqual(['$12.50', '¥1,250']);
    expect(minorMoneyText(1_250, 'huf')).toMatch(/^HUF\s12\.50$/);
    expect(['usd', 'jpy', 'bhd', 'huf', 'isk', 'IDR'].map(fractionDigits)).toEqual([2, 0, 3, 2, 2, 2]);
  });
});
