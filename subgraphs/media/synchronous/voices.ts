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
  /** Whether it was made by cloneVoice. */
  readonly cloned: boolean;
}

/** Asks providers for their voices, seldom. */
export interface Voices {
  /** The voices of a generator, at most two seconds old, so that a new clone is soon among them. BAD_USER_INPUT for one that has none. */
  list(generator: string): Promise<readonly Voice[]>;
  /** Who speaks when nobody is named: the first voice that the provider itself brings, else its first. UNAVAILABLE when it lists none. */
  first(generator: string): Promise<string>;
  /** What its provider said itself, from the same answer. */
  answer(generator: string): Promise<Json>;
}

/** Milliseconds that an answer is used again. */
const FRESH_MS = 2_000;
const TIMEOUT_MS = 30_000;
/** Most generators whose voices are kept. */
const MAX_KEPT = 100;

/** Asks providers for their voices; those who ask at the same time share one question. */
export function createVoices(registry: GeneratorRegistry): Voices {
  const kept = new LRUCache<string, VoiceList>({
    max: MAX_KEPT,
    ttl: FRESH_MS,
    fetchMethod: (generator) => ask(registry, generator),
  });
  async function listOf(generator: string): Promise<VoiceList> {
    // Names that nobody has are refused before the cache is asked, so that they take no room in it.
    bindingsWith(registry, generator, 'voices');
    const list = await kept.fetch(generator);
    if (list === undefined) throw new Error('the cache forgot an answer it was waiting for');
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

function ask(registry: GeneratorRegistry, generator: string): Promise<VoiceList> {
  return firstAnswer(bindingsWith(registry, generator, 'voices'), ({ provider, connection }) =>
    provider.voices({ connection, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  );
}
