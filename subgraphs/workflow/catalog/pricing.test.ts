import { expect, it } from 'vitest';

import { checkPrice } from './pricing.ts';

it('refuses a price that the provider would not charge, and says what it would', () => {
  const usd = { currency: 'usd', creditUnitAmount: 10 };
  for (const creditCost of [0, 5, 100]) checkPrice(usd, { creditCost });
  expect(() => checkPrice(usd, { creditCost: 4 })).toThrow('at least 5 credits');
  expect(() => checkPrice({ currency: 'hkd', creditUnitAmount: 100 }, { creditCost: 3 })).toThrow('400');
  checkPrice({ currency: 'xyz', creditUnitAmount: 1 }, { creditCost: 1 });
});
