import { expect, it } from 'vitest';

import { checkPrice } from './pricing.ts';

const priced = (creditCost: number, price: number | null = null, currency: string | null = null) => ({
  creditCost,
  price,
  currency,
});

it('refuses a price that the provider would not charge, and says what it would', () => {
  const usd = { currency: 'usd', creditUnitAmount: 10 };
  for (const creditCost of [0, 5, 100]) checkPrice(usd, priced(creditCost));
  expect(() => checkPrice(usd, priced(4))).toThrow('at least 5 credits');
  expect(() => checkPrice({ currency: 'hkd', creditUnitAmount: 100 }, priced(3))).toThrow('400');
  checkPrice({ currency: 'xyz', creditUnitAmount: 1 }, priced(1));
  expect(() => checkPrice(usd, priced(100, 20, 'gbp'))).toThrow('price: 20 gbp (minor units) is less');
  checkPrice(usd, priced(0, 30, 'gbp'));
  checkPrice({ ...usd, creditUnitAmount: 100 }, priced(999_999));
  expect(() => checkPrice({ ...usd, creditUnitAmount: 100 }, priced(1_000_000))).toThrow(
    'creditCost: 100000000 usd (minor units) is more than can be charged, 99999999; take at most 999999 credits',
  );
});

it.each([
  ['usd', 99_999_999],
  ['inr', 999_999_999],
  ['cop', 1_000_000_000],
  ['idr', 1_000_000_000],
])('takes a price in %s up to %i minor units', (currency, most) => {
  const options = { currency: 'eur', creditUnitAmount: 1 };
  checkPrice(options, priced(0, most, currency));
  expect(() => checkPrice(options, priced(0, most + 1, currency))).toThrow(`take at most ${most}`);
});
