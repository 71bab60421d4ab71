import type { ModelsQuery } from '../api/documents/operations.ts';

/** What a model takes of what was filled in for another one. Pure. */

type Limits = Pick<
  ModelsQuery['models'][number],
  'sizes' | 'aspectRatios' | 'durations' | 'formats' | 'maxCount' | 'maxImages'
>;

/** The lists of a model that its choices are from. */
const LISTS = {
  resolution: 'sizes',
  aspectRatio: 'aspectRatios',
  duration: 'durations',
  format: 'formats',
} as const;

/** The values without those that this model does not offer; its own default stands in their place. */
export function takenBy(
  model: Limits,
  values: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(values).map(([member, value]) => [member, takenValue(model, member, value)]),
  );
}

function takenValue(model: Limits, member: string, value: unknown): unknown {
  if (member in LISTS) {
    const offered: readonly unknown[] | null = model[LISTS[member as keyof typeof LISTS]];
    return offered === null || offered.includes(value) ? value : null;
  }
  if (member === 'count' && model.maxCount !== null) return Math.min(Number(value), model.maxCount);
  if (member === 'images' && Array.isArray(value)) return value.slice(0, model.maxImages ?? undefined);
  return value;
}
