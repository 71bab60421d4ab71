import type { ModelsQuery } from '../api/documents/operations.ts';

/** What a model costs, in one number. Pure. */

/** Prices as the API tells them; null when they are not known. */
type Prices = ModelsQuery['models'][number]['prices'];

/** The lowest price of the unit that says most, for as many units as people reckon with. */
export interface ShownPrice {
  readonly unit: Unit;
  readonly amount: number;
  readonly currency: string;
  /** There are higher ones, of other sizes or qualities. */
  readonly isLowest: boolean;
}

type Unit = (typeof UNITS)[number];

/** What a result costs by, before what it is made of. */
const UNITS = [
  'picture',
  'second',
  'run',
  'character',
  'outputToken',
  'inputToken',
  'cachedToken',
  'gpuSecond',
] as const;

/** Single ones of these cost next to nothing. */
const RECKONED: Partial<Record<Unit, number>> = {
  character: 1_000,
  outputToken: 1_000_000,
  inputToken: 1_000_000,
  cachedToken: 1_000_000,
};

/** The price that a list of models shows; null where none is known. */
export function shownPrice(prices: Prices): ShownPrice | null {
  if (prices === null) return null;
  const unit = UNITS.find((one) => prices.prices.some((price) => price.unit === one));
  if (unit === undefined) return null;
  const amounts = prices.prices
    .filter((price) => price.unit === unit)
    .map(({ amount, per }) => (amount * (RECKONED[unit] ?? 1)) / per);
  const amount = Math.min(...amounts);
  return { unit, amount, currency: prices.currency, isLowest: amounts.some((one) => one > amount) };
}
