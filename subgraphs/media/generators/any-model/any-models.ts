import { LRUCache } from 'lru-cache';

import { AppError, badInput, toError } from '../../../../platform/errors.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { NamedModel } from '../../providers/contract/provider.ts';
import type { Binding, CatalogModel } from '../bindings/binding.ts';
import { upstreamOf } from '../bindings/upstream.ts';
import {
  createDescriptions,
  isDue,
  keyOf,
  PAUSE_MS,
  type DescriptionOptions,
  type Descriptions,
} from './descriptions.ts';
import { isAllowed } from './patterns.ts';
import { refusalsOf } from './refused-fields.ts';
import type { FetchedModel } from './store.ts';

/**
 * Models that the catalog lacks, by the names of their vendors: described by the vendor once, and listed by the bindings behind
 * the catalog's own.
 */
export interface AnyModels {
  /** The same bindings; those that take any model learn of more. */
  watch(bindings: readonly Binding[]): readonly Binding[];
  /** Reads what is known: once before work begins. */
  load(): Promise<void>;
  close(): void;
}

interface AnyModelsOptions extends DescriptionOptions {
  /** Patterns of names that callers may use; none: the catalog's only. */
  readonly allowed: readonly string[];
}

/** Longest name, and most names that are remembered as nobody's. */
const MAX_NAME = 200;
const MAX_ABSENT = 1_000;

/** Milliseconds that a search may take, and most names that it finds at one vendor. */
const FIND_MS = 15_000;
const MAX_FOUND = 20;
/** How long what was found is kept, in milliseconds. */
const KEPT_MS = 5 * 60_000;

/** Makes the models of one process. */
export function createAnyModels({ allowed, ...options }: AnyModelsOptions): AnyModels {
  const descriptions = createDescriptions(options);
  const learn = createLearner(descriptions);
  const allows = (name: string): boolean => isAllowed(allowed, name);
  const find = createFinder(allows);
  const noteRefusal = (upstream: string, name: string): void => {
    if (descriptions.of(upstream, name) === undefined) return;
    descriptions.stale(upstream, name).catch((thrown: unknown) => {
      options.logger.warn(
        { error: toError(thrown), model: name },
        'a description could not be marked as stale',
      );
    });
  };

  function watched(binding: Binding): Binding {
    const { models: own, provider, takesAnyModel } = binding;
    if (own === undefined || takesAnyModel !== true || provider.describeModel === undefined) return binding;
    const upstream = upstreamOf(binding);
    const models: CatalogModel[] = [...own];
    descriptions.onChange(() => {
      const others = descriptions
        .all()
        .filter((model) => model.upstream === upstream && allows(model.entry.id));
      models.splice(own.length, models.length, ...others.flatMap((model) => listed(model, binding, own)));
    });
    return {
      ...binding,
      models,
      provider: refusalsOf(provider, (name) => noteRefusal(upstream, name)),
      findModels: (words) => find(binding, words),
      async learnModel(name, again = false) {
        if (own.some(({ id }) => id === name)) return;
        if (!/^[\w.-]+(\/[\w.-]+)+(:[\w.-]+)?$/.test(name) || name.length > MAX_NAME) return;
        if (!allows(name)) throw badInput('model', 'model: is not among the models that are allowed here');
        await learn(binding, name, again);
      },
    };
  }

  return {
    watch: (bindings) => (allowed.length === 0 ? bindings : bindings.map(watched)),
    load: () => descriptions.load(),
    close: () => descriptions.close(),
  };
}

/** Searches a vendor's names for those that are allowed. What it answered lately is kept: people type the same words. */
function createFinder(allows: (name: string) => boolean) {
  const lately = new LRUCache<string, Promise<readonly NamedModel[]>>({ max: 200, ttl: KEPT_MS });
  const ask = async ({ provider, connection }: Binding, words: string): Promise<readonly NamedModel[]> => {
    const context = { connection, signal: AbortSignal.timeout(FIND_MS) };
    const found = (await provider.findModels?.(words, context)) ?? [];
    return found.filter(({ model }) => allows(model)).slice(0, MAX_FOUND);
  };
  return (binding: Binding, words: string): Promise<readonly NamedModel[]> => {
    const key = `${upstreamOf(binding)} ${words.toLowerCase()}`;
    const answer = lately.get(key) ?? ask(binding, words);
    lately.set(key, answer);
    answer.catch(() => lately.delete(key));
    return answer;
  };
}

/** Has a name read about where that is due. Names that a vendor does not have are remembered for a while. */
function createLearner(descriptions: Descriptions) {
  const absent = new Map<string, number>();
  return async (binding: Binding, name: string, again: boolean): Promise<void> => {
    const upstream = upstreamOf(binding);
    const key = keyOf(upstream, name);
    const model = descriptions.of(upstream, name);
    const isKnown = model === undefined ? Date.now() - (absent.get(key) ?? 0) < PAUSE_MS : !isDue(model);
    if (isKnown && !again) return;
    try {
      await descriptions.read(binding, name);
    } catch (error) {
      // An older description is better than none.
      if (model !== undefined && !again) return;
      throw refusal(binding, error);
    }
    if (descriptions.of(upstream, name) !== undefined) return;
    if (absent.size >= MAX_ABSENT) absent.clear();
    absent.set(key, Date.now());
  };
}

/** As a model of the binding, for the kinds that it has anyway; none: it is no model for this binding. */
function listed(
  { entry, fetchedAt }: FetchedModel,
  { generator, provider, sandbox }: Binding,
  own: readonly CatalogModel[],
): readonly CatalogModel[] {
  const kinds = entry.kinds.filter((kind) => own.some((model) => model.kinds.includes(kind)));
  if (kinds.length === 0 || own.some(({ id }) => id === entry.id)) return [];
  const none = { daysLeft: () => null, isRetired: () => false };
  return [{ ...entry, ...none, kinds, generator, provider: provider.name, sandbox, fetchedAt }];
}

function refusal({ provider }: Binding, error: unknown): unknown {
  if (!(error instanceof UpstreamError)) return error;
  return new AppError('UNAVAILABLE', `model: ${provider.name} does not describe it now; try again later`, {
    field: 'model',
    cause: error,
  });
}
