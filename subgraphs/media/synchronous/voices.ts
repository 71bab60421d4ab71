import { LRUCache } from 'lru-cache';

import type { Caller } from '../../../platform/access/caller.ts';
import type { AuthMode } from '../../../platform/access/policy.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Json } from '../../../platform/json.ts';
import type { GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { VoiceList } from '../providers/contract/provider.ts';
import type { ResourceOwners } from '../resource-ownership/owners.ts';
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
export type Voices = ReturnType<typeof createVoices>;

/** Milliseconds that an answer is cached. */
const FRESH_MS = 2_000;
const TIMEOUT_MS = 30_000;
/** Most generators whose voices are cached. */
const MAX_CACHED = 100;

/** What listing voices needs. */
export interface VoicesOptions {
  readonly registry: GeneratorRegistry;
  readonly owners: Pick<ResourceOwners, 'ofVoices'>;
  readonly authMode: AuthMode;
}

/** Makes the cache over the generators' bindings; concurrent reads share one call. */
export function createVoices({ registry, owners, authMode }: VoicesOptions) {
  const cache = new LRUCache<string, VoiceList>({
    max: MAX_CACHED,
    ttl: FRESH_MS,
    fetchMethod: (generator) => fetchVoices(registry, generator),
  });
  async function readList(generator: string): Promise<VoiceList> {
    // Unknown names are refused before the cache is read, so that they take no room in it.
    bindingsWith(registry, generator, 'voices');
    const list = await cache.fetch(generator);
    if (list === undefined) throw new Error('the cache dropped a value it was fetching');
    return list;
  }
  return {
    /**
     * The provider's own voices and those that the caller cloned, at most two seconds old, so that a new clone is soon
     * among them. Administrators see all; in open mode everybody what nobody owns. BAD_USER_INPUT for a generator that
     * has none.
     */
    async list(caller: Caller, generator: string): Promise<readonly Voice[]> {
      const { voices } = await readList(generator);
      if (isAdministrator(caller)) return voices;
      const made = await owners.ofVoices(voices.filter(({ cloned }) => cloned).map(({ id }) => id));
      return voices.filter(({ id, cloned }) => !cloned || isListed(caller, authMode, made.get(id)));
    },
    /** The default voice: the first that the provider itself brings. UNAVAILABLE when it lists none. */
    first: async (generator: string): Promise<string> => requireFirst((await readList(generator)).voices),
    /** The provider's own answer, from the same call; {} for all but administrators, as it lists everybody's voices. */
    async answer(caller: Caller, generator: string): Promise<Json> {
      const { answer } = await readList(generator);
      return isAdministrator(caller) ? answer : {};
    },
  };
}

function isAdministrator({ kind, scopes }: Caller): boolean {
  return kind === 'internal' || scopes.includes('admin');
}

/** Callers without a credential share one owner: in a list they see each other's in open mode alone. */
function isListed(caller: Caller, authMode: AuthMode, owners: ReadonlySet<string> | undefined): boolean {
  if (caller.kind !== 'anonymous' && owners?.has(caller.id) === true) return true;
  return authMode === 'open' && (owners === undefined || owners.has('anon'));
}

function requireFirst(voices: readonly Voice[]): string {
  const voice = voices.find(({ cloned }) => !cloned);
  if (voice === undefined)
    throw new AppError('UNAVAILABLE', 'the generator of speech lists no voice of its own');
  return voice.id;
}

function fetchVoices(registry: GeneratorRegistry, generator: string): Promise<VoiceList> {
  return firstAnswer(bindingsWith(registry, generator, 'voices'), ({ provider, connection }) =>
    provider.voices({ connection, signal: AbortSignal.timeout(TIMEOUT_MS) }),
  );
}
