/** What work took at its upstream, and what that costs. Pure. */

/** Every measured quantity. */
export const unitNames = [
  'pictures',
  'milliseconds',
  'characters',
  'inputTokens',
  'cachedTokens',
  'outputTokens',
  'runs',
  'gpuMilliseconds',
] as const;

/** The name of a measured quantity: `milliseconds` are those of made video or sound, `gpuMilliseconds` those of computing. */
export type UnitName = (typeof unitNames)[number];

/** What was measured, as integers; a quantity that is absent was not. `inputTokens` are without the cached ones. */
export type Units = { readonly [Name in UnitName]?: number };

/** The largest number of a statistic: sums of millions of them still fit a bigint. */
const MAX_COUNTED = 1e12;

/** A number of an upstream as it is counted: an integer from 0 to 1e12; null for what is no number. */
export function wholeNumber(value: number | null): number | null {
  return value === null || !Number.isFinite(value)
    ? null
    : Math.min(MAX_COUNTED, Math.max(0, Math.round(value)));
}

/** Quantities as they are counted; those that are no numbers are absent. */
export function wholeUnits(units: Units): Units {
  const whole: { [Name in UnitName]?: number } = {};
  for (const name of unitNames) {
    const value = wholeNumber(units[name] ?? null);
    if (value !== null) whole[name] = value;
  }
  return whole;
}

/** What something costs. */
export interface Cost {
  /** Millionths of the currency; null: the price is unknown, which is never 0. */
  readonly microUnits: number | null;
  /** ISO 4217, upper case; null without a price list. */
  readonly currency: string | null;
  readonly units: Units;
  /** Whether some of it was not measured but expected from the inputs. */
  readonly estimated: boolean;
}

/** Both quantities together. */
export function addUnits(one: Units, other: Units): Units {
  const sum: { [Name in UnitName]?: number } = { ...one };
  for (const name of unitNames) {
    const more = other[name];
    if (more !== undefined) sum[name] = (sum[name] ?? 0) + more;
  }
  return sum;
}

/** Several costs together; unknown when one of them is. None cost nothing, in the currency that is given. */
export function sumCosts(costs: readonly Cost[], currency: string | null): Cost {
  const none: Cost = { microUnits: 0, currency, units: {}, estimated: false };
  return costs.reduce((sum, cost) => {
    const isKnown = sum.microUnits !== null && cost.microUnits !== null;
    return {
      microUnits: isKnown ? (sum.microUnits ?? 0) + (cost.microUnits ?? 0) : null,
      currency: cost.currency ?? sum.currency,
      units: addUnits(sum.units, cost.units),
      estimated: sum.estimated || cost.estimated,
    };
  }, none);
}

/**
 * The tokens of an answer as units; none when its provider counts none. `inputTokens` has the cached ones among it, `outputTokens`
 * those that made images, which are counted as images.
 */
export function tokenUnits(usage: {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens?: number | undefined;
  readonly imageTokens?: number | undefined;
}): Units {
  const { inputTokens, outputTokens, cachedTokens = 0, imageTokens = 0 } = usage;
  if (inputTokens + outputTokens === 0) return {};
  return {
    inputTokens: Math.max(0, inputTokens - cachedTokens),
    cachedTokens,
    outputTokens: Math.max(0, outputTokens - imageTokens),
  };
}
