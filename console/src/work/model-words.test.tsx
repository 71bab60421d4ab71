import { expect, it } from 'vitest';

import { daysLeft, hasEnded, shownPrice } from './model-words.ts';

const now = Date.parse('2026-11-23T20:00:00Z');
const priced = (prices: readonly { unit: string; amount: number; per: number }[]) =>
  shownPrice({ currency: 'USD', prices: prices.map((price) => ({ ...price, when: null })) });

it('a model has the days left until the first day on which it is refused', () => {
  expect(daysLeft({ retiresAt: '2026-12-11' }, now)).toBe(18);
  expect(daysLeft({ retiresAt: null }, now)).toBeNull();
  expect([hasEnded({ retiresAt: '2026-11-23' }, now), hasEnded({ retiresAt: '2026-11-24' }, now)]).toEqual([
    true,
    false,
  ]);
});

it('a price is the lowest of what a result costs by, for as many as people reckon with', () => {
  const second = (amount: number) => ({ unit: 'second', amount, per: 1 });
  expect(priced([second(0.6), second(0.4)])).toEqual({
    unit: 'second',
    amount: 0.4,
    currency: 'USD',
    isLowest: true,
  });
  const tokens = [
    { unit: 'inputToken', amount: 5, per: 1_000_000 },
    { unit: 'outputToken', amount: 0.03, per: 1_000 },
  ];
  expect(priced(tokens)).toMatchObject({ unit: 'outputToken', amount: 30, isLowest: false });
  expect([priced([]), shownPrice(null)]).toEqual([null, null]);
});
