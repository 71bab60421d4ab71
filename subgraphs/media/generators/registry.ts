import { AppError, badInput } from '../../../platform/errors.ts';
import type { Binding, CatalogModel, GeneratorRegistry } from './binding.ts';

/** Generators and their bindings. What the bundled ones are is in bundled-bindings.ts. */
export interface RegistryOptions {
  /** In the order of fall-back within each generator. */
  readonly bindings: readonly Binding[];
  readonly models: readonly CatalogModel[];
  /** Generators that exist but have no binding here: which setting would give them one. */
  readonly missing?: Readonly<Record<string, string>>;
}

/** Makes the registry. Two bindings of one id are a mistake of the configuration and refused. */
export function createGeneratorRegistry({
  bindings,
  models,
  missing = {},
}: RegistryOptions): GeneratorRegistry {
  const ids = new Map(bindings.map((binding) => [binding.id, binding]));
  if (ids.size !== bindings.length) throw new Error('two bindings have the same id');
  const byGenerator = Map.groupBy(bindings, (binding) => binding.generator);
  const names = [...new Set([...byGenerator.keys(), ...Object.keys(missing)])].sort();
  return {
    bindingsFor(generator, kind) {
      const own = byGenerator.get(generator);
      if (own === undefined) throw unknownGenerator(generator, { names, missing });
      const serving = own.filter((binding) => serves(binding, kind));
      if (serving.length === 0) {
        throw badInput('generator', `generator "${generator}" does not make ${kind.toLowerCase()}s`);
      }
      return serving;
    },
    byId: (id) => ids.get(id) ?? null,
    all: () => bindings,
    generators: (kind) =>
      [...byGenerator]
        .filter(([, own]) => kind === undefined || own.some((binding) => serves(binding, kind)))
        .map(([name]) => name),
    models: ({ generator, category }) =>
      models.filter(
        (model) =>
          (generator === undefined || model.generator === generator) &&
          (category === undefined || model.category === category),
      ),
  };
}

function serves({ provider }: Binding, kind: string): boolean {
  if (kind === 'CHAT') return provider.chat !== undefined;
  return kind in (provider.jobs ?? {}) || kind in (provider.calls ?? {});
}

function unknownGenerator(
  generator: string,
  known: { readonly names: readonly string[]; readonly missing: Readonly<Record<string, string>> },
): AppError {
  const setting = Object.hasOwn(known.missing, generator) ? known.missing[generator] : undefined;
  if (setting !== undefined) {
    return new AppError('NOT_CONFIGURED', `generator "${generator}" is not configured here: set ${setting}`, {
      field: 'generator',
    });
  }
  return badInput('generator', `there is no such generator; known are ${known.names.join(', ')}`);
}
