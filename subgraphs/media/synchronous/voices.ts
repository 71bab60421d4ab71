import { LRUCache } from 'lru-cache';

import { AppError } from '../../../platform/errors.ts';
import type { Json } from '../../../platform/json.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { VoiceList } from '../providers/contract/provider.ts';
import { bindingsWith, firstAnswer } from './capable-bindings.ts';

/** A voice that can speak. */
export interface Voice {
  readonly id: string;
  readonly name: string;
  readonly language: string | null;
  /** Whether cloneVoice made it. */
  readonly cloned: boolean;
}

/** The voices of providers, cached for a moment. */
export interface Voices {
  /** The voices of a generator, at most two seconds old, so that a new clone is soon among them. BAD_USER_INPUT for one that has none. */
  list(generator: string): Promise<readonly Voice[]>;
  /** The default voice: the first that the provider itself brings, else its first. UNAVAILABLE when it lists none. */
  first(generator: string): Promise<string>;
  /** The provider's own answer, from the same call. */
  answer(generator: string): Promise<Json>;
}

/** Milliseconds that an answer is cached. */
const FRESH_MS = 2_000;
const TIMEOUT_MS = 30_000;
/** Most generators whose voices are cached. */
const MAX_CACHED = 100;

/** Makes the cache over the generators' bindings; concurrent reads share one call. */
export function createVoices(registry: GeneratorRegistry): Voices {
  const cache = new LRUCache<string, VoiceList>({
    max: MAX_CACHED,
    ttl: FRESH_MS,
    fetchMethod: (generator) => fetchVoices(registry, generator),
  });
  async function listOf(generator: string): Promise<VoiceList> {
    // Unknown names are refused before the cache is read, so that they take no room in it.
    bindingsWith(registry, generator, 'voices');
    const list = await cache.fetch(generator);
    if (list === undefined) throw new Error('the cache dropped a value it was fetching');
    return list;
  }
  return {
    list: async (generator) => (await listOf(generator)).voices,
    first: async (generator) => firstOf((await listOf(generator)).voices),
    answer: async (generator) => (await listOf(generator)).answer,
  };
}

function firstOf(voices: readonly Voice[]): string {
  const voice = voices.find(({ cloned }) => !cloned) ?? voices[0];
  if (voice === undefined) throw new AppError('UNAVAILABLE', 'the generator of speech lists no voice');
  return voice.id;
}

function fetchVoices(registry: GeneratorRegistry, generator: string): Promise<VoiceList> {
  return firstAnswer(bindingsWith(registry, generator, 'voices'), ({ provider, connection }) =>
    provider.voices({ connection, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  );
}
