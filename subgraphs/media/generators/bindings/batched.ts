import type { BindingPrices } from '../../domain/price.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { Binding } from './binding.ts';

/**
 * A vendor's batches are bindings of their own beside those of its usual calls: with half the prices, a day of time, and slots that
 * take none from callers who wait. Work that says `batch` goes there first, and what a batch ends without goes on at the usual ones.
 */

/** A vendor does a batch within a day; then there is an hour for its results, and some hours for the usual calls. */
const BATCH_LIMITS = {
  concurrency: 2_000,
  maxWaiting: 50_000,
  requestsPerMinute: undefined,
  attemptTimeoutSeconds: 25 * 3_600,
  budgetSeconds: 30 * 3_600,
} as const;

/** The name of the binding of a vendor's batches, by that of the binding of its usual calls. */
export function nameBatches(name: string): string {
  return `${name}-batch`;
}

/** The bindings, and behind them one for each vendor that does work of it in batches. */
export function withBatches(bindings: readonly Binding[]): readonly Binding[] {
  const counts = new Map<string, number>();
  for (const { generator } of bindings) counts.set(generator, (counts.get(generator) ?? 0) + 1);
  const added = bindings.flatMap((binding): readonly Binding[] => {
    const batched = batchedBinding(binding, counts.get(binding.generator) ?? 0);
    if (batched === null) return [];
    counts.set(binding.generator, (counts.get(binding.generator) ?? 0) + 1);
    return [batched];
  });
  return [...bindings, ...added];
}

function batchedBinding(binding: Binding, index: number): Binding | null {
  const { generator, name, provider, connection, models, prices, sandbox } = binding;
  const { batches, inputProblems } = provider;
  if (batches === undefined || binding.isAggregated === true) return null;
  if (!sandbox && !batches.isAt(connection.baseUrl)) return null;
  const own = models
    ?.map((model) => ({ ...model, kinds: model.kinds.filter((kind) => kind in batches.jobs) }))
    .filter(({ kinds }) => kinds.length > 0);
  if (own?.length === 0) return null;
  return {
    ...binding,
    ...BATCH_LIMITS,
    id: `${generator}#${index}`,
    name: nameBatches(name),
    provider: { name: provider.name, jobs: batches.jobs, ...(inputProblems && { inputProblems }) },
    ...(own && { models: own }),
    ...(prices && { prices: halved(prices) }),
    takesAnyModel: false,
    isBatched: true,
  };
}

function halved(prices: BindingPrices): BindingPrices {
  return {
    currency: prices.currency,
    of(model) {
      const usual = prices.of(model);
      if (usual === null) return null;
      return { ...usual, prices: usual.prices.map((price) => ({ ...price, amount: price.amount / 2 })) };
    },
  };
}

/** Bindings in the order in which they are tried for this work: those of batches first, and only where it may wait. */
export function inOrderFor(input: StepInput, bindings: readonly Binding[]): readonly Binding[] {
  const usual = bindings.filter(({ isBatched }) => isBatched !== true);
  if (!('batch' in input) || !input.batch) return usual;
  return [...bindings.filter(({ isBatched }) => isBatched === true), ...usual];
}
