import type { Connection, Provider } from '../providers/provider.ts';
import type { Binding, CatalogModel } from './binding.ts';
import type { RegistryOptions } from './registry.ts';
import type { SandboxWires } from './sandbox-wires.ts';

/**
 * The generators that come with Kiln. Each points to the sandbox until its own setting is there; without a sandbox
 * (production) one without settings is absent, and asking for it says which setting is missing.
 */
export interface BundledOptions {
  /** Base URLs of the sandbox's stand-ins; null in production. */
  readonly sandboxUrls: SandboxWires | null;
  /** `config.providers`. */
  readonly settings: BundledSettings;
  /** Every provider, by name. */
  readonly providers: Readonly<Record<string, Provider>>;
}

export interface BundledSettings {
  readonly openai: { readonly apiKey: string | null; readonly baseUrl: string } | null;
  readonly midjourney: { readonly baseUrl: string; readonly secret: string | null } | null;
  readonly aggregator: { readonly baseUrl: string; readonly apiKey: string } | null;
}

interface BundledGenerator {
  readonly generator: string;
  readonly provider: 'midjourney' | 'openai';
  readonly model: string | null;
  /** Real address and header set, or null when its settings are absent. */
  readonly real: (settings: BundledSettings) => Target | null;
  /** The settings that would configure it, for the error that says so. */
  readonly settings: string;
  readonly catalog: Omit<CatalogModel, 'generator' | 'provider' | 'sandbox'>;
}

interface Target {
  readonly baseUrl: string;
  readonly headers: Readonly<Record<string, string>>;
}

const bearer = (key: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${key}` });

function midjourneyTarget({ midjourney }: BundledSettings): Target | null {
  if (midjourney === null) return null;
  const { baseUrl, secret } = midjourney;
  return { baseUrl, headers: secret === null ? {} : { 'mj-api-secret': secret } };
}

function aggregatorTarget({ aggregator }: BundledSettings): Target | null {
  return aggregator === null ? null : { baseUrl: aggregator.baseUrl, headers: bearer(aggregator.apiKey) };
}

function openaiTarget({ openai }: BundledSettings): Target | null {
  if (openai === null) return null;
  return { baseUrl: openai.baseUrl, headers: openai.apiKey === null ? {} : bearer(openai.apiKey) };
}

const midjourneyLimits = {
  category: 'image',
  inputs: ['prompt', 'images', 'aspectRatio', 'seed'],
  durations: null,
};
const generators: readonly BundledGenerator[] = [
  {
    generator: 'imga',
    provider: 'midjourney',
    model: null,
    real: midjourneyTarget,
    settings: 'MIDJOURNEY_BASE_URL',
    catalog: { ...midjourneyLimits, id: 'midjourney', name: 'Midjourney', sizes: null, maxPrompt: 4_000 },
  },
  {
    generator: 'agg/imga',
    provider: 'midjourney',
    model: null,
    real: aggregatorTarget,
    settings: 'AGG_BASE_URL and AGG_API_KEY',
    catalog: {
      ...midjourneyLimits,
      id: 'agg/midjourney',
      name: 'Midjourney through the aggregator',
      sizes: null,
      maxPrompt: 4_000,
    },
  },
  {
    generator: 'union',
    provider: 'openai',
    model: 'gpt-image-1',
    real: openaiTarget,
    settings: 'OPENAI_API_KEY',
    catalog: {
      id: 'gpt-image-1',
      name: 'GPT Image 1',
      category: 'image',
      inputs: ['prompt', 'images', 'aspectRatio', 'resolution', 'count'],
      sizes: ['1024x1024', '1536x1024', '1024x1536'],
      durations: null,
      maxPrompt: 32_000,
    },
  },
  {
    generator: 'llm',
    provider: 'openai',
    model: 'gpt-4o-mini',
    real: openaiTarget,
    settings: 'OPENAI_API_KEY',
    catalog: {
      id: 'gpt-4o-mini',
      name: 'GPT-4o mini',
      category: 'language',
      inputs: ['messages'],
      sizes: null,
      durations: null,
      maxPrompt: null,
    },
  },
];

/** What createGeneratorRegistry takes, for the bundled generators under these settings. */
export function bundledBindings({ sandboxUrls, settings, providers }: BundledOptions): RegistryOptions {
  const bindings: Binding[] = [];
  const models: CatalogModel[] = [];
  const missing: Record<string, string> = {};
  for (const entry of generators) {
    const provider = providers[entry.provider];
    const real = entry.real(settings);
    const target = real ?? (sandboxUrls && { baseUrl: sandboxUrls[entry.provider], headers: {} });
    if (target === null || provider === undefined) {
      missing[entry.generator] = entry.settings;
      continue;
    }
    const sandbox = real === null;
    bindings.push(bindingOf(entry, { provider, target, sandbox }));
    models.push({ ...entry.catalog, generator: entry.generator, provider: provider.name, sandbox });
  }
  return { bindings, models, missing };
}

function bindingOf(
  entry: BundledGenerator,
  { provider, target, sandbox }: { provider: Provider; target: Target; sandbox: boolean },
): Binding {
  const connection: Connection = {
    baseUrl: target.baseUrl,
    pathPrefix: '',
    headers: target.headers,
    credentials: {},
    model: entry.model,
    nodes: [],
    resultOrigins: [],
  };
  return {
    id: `${entry.generator}#0`,
    generator: entry.generator,
    provider,
    connection,
    sandbox,
    concurrency: sandbox ? 64 : 12,
    maxWaiting: 10_000,
    // The sandbox can be asked by reference; what it can't answer costs nothing to start again.
    restartUnknown: sandbox,
    stallSeconds: 900,
  };
}
