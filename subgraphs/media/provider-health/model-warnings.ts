import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { CredentialRefusals } from '../generators/credentials/refusals.ts';

/** A model whose end is known, or that its upstream does not have. */
export interface ModelWarning {
  readonly model: string;
  /** The first day on which its provider refuses it, YYYY-MM-DD; null: none is known. */
  readonly retiresAt: string | null;
  /** Days until then, 0 and below: it has ended; null: no end is known. */
  readonly daysLeft: number | null;
  readonly successor: string | null;
  /** When its upstream refused it last, as one that it does not have; null: it did not. */
  readonly goneAt: Date | null;
}

/** The same, with whose model it is. */
export interface EndingModel extends ModelWarning {
  readonly provider: string;
  readonly generator: string;
}

/** Days before its end from which a model is reported. */
export const WARN_DAYS = 60;

interface Known {
  readonly registry: Pick<GeneratorRegistry, 'all'>;
  readonly refusals: Pick<CredentialRefusals, 'models'>;
}

/** Each model of a real upstream whose end is known or that it does not have, once for a provider. */
export function endingModels({ registry, refusals }: Known): readonly EndingModel[] {
  const all = registry.all().flatMap((binding) => {
    const { generator, provider } = binding;
    return findWarnings(binding, refusals).map((one) => ({ ...one, provider: provider.name, generator }));
  });
  const sorted = all.toSorted((one, other) => Number(one.goneAt !== null) - Number(other.goneAt !== null));
  return [...new Map(sorted.map((one) => [`${one.provider} ${one.model}`, one])).values()];
}

/** Those of a binding that need a look: they end soon, have ended, or are gone. */
export function urgentWarnings(
  binding: Binding,
  refusals: Pick<CredentialRefusals, 'models'>,
): readonly ModelWarning[] {
  return findWarnings(binding, refusals).filter(
    ({ goneAt, daysLeft }) => goneAt !== null || (daysLeft !== null && daysLeft <= WARN_DAYS),
  );
}

/** The sandbox ends no model. */
function findWarnings(
  { name, models = [], sandbox }: Binding,
  refusals: Pick<CredentialRefusals, 'models'>,
): readonly ModelWarning[] {
  const gone = new Map(refusals.models.of(name).map(({ model, at }) => [model, at]));
  const listed = models.flatMap(({ id, retiresAt, successor, daysLeft }): ModelWarning[] => {
    const goneAt = gone.get(id) ?? null;
    gone.delete(id);
    const end = sandbox ? null : retiresAt;
    if (end === null && goneAt === null) return [];
    return [{ model: id, retiresAt: end, daysLeft: end === null ? null : daysLeft(), successor, goneAt }];
  });
  const others = [...gone].map(([model, goneAt]) => ({
    model,
    retiresAt: null,
    daysLeft: null,
    successor: null,
    goneAt,
  }));
  return [...listed, ...others];
}
