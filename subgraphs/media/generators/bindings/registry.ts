import { AppError, badInput } from '../../../../platform/errors.ts';
import { pricesOfKind } from '../../domain/price.ts';
import { requestKind } from '../../domain/work/request.ts';
import type { StepKind } from '../../domain/work/work.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import type { Binding, CatalogModel, GeneratorRegistry, ListedModel } from './binding.ts';
import { identifyUpstream } from './identity.ts';

/** Generators and their bindings. What the bundled ones are is in bundled-bindings.ts. */
export interface RegistryOptions {
  /** In the order of fall-back within each generator. */
  readonly bindings: readonly Binding[];
  /** Generators that exist but have no binding here: which setting would give them one. */
  readonly missing?: Readonly<Record<string, string>>;
}

/** Makes the registry. Two bindings of one id or name are a mistake of the configuration and refused. */
export function createGeneratorRegistry({ bindings, missing = {} }: RegistryOptions): GeneratorRegistry {
  const ids = new Map(bindings.map((binding) => [binding.id, binding]));
  const ofName = new Map(bindings.map((binding) => [binding.name, binding]));
  if (Math.min(ids.size, ofName.size) !== bindings.length)
    throw new Error('two bindings have the same id or name');
  const byGenerator = Map.groupBy(bindings, (binding) => binding.generator);
  const names = [...new Set([...byGenerator.keys(), ...Object.keys(missing)])].sort();
  return {
    bindingsFor(generator, kind, model) {
      const own = byGenerator.get(generator);
      if (own === undefined) throw unknownGenerator(generator, { names, missing });
      const serving = own.filter((binding) => serves(binding, kind));
      if (serving.length === 0) {
        throw badInput('generator', `generator "${generator}" does not make ${toPlural(kind)}`);
      }
      const chosen = serving.filter((binding) => serves(binding, kind, model));
      if (chosen.length === 0) throw unknownModel(serving, kind);
      const current = chosen.filter((binding) => hasCurrent(binding, kind, model));
      if (current.length === 0) throw retiredModel(chosen, kind, model);
      return current;
    },
    byId: (id) => ids.get(id) ?? null,
    byName: (name) => ofName.get(name) ?? ids.get(name) ?? null,
    ofAttempt({ binding: id, bindingName, provider, upstream }) {
      const own = ofName.get(bindingName ?? '') ?? ids.get(id);
      const isIts = (one: Binding): boolean =>
        upstream === null ? one.provider.name === provider : identifyUpstream(one) === upstream;
      if (own !== undefined && isIts(own)) return own;
      // A fingerprint says for certain which it is; by the provider alone it could be another account.
      return upstream === null ? null : (bindings.find(isIts) ?? null);
    },
    all: () => bindings,
    missing: () => Object.fromEntries(Object.entries(missing).filter(([name]) => !byGenerator.has(name))),
    generators: (kind) =>
      [...byGenerator]
        .filter(([, own]) => kind === undefined || own.some((binding) => serves(binding, kind)))
        .map(([name]) => name),
    models: ({ generator, category, retired = false }) =>
      listModels(bindings).filter(
        (model) =>
          (retired || !model.isRetired()) &&
          (generator === undefined || model.generator === generator) &&
          (category === undefined || model.category === category),
      ),
  };
}

/** Every model once per generator, where its first binding has it. */
function listModels(bindings: readonly Binding[]): readonly ListedModel[] {
  const batched = new Set(
    bindings.flatMap(({ isBatched, models = [] }) => (isBatched === true ? models.map(formatModelKey) : [])),
  );
  const all = bindings.flatMap(({ models = [], prices }) =>
    models.map((model) => {
      const own = prices?.of(model.id) ?? null;
      const charges = own && {
        ...own,
        prices: pricesOfKind(own.prices, (kind) => model.kinds.includes(String(kind))),
        currency: prices?.currency ?? '',
      };
      return { ...model, charges, hasBatches: batched.has(formatModelKey(model)) };
    }),
  );
  const listed = [
    ...new Map(all.toReversed().map((model) => [formatModelKey(model), model])).values(),
  ].toReversed();
  const taken = new Set<string>();
  return listed.map((model) => {
    if (model.isRetired() || model.fetchedAt !== undefined) return { ...model, isDefault: false };
    const free = model.kinds.map((kind) => `${model.generator} ${kind}`).filter((kind) => !taken.has(kind));
    for (const kind of free) taken.add(kind);
    return { ...model, isDefault: free.length > 0 };
  });
}

