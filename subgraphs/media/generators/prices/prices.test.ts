import { describe, expect, it } from 'vitest';

import { createCatalog } from '../catalog/catalog.ts';
import { readPriceList } from './price-list.ts';

const catalog = createCatalog();
const list = readPriceList(null, catalog);

describe('the price list', () => {
  it('names only models that are known', () => {
    for (const provider of ['openai', 'gemini', 'kling', 'minimax', 'fal', 'replicate']) {
      expect(catalog.listModels(provider).some(({ id }) => list.of(provider, id) !== null)).toBe(true);
    }
    expect(list.of('openai', 'gpt-image-1')).not.toBeNull();
  });

  it('is refused with every mistake', () => {
    const text = '{"currency":"usd","date":"soon","models":[{"provider":"a","model":"b","prices":[]}]}';
    expect(() => readPriceList({ path: '/p.json', text }, catalog)).toThrow(
      /currency[\s\S]*date[\s\S]*models\.0\.prices/,
    );
    expect(() => readPriceList({ path: '/p.json', text: '{' }, catalog)).toThrow('no JSON');
    expect(() => readPriceList({ path: '/p.json', text: '[]' }, catalog)).toThrow('the file: ');
    const priced =
      (price: object, more: object = {}) =>
      () =>
        readPriceList(
          {
            path: '/p.json',
            text: JSON.stringify({
              currency: 'EUR',
              date: '2026-11-22',
              models: [
                { provider: 'a', model: 'b', prices: [{ unit: 'run', amount: 1, ...price }], ...more },
              ],
            }),
          },
          catalog,
        );
    for (const [wrong, place] of [
      [priced({ amount: -1 }), 'prices.0.amount'],
      [priced({ per: 0 }), 'prices.0.per'],
      [priced({ unit: 'cup' }), 'prices.0.unit'],
      [priced({}, { provider: '' }), 'models.0.provider'],
      [priced({}, { expected: [] }), 'models.0.expected'],
    ] as const)
      expect(wrong).toThrow(place);
    const least = priced({ amount: 0, per: 0.5 }, { expected: [{ units: { runs: 1 } }] });
    expect(least().of('a', 'b')).toMatchObject({
      prices: [{ amount: 0, per: 0.5 }],
      expected: [{ units: { runs: 1 } }],
    });
  });

  it('has one price for any model of a provider that it does not name', () => {
    const models = ['b', '*'].map((model, index) => ({
      provider: 'a',
      model,
      prices: [{ unit: 'run', amount: index + 1 }],
    }));
    const text = JSON.stringify({ currency: 'EUR', date: '2026-11-22', models });
    const own = readPriceList({ path: '/p.json', text }, catalog);
    const amounts = ['b', 'other', null].map((model) => own.of('a', model)?.prices[0]?.amount);
    expect(amounts).toEqual([1, 2, 2]);
    expect(own.of('other', 'b')).toBeNull();
  });
});
