import type { UnitName, Units } from './cost.ts';

/** What a provider charges for one model: pure rules over the entries of the price list (price-list.ts). */

/** What a price is per, as the price list names it. */
export const pricedUnits = [
  'picture',
  'second',
  'character',
  'inputToken',
  'cachedToken',
  'outputToken',
  'run',
  'gpuSecond',
] as const;

/** Input, or option in the names of the vendor, -> value, such as resolution -> 1080p; `kind` -> the kind of work. */
type When = Readonly<Record<string, string | number | boolean>>;

/** What work whose inputs are as `when` says is expected to take. */
interface ExpectedUnits {
  readonly when?: When | undefined;
  readonly units: Units;
}

/** One price: an amount per so many units, of work whose inputs are as `when` says. */
interface Price {
  readonly unit: (typeof pricedUnits)[number];
  /** In the currency of the list. */
  readonly amount: number;
  /** Units that the amount is for (default 1). */
  readonly per?: number | undefined;
  /** Of the prices of a unit the first that fits holds. */
  readonly when?: When | undefined;
}

/** The prices of one model at one provider. */
export interface ModelPrices {
  readonly prices: readonly Price[];
  /** Whether work that the upstream accepted and then failed is charged too (default: no). */
  readonly chargesFailures?: boolean | undefined;
  /** Units that work is expected to take where its inputs do not tell, for estimates; of a list the first that fits. */
  readonly expected?: Units | readonly ExpectedUnits[] | undefined;
}

/** The prices that hold at one binding. */
export interface BindingPrices {
  /** ISO 4217, upper case. */
  readonly currency: string;
  /** Null for a model without a price. */
  of(model: string | null): ModelPrices | null;
}

const MICRO = 1_000_000;

/** Name and divisor of the quantity that a price is per. */
const QUANTITIES: Readonly<Record<Price['unit'], readonly [name: UnitName, divisor: number]>> = {
  picture: ['pictures', 1],
  second: ['milliseconds', 1000],
  character: ['characters', 1],
  inputToken: ['inputTokens', 1],
  cachedToken: ['cachedTokens', 1],
  outputToken: ['outputTokens', 1],
  run: ['runs', 1],
  gpuSecond: ['gpuMilliseconds', 1000],
};

/**
 * Millionths of the currency for these units; null when a price does not fit the inputs, or its unit was not measured. A unit that is
 * priced for other kinds of work alone costs nothing, where others are priced for this one.
 */
export function computeMicroUnits(
  { prices }: Pick<ModelPrices, 'prices'>,
  units: Units,
  inputs: object,
): number | null {
  let sum = 0;
  const charged = pricesOfKind(prices, (kind) => !('kind' in inputs) || kind === inputs.kind);
  if (charged.length === 0) return null;
  for (const [unit, own] of Map.groupBy(charged, (price) => price.unit)) {
    const price = own.find(({ when = {} }) => fits(when, inputs));
    const [name, divisor] = QUANTITIES[unit];
    // Providers name cached tokens only where there are some.
    const quantity = units[name] ?? (name === 'cachedTokens' ? 0 : undefined);
    if (price === undefined || quantity === undefined) return null;
    sum += (price.amount * MICRO * quantity) / divisor / (price.per ?? 1);
  }
  return Math.round(sum);
}

/** The prices of all kinds of work, and those of the kinds that are taken. */
export function pricesOfKind(
  prices: readonly Price[],
  takes: (kind: When[string]) => boolean,
): readonly Price[] {
  return prices.filter(({ when: { kind } = {} }) => kind === undefined || takes(kind));
}

/** What work with these inputs is expected to take; undefined where nothing is known. */
export function expectedUnits(
  { expected }: Pick<ModelPrices, 'expected'>,
  inputs: object,
): Units | undefined {
  if (!Array.isArray(expected)) return expected as Units | undefined;
  const list: readonly ExpectedUnits[] = expected;
  return list.find(({ when = {} }) => fits(when, inputs))?.units;
}

function fits(when: When, inputs: object): boolean {
  const { options }: { readonly options?: object } = inputs;
  const values = new Map<string, unknown>([...Object.entries(options ?? {}), ...Object.entries(inputs)]);
  return Object.entries(when).every(([name, value]) => values.get(name) === value);
}
