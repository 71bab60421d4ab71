import type { StepKind } from '../../domain/work/work.ts';
import type { GeneratorRegistry } from './binding.ts';
import { isAble } from './registry.ts';

/** What is asked for, as callers name it. */
interface NamedModel {
  readonly generator?: string | null | undefined;
  /** Absent: any. */
  readonly kind?: StepKind;
  readonly model?: string | null | undefined;
}

/**
 * Has the bindings of a generator read about a model that none of them lists, or whose description is old (`again`: in any case).
 * Nothing when it is known, or nobody has it. Throws what their `learnModel` throws.
 */
export async function learnModel(
  registry: Pick<GeneratorRegistry, 'all'>,
  { generator, kind, model }: NamedModel,
  again = false,
): Promise<void> {
  if (model === undefined || model === null) return;
  const able = registry
    .all()
    .filter(
      (binding) => binding.generator === generator && (kind === undefined || isAble(binding.provider, kind)),
    );
  const listing = able.filter(({ models = [] }) => models.some(({ id }) => id === model));
  for (const binding of listing.length > 0 ? listing : able) await binding.learnModel?.(model, again);
}