function formatModelKey({ generator, id }: CatalogModel): string {
  return `${generator} ${id}`;
}

/** Whether a binding does this kind of work, with this model when one is named. */
export function serves({ provider, models }: Binding, kind: string, model?: string): boolean {
  if (!isAble(provider, kind) || models === undefined) return isAble(provider, kind);
  return models.some(({ id, kinds }) => kinds.includes(kind) && (model === undefined || id === model));
}

/**
 * Those that are at real providers if the first one is, else those at the sandbox: what a real account could not do is never made up,
 * and what was asked of the sandbox is never paid for.
 */
export function listFallbacks<Shape extends Binding>(bindings: readonly Shape[]): readonly Shape[] {
  return bindings.filter(({ sandbox }) => sandbox === bindings[0]?.sandbox);
}

/** Whether a binding has a model for this work that has not ended. */
function hasCurrent({ models }: Binding, kind: string, model?: string): boolean {
  return (
    models === undefined ||
    models.some(
      ({ id, kinds, isRetired, fetchedAt }) =>
        kinds.includes(kind) &&
        (model === undefined ? fetchedAt === undefined : id === model) &&
        !isRetired(),
    )
  );
}

/** Whether a wire can do this kind of work at all. */
export function isAble(provider: Provider, kind: string): boolean {
  if (kind === 'CHAT') return provider.chat !== undefined;
  const needed = requestKind(kind as StepKind);
  return needed in (provider.jobs ?? {}) || needed in (provider.calls ?? {});
}

/** A kind as the error of a generator that does not do it names it. */
function toPlural(kind: string): string {
  return `${kind.toLowerCase().replaceAll('_', ' ')}s`;
}

function unknownModel(serving: readonly Binding[], kind: string): AppError {
  return badInput('model', `model: is not one of this generator's models (${modelNames(serving, kind)})`);
}

/** The names of the models of a kind that have not ended, for an error that lists them. */
export function modelNames(bindings: readonly Binding[], kind: string): string {
  const known = bindings.flatMap(({ models = [] }) =>
    models.filter(({ kinds, isRetired }) => kinds.includes(kind) && !isRetired()),
  );
  return [...new Set(known.map(({ id }) => id))].join(', ');
}

function retiredModel(chosen: readonly Binding[], kind: string, model?: string): AppError {
  const ended = chosen
    .flatMap(({ models = [] }) => models)
    .filter(({ id, kinds }) => kinds.includes(kind) && (model === undefined || id === model));
  const [first] = ended;
  const name = first?.id ?? model ?? 'the model';
  const successor = first?.successor ?? null;
  const remedy = successor === null ? 'its provider names no successor' : `use ${successor}`;
  const field = model === undefined ? 'generator' : 'model';
  return new AppError('MODEL_RETIRED', `${field}: ${name} has ended on ${first?.retiresAt}; ${remedy}`, {
    field,
  });
}

function unknownGenerator(
  generator: string,
  known: { readonly names: readonly string[]; readonly missing: Readonly<Record<string, string>> },
): AppError {
  const setting = Object.hasOwn(known.missing, generator) ? known.missing[generator] : undefined;
  if (setting !== undefined) {
    return new AppError('NOT_CONFIGURED', `generator "${generator}" is not available here`, {
      field: 'generator',
    });
  }
  return badInput('generator', `there is no such generator; known are ${known.names.join(', ')}`);
}
