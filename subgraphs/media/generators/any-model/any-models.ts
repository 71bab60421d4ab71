import { LRUCache } from 'lru-cache';

import { AppError, badInput, toError } from '../../../../platform/errors.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { JobCapability, NamedModel, Provider } from '../../providers/contract/provider.ts';
import type { Binding, CatalogModel } from '../bindings/binding.ts';
import { identifyUpstream } from '../bindings/identity.ts';
import {
  createDescriptions,
  type DescriptionOptions,
  type Descriptions,
  isDue,
  formatKey,
  PAUSE_MS,
} from './descriptions.ts';
import type { FetchedModel } from './store.ts';

/**
 * Models that the catalog lacks, by the names of their vendors: described by the vendor once, and listed by the bindings behind
 * the catalog's own.
 */
export type AnyModels = ReturnType<typeof createAnyModels>;

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
export function createAnyModels({ allowed, ...options }: AnyModelsOptions) {
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
    const upstream = identifyUpstream(binding);
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
      provider: watchRefusals(provider, (name) => noteRefusal(upstream, name)),
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
    /** The same bindings; those that take any model learn of more. */
    watch: (bindings: readonly Binding[]): readonly Binding[] =>
      allowed.length === 0 ? bindings : bindings.map(watched),
    /** Reads what is known: once before work begins. */
    load: (): Promise<void> => descriptions.load(),
    close: (): void => descriptions.close(),
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
    const key = `${identifyUpstream(binding)} ${words.toLowerCase()}`;
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
    const upstream = identifyUpstream(binding);
    const key = formatKey(upstream, name);
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

/** Whether a name fits one of the patterns, in which * stands for anything. Pure, in time that grows with both lengths. */
export function isAllowed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => fits(pattern.split('*'), name));
}

function fits([first = '', ...others]: readonly string[], name: string): boolean {
  const last = others.at(-1);
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last) || name.length < first.length + last.length)
    return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of others.slice(0, -1)) {
    const found = name.indexOf(part, at);
    if (found < 0 || found + part.length > end) return false;
    at = found + part.length;
  }
  return true;
}

/** The same provider; the listener receives models whose vendor has refused an input, when it starts or later. */
function watchRefusals(provider: Provider, refused: (model: string) => void): Provider {
  const tell = (error: unknown, model: string | null): void => {
    if (model !== null && error instanceof UpstreamError && error.code === 'INVALID_INPUT') refused(model);
  };
  const watched = (job: JobCapability): JobCapability => ({
    ...job,
    async start(request, context) {
      try {
        return await job.start(request, context);
      } catch (error) {
        tell(error, context.connection.model);
        throw error;
      }
    },
    async status(handle, context) {
      const status = await job.status(handle, context);
      if (status.state === 'failed') tell(status.error, context.connection.model);
      return status;
    },
  });
  const jobs = Object.entries(provider.jobs ?? {}).map(([kind, job]) => [
    kind,
    watched(job as JobCapability),
  ]);
  return { ...provider, jobs: Object.fromEntries(jobs) as Provider['jobs'] & object };
}
