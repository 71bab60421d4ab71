import { describe, expect, it } from 'vitest';

import { expectedUnits, computeMicroUnits } from './price.ts';

describe('a price for some inputs', () => {
  const prices = [
    { unit: 'picture', amount: 0.167, when: { quality: 'high' } },
    { unit: 'picture', amount: 0.02, when: { sound: false } },
    { unit: 'picture', amount: 0.042 },
  ] as const;

  it.each([
    [{ quality: 'high' }, 167_000],
    [{ options: { quality: 'high' } }, 167_000],
    [{ options: { quality: 'low' } }, 42_000],
    [{ options: { sound: false } }, 20_000],
    [{ sound: true }, 42_000],
    [{}, 42_000],
  ])('is that of the first whose values %o has, typed or among its options', (inputs, micro) => {
    expect(computeMicroUnits({ prices }, { pictures: 1 }, inputs)).toBe(micro);
  });
});

it('is that of one kind of work alone where it says so: others pay nothing for its unit', () => {
  const prices = [
    { unit: 'picture', amount: 0.05 },
    { unit: 'inputToken', amount: 0.5, per: 1_000_000, when: { kind: 'CHAT' } },
  ] as const;
  expect(computeMicroUnits({ prices }, { pictures: 1 }, { kind: 'IMAGE' })).toBe(50_000);
  const chat = { pictures: 1, inputTokens: 2_000 };
  expect(computeMicroUnits({ prices }, chat, { kind: 'CHAT' })).toBe(51_000);
  expect(computeMicroUnits({ prices }, { pictures: 1 }, { kind: 'CHAT' })).toBeNull();
  expect(computeMicroUnits({ prices: prices.slice(1) }, chat, { kind: 'IMAGE' })).toBeNull();
});

it('expects units by what the inputs say, typed or among the options', () => {
  const expected = [
    { when: { quality: 'high' }, units: { outputTokens: 7_033 } },
    { units: { outputTokens: 1_767 } },
  ];
  expect(expectedUnits({ expected }, { quality: 'high' })).toEqual({ outputTokens: 7_033 });
  expect(expectedUnits({ expected }, { options: { quality: 'high' } })).toEqual({ outputTokens: 7_033 });
  expect(expectedUnits({ expected }, {})).toEqual({ outputTokens: 1_767 });
  expect(expectedUnits({ expected: { runs: 1 } }, {})).toEqual({ runs: 1 });
});
