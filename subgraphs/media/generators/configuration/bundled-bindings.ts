import type { ProvidersConfig } from '../../../../platform/config/providers.ts';
import type { SandboxAddresses } from '../../../../platform/config/sandbox-addresses.ts';
import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { USUAL_SECONDS } from '../../domain/work/kind.ts';
import { stepKinds, workKinds } from '../../domain/work/work.ts';
import type { Provider } from '../../providers/contract/provider.ts';
import type { Binding } from '../bindings/binding.ts';
import { isAble, type RegistryOptions } from '../bindings/registry.ts';
import { modelsOf, namesModel } from '../models/catalog.ts';
import {
  aggregated,
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
  type Target,
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
}

interface BundledBinding {
  readonly provider: string;
  readonly route: Route;
  /** The models that callers may name, the default first. */
  readonly models: readonly ModelLimits[];
}

/** Which models of a wire, and under which ids. */
type Offer = (models: readonly ModelLimits[]) => readonly ModelLimits[];

const all: Offer = (models) => models;
const ofKinds = (...kinds: string[]): Offer => {
  return (models) => models.filter((model) => model.kinds.some((kind) => kinds.includes(kind)));
};
const throughAggregator: Offer = (models) =>
  models.map((model) => ({ ...model, id: `agg/${model.id}`, name: `${model.name} through the aggregator` }));

function offer(provider: string, route: Route, pick: Offer = all): BundledBinding {
  return { provider, route, models: pick(modelsOf(provider)) };
}

const video = ofKinds('VIDEO');
const voice = ofKinds('SPEECH', 'VOICE_CLONE');
/** Videos between two frames only: both are needed then. */
const frames: Offer = (models) =>
  models
    .filter(({ kinds }) => kinds.includes('FRAME_VIDEO'))
    .map((model) => ({ ...model, kinds: ['FRAME_VIDEO'] }));

/** generator -> its bindings, in the order of fall-back. */
const generators: Readonly<Record<string, readonly BundledBinding[]>> = {
  imga: [offer('midjourney', midjourney)],
  'agg/imga': [offer('midjourney', aggregated(midjourney, ''), throughAggregator)],
  vidb: [offer('minimax', minimax, video)],
  'agg/vidb': [offer('minimax', aggregated(minimax, '/minimax'), video)],
  vidc: [offer('kling', kling, video)],
  'agg/vidc': [offer('kling', aggregated(kling, '/kling'), video)],
  speech_router: [offer('minimax', minimax, voice)],
  'agg/speech_router': [offer('minimax', aggregated(minimax, '/minimax'), voice)],
  comfy: [offer('comfyui', comfyui)],
  // One binding per wire and kind: the model that runs unnamed is the binding's first.
  union: [
    offer('openai', openai, ofKinds('IMAGE')),
    offer('gemini', gemini, ofKinds('IMAGE')),
    offer('openai', openai, video),
    offer('gemini', gemini, video),
    offer('kling', kling, video),
    offer('minimax', minimax, video),
  ],
  'agg/lipsync': [offer('hedra', hedra)],
  'custom/charv': [offer('higgsfield', higgsfield)],
  'custom/frame': [
    offer('kling', kling, frames),
    offer('minimax', minimax, frames),
    offer('gemini', gemini, frames),
  ],
  custom: [
    offer('fal', fal, ofKinds('IMAGE')),
    offer('replicate', replicate, ofKinds('IMAGE')),
    offer('fal', fal, video),
    offer('replicate', replicate, video),
  ],
  'cloud/humanvid': [offer('volcengine', volcengine, ofKinds('PERSON_DETECTION', 'HUMAN_VIDEO'))],
  'cloud/digital': [offer('volcengine', volcengine, ofKinds('AVATAR_SOURCE', 'AVATAR', 'AVATAR_VIDEO'))],
  llm: [offer('openai', openai, ofKinds('CHAT'))],
  'llm/altllm': [offer('gemini', gemini, ofKinds('CHAT', 'ANALYSIS'))],
};

/** What createGeneratorRegistry takes, for the bundled generators under these settings. */
export function bundledBindings({ sandboxUrls, settings, providers }: BundledOptions): RegistryOptions {
  const bindings: Binding[] = [];
  const missing: Record<string, string> = {};
  for (const [generator, entries] of Object.entries(generators)) {
    const own = entries.flatMap((entry, index) => {
      const provider = Object.hasOwn(providers, entry.provider) ? providers[entry.provider] : undefined;
      const real = entry.route.real(settings);
      const target = real ?? (sandboxUrls && entry.route.sandbox(sandboxUrls));
      if (target === null || provider === undefined) return [];
      const models = entry.models.filter(({ kinds }) => kinds.some((kind) => isAble(provider, kind)));
      if (models.length === 0) return [];
      return [
        bindingOf(
          { ...entry, models },
          {
            id: `${generator}#${index}`,
            generator,
            provider,
            target,
            sandbox: real === null,
          },
        ),
      ];
    });
    bindings.push(...own);
    if (own.length === 0)
      missing[generator] = [...new Set(entries.map(({ route }) => route.settings))].join(' or ');
  }
  return { bindings, missing };
}

interface Place {
  readonly id: string;
  readonly generator: string;
  readonly provider: Provider;
  readonly target: Target;
  readonly sandbox: boolean;
}

function bindingOf(entry: BundledBinding, { id, generator, provider, target, sandbox }: Place): Binding {
  return {
    id,
    generator,
    provider,
    connection: {
      pathPrefix: '',
      headers: {},
      credentials: {},
      nodes: [],
      ...target,
      model: namesModel(provider.name) ? (entry.models[0]?.id ?? null) : null,
      resultOrigins: [],
    },
    sandbox,
    models: entry.models.map((model) => ({ ...model, generator, provider: provider.name, sandbox })),
    ...LIMITS,
    concurrency: entry.route.concurrency ?? LIMITS.concurrency,
    attemptTimeoutSeconds: attemptTimeoutOf(entry.models),
    retryUnknownStart: entry.route.isFree ?? false,
    ...(sandbox ? SANDBOX_LIMITS : {}),
  };
}

/** As long as the slowest of their kinds may take. */
function attemptTimeoutOf(models: readonly ModelLimits[]): number {
  const kinds = models.flatMap((model) => stepKinds.filter((kind) => model.kinds.includes(kind)));
  return Math.max(LIMITS.attemptTimeoutSeconds, ...kinds.map((kind) => workKinds[kind].timeoutSeconds));
}

/** The defaults of bindings. */
export const LIMITS = {
  concurrency: 12,
  maxWaiting: 10_000,
  retryUnknownStart: false,
  attemptTimeoutSeconds: USUAL_SECONDS,
} as const satisfies Partial<Binding>;

/** Repeating a start at the sandbox costs nothing. */
const SANDBOX_LIMITS = { concurrency: 64, retryUnknownStart: true } as const;
