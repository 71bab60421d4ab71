import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

import type { TextFile } from '../../../../platform/config/text-file.ts';
import { once } from '../../../../platform/once.ts';
import type { ModelPrices } from '../../domain/price.ts';
import { type StepKind, workKinds, type WorkOf } from '../../domain/work/work.ts';
import { withCatalogFile, withSameOptions } from './catalog-file.ts';
import { catalogEntry, type CatalogEntry, catalogPage, type WrittenEntry } from './entry.ts';

const PROVIDERS = path.join(import.meta.dirname, '../../providers');

/** The models that come with Kiln, by provider: `models.json` in the folder of each. Read and checked once. */
export const bundledModels = once((): ReadonlyMap<string, readonly WrittenEntry[]> => {
  const pages = globSync('*/{,*-}models.json', { cwd: PROVIDERS })
    .toSorted()
    .map((file) => catalogPage.parse(JSON.parse(readFileSync(path.join(PROVIDERS, file), 'utf8'))));
  return new Map(pages.map(({ provider, models }) => [provider, models]));
});

/**
 * The models that Kiln knows, by the wire that speaks for them (models/*.json): their limits, prices and ends, each with
 * where it was read. The first of a kind that has not ended is the default. CATALOG_FILE changes and adds models. A model
 * of GENERATORS_FILE that is not here has only the limits of that file.
 *
 * A combination that only some values allow (MiniMax: 1080P in 6 s alone) is left to the vendor, who refuses it free of
 * charge. An option that a model does not list is refused: it would be dropped without a word.
 */
export type Catalog = ReturnType<typeof createCatalog>;

interface CatalogOptions {
  /** The text of CATALOG_FILE; null without one. */
  readonly file?: TextFile | null;
  /** The day to go by, YYYY-MM-DD; null: that of the clock, in UTC. */
  readonly date?: string | null;
}

/** Makes the catalog. Throws NOT_CONFIGURED with every mistake of CATALOG_FILE. */
export function createCatalog({ file = null, date = null }: CatalogOptions = {}) {
  const written = file === null ? bundledModels() : withCatalogFile(bundledModels(), file);
  const models = new Map([...written].map(([provider, own]) => [provider, withSameOptions(own)]));
  const listModels = (provider: string): readonly CatalogEntry[] => models.get(provider) ?? [];
  return {
    /** The known models of a wire, the default of each kind first. */
    listModels,
    /** What the provider charges for a model; null when that is not known. In US dollars, unless CATALOG_FILE has others. */
    findPrices(provider: string, model: string | null): ModelPrices | null {
      const entry = listModels(provider).find(({ id }) => id === model);
      if (entry === undefined || entry.prices === null) return null;
      const { prices, chargesFailures, expected } = entry;
      return { prices, chargesFailures, expected: expected ?? undefined };
    },
    /** The day that models end by, YYYY-MM-DD. */
    today: () => date ?? new Date().toISOString().slice(0, 10),
  };
}

const UNNAMED: ReadonlySet<string> = new Set(['midjourney', 'comfyui']);

/** Whether this wire carries a model's name; the others have but one model, or graphs that name theirs. */
export function namesModel(provider: string): boolean {
  return !UNNAMED.has(provider);
}

/** The category of a model that does this kind of work. */
function toCategory(kind = ''): string {
  if (kind === 'CHAT') return 'language';
  return Object.hasOwn(workKinds, kind) ? workKinds[kind as StepKind].category : 'other';
}

/** A model that Kiln does not know: it takes every input of its kinds, within no limits but those that all have. */
export function unknownModel(id: string, kinds: readonly string[]): CatalogEntry {
  const entry = catalogEntry.parse({
    id,
    name: id,
    category: toCategory(kinds[0]),
    kinds,
    inputs: listInputs(kinds),
  });
  return { ...entry, options: null };
}

/** Members of work that say what kind it is and who does it. */
type Common = 'kind' | 'generator' | 'model';

const VIDEO = [
  'prompt',
  'negativePrompt',
  'image',
  'firstFrame',
  'lastFrame',
  'aspectRatio',
  'resolution',
  'duration',
  'seed',
] as const;

/** The inputs of each kind of work, as the API names them. */
const INPUTS: { readonly [Kind in StepKind]: readonly Exclude<keyof WorkOf<Kind>, Common>[] } = {
  IMAGE: [
    'prompt',
    'negativePrompt',
    'images',
    'mask',
    'aspectRatio',
    'resolution',
    'count',
    'seed',
    'speedMode',
  ],
  DESCRIPTION: ['image'],
  VIDEO,
  FRAME_VIDEO: VIDEO,
  SPEECH: ['text', 'voiceId', 'speed', 'pitch', 'volume', 'emotion', 'format'],
  VOICE_CLONE: ['sample', 'voiceId', 'name', 'text'],
  COMFY_WORKFLOW: ['workflow', 'workflowName', 'node'],
  ANALYSIS: ['media', 'prompt', 'system'],
  LIP_SYNC: ['image', 'video', 'audio', 'text', 'voiceId', 'prompt', 'aspectRatio', 'resolution'],
  CHARACTER: ['name', 'images'],
  CHARACTER_IMAGE: ['characterId', 'prompt', 'aspectRatio', 'resolution', 'count', 'seed'],
  PERSON_DETECTION: ['image'],
  HUMAN_VIDEO: ['image', 'audio', 'prompt', 'resolution'],
  AVATAR_SOURCE: ['video'],
  AVATAR: ['videoId', 'name'],
  AVATAR_VIDEO: ['digitalId', 'audio', 'text', 'voiceId', 'resolution'],
};

/** The inputs of chats; `image`, `audio` and `video` are what messages may hold. */
const CHAT_INPUTS = [
  'messages',
  'system',
  'temperature',
  'maxTokens',
  'tools',
  'responseFormat',
  'reasoningEffort',
  'image',
  'audio',
  'video',
] as const;

/** A model as a generator has it that does only this work with it. */
export function narrowModel(model: CatalogEntry, kinds: readonly string[]): CatalogEntry {
  const own = model.kinds.filter((kind) => kinds.includes(kind));
  const inputs = listInputs(own);
  return {
    ...model,
    kinds: own,
    category: toCategory(own[0]),
    inputs: model.inputs.filter((input) => inputs.includes(input)),
  };
}

/** Every input that work of these kinds has; CHAT is one of them. */
function listInputs(kinds: readonly string[]): readonly string[] {
  const all: Readonly<Record<string, readonly string[]>> = { ...INPUTS, CHAT: CHAT_INPUTS };
  return [...new Set(kinds.flatMap((kind) => all[kind] ?? []))];
}
