import { z } from 'zod';

import { AppError } from '../../../../platform/errors.ts';
import { pricedUnits, type BindingPrices, type ModelPrices } from '../../domain/price.ts';
import type { Binding } from '../bindings/binding.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { units, when } from '../catalog/entry.ts';

/**
 * The price list: what each provider charges for each model. The catalog has what vendors publish, in US dollars;
 * PRICES_FILE replaces all of it. A model that is not in it has no known price. `aggregator/NAME` is the provider NAME
 * behind the aggregator, who has prices of its own.
 */

const price = z.strictObject({
  unit: z.enum(pricedUnits),
  amount: z.number().nonnegative(),
  per: z.number().positive().optional(),
  when: when.optional(),
});

const expected = z.union([units, z.array(z.strictObject({ when: when.optional(), units })).min(1)]);

const priceList = z.strictObject({
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be an ISO 4217 code in upper case, such as USD'),
  date: z.iso.date(),
  /** For whoever reads the list: where its prices are from. */
  note: z.string().optional(),
  models: z.array(
    z.strictObject({
      provider: z.string().min(1),
      model: z.string().min(1),
      prices: z.array(price).min(1),
      chargesFailures: z.boolean().optional(),
      expected: expected.optional(),
    }),
  ),
});

/** A checked price list. */
export interface PriceList {
  /** ISO 4217, upper case. */
  readonly currency: string;
  of(provider: string, model: string | null): ModelPrices | null;
}

/** Any model of a provider that has no entry of its own. */
const ANY = '*';

/** Reads the list of PRICES_FILE, or the catalog's for null. Throws AppError NOT_CONFIGURED with every mistake. */
export function readPriceList(
  file: { readonly path: string; readonly text: string } | null,
  catalog: Catalog,
): PriceList {
  if (file === null) return { currency: 'USD', of: (provider, model) => catalog.findPrices(provider, model) };
  const parsed = priceList.safeParse(parseJson(file.text));
  if (!parsed.success) {
    const lines = parsed.error.issues.map(
      ({ path, message }) => `  ${path.join('.') || 'the file'}: ${message}`,
    );
    throw new AppError('NOT_CONFIGURED', `PRICES_FILE has mistakes\n${lines.join('\n')}`);
  }
  const { currency, models } = parsed.data;
  const byName = new Map(models.map((entry) => [`${entry.provider} ${entry.model}`, entry]));
  return {
    currency,
    of: (provider, model) =>
      byName.get(`${provider} ${model ?? ANY}`) ?? byName.get(`${provider} ${ANY}`) ?? null,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AppError('NOT_CONFIGURED', 'PRICES_FILE is no JSON', { cause });
  }
}

/** The bindings, each with its prices. */
export function withPrices(bindings: readonly Binding[], list: PriceList): readonly Binding[] {
  return bindings.map((binding) => {
    const { name } = binding.provider;
    const provider = binding.isAggregated === true ? `aggregator/${name}` : name;
    const prices: BindingPrices = { currency: list.currency, of: (model) => list.of(provider, model) };
    return { ...binding, prices };
  });
}
