import type { ProvidersConfig } from '../../../../platform/config/providers.ts';
import type { SandboxAddresses } from '../../../../platform/config/sandbox-addresses.ts';
import { stepKinds, workKinds } from '../../domain/work/work.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import type { Binding } from '../bindings/binding.ts';
import { isAble, type RegistryOptions } from '../bindings/registry.ts';
import { narrowModel, type Catalog } from '../catalog/catalog.ts';
import type { CatalogEntry } from '../catalog/entry.ts';
import { BINDING_DEFAULTS, createBinding } from './create-binding.ts';
import {
  aggregated,
  ark,
  comfyui,
  fal,
  gemini,
  hedra,
  higgsfield,
  kling,
  midjourney,
  minimax,
  openai,
  replicate,
  volcengine,
  type Route,
} from './targets.ts';

/**
 * The generators that come with Kiln. Each binding points to the sandbox until its provider is configured; without a
 * sandbox (production) a binding without settings is absent, and using a generator that has none names the setting.
 */
export interface BundledOptions {
  /** Base URLs of the sandbox's stand-ins; null in production. */
  readonly sandboxUrls: SandboxAddresses | null;
  /** `config.providers`. */
  readonly settings: ProvidersConfig;
  /** Every provider, by name. */
  readonly providers: Readonly<Record<string, Provider>>;
  readonly catalog: Catalog;
}

interface BundledBinding {
  readonly provider: string;
  readonly route: Route;
  /** Which models of the wire callers may name, the default first. */
  readonly select: ModelSelection;
  /** What tells it, in its name, from another binding of its generator at the same provider. */
  readonly words: string | undefined;
}

/** Selects the models of a wire that a binding has, and names them. */
type ModelSelection = (models: readonly CatalogEntry[]) => readonly CatalogEntry[];

const everyModel: ModelSelection = (models) => models;
const ofKinds = (...kinds: string[]): ModelSelection => {
  return (models) => models.filter((model) => model.kinds.some((kind) => kinds.includes(kind)));
};
/** The models of these kinds, for these kinds alone: what answers chats with images makes them by itself, too. */
const onlyFor = (...kinds: string[]): ModelSelection => {
  return (models) => ofKinds(...kinds)(models).map((model) => narrowModel(model, kinds));
};
const throughAggregator: ModelSelection = (models) =>
  models.map((model) => ({ ...model, id: `agg/${model.id}`, name: `${model.name} through the aggregator` }));

function binding(
  provider: string,
  route: Route,
  select: ModelSelection = everyModel,
  words?: string,
): BundledBinding {
  return { provider, route, select, words };
}

const video = ofKinds('VIDEO');
const voice = ofKinds('SPEECH', 'VOICE_CLONE');
/** Videos between two frames only: both are needed then. */
const frames: ModelSelection = (models) =>
  models
    .filter(({ kinds }) => kinds.includes('FRAME_VIDEO'))
    .map((model) => ({ ...model, kinds: ['FRAME_VIDEO'] }));

