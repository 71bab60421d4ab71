import { expect, it, vi } from 'vitest';

import {
  current,
  daysLeft,
  endText,
  findRefusal,
  hasEnded,
  priceText,
  shownPrice,
  usualText,
} from './model-words.ts';
import type { Model } from './work.ts';

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

const model = (change: Partial<Model> = {}): Model =>
  ({
    allowed: true,
    paused: false,
    sandbox: false,
    retiresAt: null,
    successor: null,
    usualSeconds: null,
    prices: null,
    ...change,
  }) as Model;

it('a model says what it costs in each unit, from the lowest, and that a price is not known', () => {
  const cost = (unit: string, amount: number, per = 1) => ({ unit, amount, per, when: null });
  const said = (...prices: readonly object[]) =>
    priceText(model({ prices: { currency: 'USD', prices } as unknown as Model['prices'] }));
  expect([
    said(cost('inputToken', 3, 1_000_000), cost('picture', 0.04), cost('picture', 0.02)),
    said(cost('second', 0.5)),
    said(cost('run', 1), cost('gpuSecond', 1)),
    said(cost('character', 0.00003)),
    said(cost('outputToken', 0.01, 1_000)),
    said(cost('inputToken', 3, 1_000_000), cost('cachedToken', 1, 1_000_000)),
    said(cost('cachedToken', 1, 1_000_000)),
    said(cost('gpuSecond', 0.001), cost('gpuSecond', 0.002)),
    said(cost('stone', 1)),
    priceText(model()),
    priceText(model({ sandbox: true })),
  ]).toEqual([
    'from $0.02 per image',
    '$0.50 per second',
    '$1.00 per run',
    '$0.03 per 1,000 characters',
    '$10.00 per 1M output tokens',
    '$3.00 per 1M input tokens',
    '$1.00 per 1M cached tokens',
    'from $0.001 per second of GPU',
    'Price unknown',
    'Price unknown',
    null,
  ]);
});

it('a model says how long it takes, when it ends, and why it is not to be used', () => {
  vi.useFakeTimers({ now, toFake: ['Date'] });
  expect([usualText(model({ usualSeconds: 40 })), usualText(model())]).toEqual(['about 40.0 s', null]);
  const ends = ['2026-11-22', '2026-11-23', '2026-11-24', '2027-01-22', '2027-01-23', null];
  expect(ends.map((retiresAt) => endText(model({ retiresAt })))).toEqual([
    'ended',
    'ended',
    'ends tomorrow',
    'ends in 60 days',
    null,
    null,
  ]);
  const ended = { retiresAt: '2026-11-01' };
  expect([
    findRefusal(model()),
    findRefusal(model({ allowed: false, paused: true })),
    findRefusal(model({ paused: true })),
    findRefusal(model({ ...ended, paused: true })),
    findRefusal(model({ ...ended, successor: 'large-2' })),
    findRefusal(model({ retiresAt: '2026-12-01' })),
  ]).toEqual([
    null,
    'Your key is limited to other generators.',
    'An administrator has paused this provider. Choose another model.',
    'Its provider ended it on Nov 1, 2026. Choose another one.',
    'Its provider ended it on Nov 1, 2026. Use large-2.',
    null,
  ]);
  expect(current([model(ended), model()])).toHaveLength(1);
  vi.useRealTimers();
});