/** generator -> its bindings, in the order of fall-back. */
const generators: Readonly<Record<string, readonly BundledBinding[]>> = {
  imga: [binding('midjourney', midjourney)],
  'agg/imga': [binding('midjourney', aggregated(midjourney, ''), throughAggregator)],
  vidb: [binding('minimax', minimax, video)],
  'agg/vidb': [binding('minimax', aggregated(minimax, '/minimax'), video)],
  vidc: [binding('kling', kling, video)],
  'agg/vidc': [binding('kling', aggregated(kling, '/kling'), video)],
  speech_router: [binding('minimax', minimax, voice)],
  'agg/speech_router': [binding('minimax', aggregated(minimax, '/minimax'), voice)],
  'speech/gemini': [binding('gemini', gemini, ofKinds('SPEECH'))],
  comfy: [binding('comfyui', comfyui)],
  // One binding per wire and kind: the model that runs unnamed is the binding's first.
  union: [
    binding('openai', openai, ofKinds('IMAGE'), 'image'),
    binding('gemini', gemini, onlyFor('IMAGE'), 'image'),
    binding('openai', openai, video, 'video'),
    binding('gemini', gemini, video, 'video'),
    binding('kling', kling, video, 'video'),
    binding('minimax', minimax, video, 'video'),
    binding('ark', ark, video, 'video'),
  ],
  'agg/lipsync': [binding('hedra', hedra)],
  'custom/charv': [binding('higgsfield', higgsfield)],
  'custom/frame': [
    binding('kling', kling, frames),
    binding('minimax', minimax, frames),
    binding('gemini', gemini, frames),
    binding('ark', ark, frames),
  ],
  custom: [
    binding('fal', fal, ofKinds('IMAGE'), 'image'),
    binding('replicate', replicate, ofKinds('IMAGE'), 'image'),
    binding('fal', fal, video, 'video'),
    binding('replicate', replicate, video, 'video'),
  ],
  'cloud/humanvid': [binding('volcengine', volcengine, ofKinds('PERSON_DETECTION', 'HUMAN_VIDEO'))],
  'cloud/digital': [binding('volcengine', volcengine, ofKinds('AVATAR_SOURCE', 'AVATAR', 'AVATAR_VIDEO'))],
  llm: [binding('openai', openai, ofKinds('CHAT'))],
  'llm/altllm': [binding('gemini', gemini, onlyFor('CHAT', 'ANALYSIS'))],
};

/** What createGeneratorRegistry takes, for the bundled generators under these settings. */
export function bundledBindings(options: BundledOptions): RegistryOptions {
  const bindings: Binding[] = [];
  const missing: Record<string, string> = {};
  for (const [generator, entries] of Object.entries(generators)) {
    const own = entries.flatMap(
      (entry, index) => createBundledBinding(entry, { ...options, generator, index }) ?? [],
    );
    bindings.push(...own);
    if (own.length === 0)
      missing[generator] = [...new Set(entries.map(({ route }) => route.settings))].join(' or ');
  }
  return { bindings, missing };
}

/** The binding of an entry; null when neither the settings nor the sandbox have an upstream for it. */
function createBundledBinding(
  { provider: name, route, select, words }: BundledBinding,
  options: BundledOptions & { readonly generator: string; readonly index: number },
): Binding | null {
  const { sandboxUrls, settings, providers, catalog, generator, index } = options;
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
  const real = route.real(settings);
  const connection = real ?? (sandboxUrls && route.sandbox(sandboxUrls));
  if (connection === null || provider === undefined) return null;
  const offered = select(catalog.listModels(name)).filter(
    ({ id }) => connection.lacks?.includes(id) !== true,
  );
  const models = offered.filter(({ kinds }) => kinds.some((kind) => isAble(provider, kind)));
  if (models.length === 0) return null;
  return createBinding({
    generator,
    index,
    provider,
    connection,
    settings: route.settings,
    words,
    models,
    today: catalog.today,
    sandbox: real === null,
    isAggregated: route.isAggregated,
    takesAnyModel: provider.describeModel !== undefined,
    concurrency: route.concurrency,
    attemptTimeoutSeconds: computeAttemptTimeout(models),
    retryUnknownStart: route.isFree,
    ...(real === null ? SANDBOX_LIMITS : {}),
  });
}

/** As long as the slowest of their kinds may take. */
function computeAttemptTimeout(models: readonly CatalogEntry[]): number {
  const kinds = models.flatMap((model) => stepKinds.filter((kind) => model.kinds.includes(kind)));
  const seconds = kinds.map((kind) => workKinds[kind].timeoutSeconds);
  const longest = models.map(({ longestSeconds }) => 2 * (longestSeconds ?? 0));
  return Math.max(BINDING_DEFAULTS.attemptTimeoutSeconds, ...seconds, ...longest);
}

/** Repeating a start at the sandbox costs nothing. */
const SANDBOX_LIMITS = { concurrency: 64, retryUnknownStart: true } as const;
