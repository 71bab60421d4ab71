import { z } from 'zod';

import type { CatalogEntry } from '../../subgraphs/media/generators/catalog/entry.ts';

/** What differs between the catalog and a table of models such as LiteLLM's. Pure. */

const entry = z.looseObject({
  mode: z.string().optional(),
  litellm_provider: z.string().optional(),
  deprecation_date: z.string().optional(),
});

/** A table: name -> what it says of a model. */
export const modelTable = z.record(z.string(), entry);

type Table = z.infer<typeof modelTable>;

/** One difference, or an end that is near. */
export interface Finding {
  readonly kind:
    | 'ended default'
    | 'ends soon'
    | 'end differs'
    | 'price differs'
    | 'price disputed'
    | 'not offered'
    | 'option unknown'
    | 'missing';
  readonly model: string;
  readonly text: string;
}

/** How the table names the models of a provider. */
const NAMES: Readonly<Record<string, readonly [provider: string, prefix: string]>> = {
  openai: ['openai', ''],
  gemini: ['gemini', 'gemini/'],
  minimax: ['minimax', 'minimax/'],
  ark: ['volcengine', 'volcengine/'],
  fal: ['fal_ai', 'fal_ai/'],
  replicate: ['replicate', 'replicate/'],
};

const SOON_DAYS = 60;
const DAY_MS = 86_400_000;

/** The providers that can be compared. */
export const comparedProviders = Object.keys(NAMES);

/** Everything worth telling of a provider's models on a day, YYYY-MM-DD. */
export function compareModels(
  provider: string,
  models: readonly CatalogEntry[],
  { table, today }: { readonly table: Table; readonly today: string },
): readonly Finding[] {
  const [name = '', prefix = ''] = NAMES[provider] ?? [];
  const own = models.flatMap((model) => {
    const told = table[`${prefix}${model.id}`];
    const end = told?.deprecation_date;
    return [
      ...endFindings(model, { end, today, isDefault: isDefaultOf(model, models, today) }),
      ...(told === undefined ? [] : priceFindings(model, told, table[`medium/1024-x-1024/${model.id}`])),
    ];
  });
  const known = new Set(models.map(({ id }) => `${prefix}${id}`));
  const makes = new Set(models.map(({ category }) => MODES[category]));
  const missing = Object.entries(table).filter(
    ([id, told]) =>
      told.litellm_provider === name &&
      makes.has(told.mode) &&
      id.startsWith(prefix) &&
      !known.has(id) &&
      !(told.deprecation_date !== undefined && told.deprecation_date <= today) &&
      !IS_VARIANT.test(id.slice(prefix.length)),
  );
  return [
    ...own,
    ...missing.map(([id]): Finding => ({ kind: 'missing', model: id, text: 'is not in the catalog' })),
  ];
}

const MODES: Readonly<Record<string, string>> = {
  image: 'image_generation',
  video: 'video_generation',
  speech: 'audio_speech',
  language: 'chat',
};

/** Prices by quality and size, snapshots by date, and special purposes of language models. */
const IS_VARIANT =
  /^(low|medium|high|xhigh|max|standard|hd|\d+-x-\d+)\/|\d{4}-\d\d-\d\d$|-(audio|realtime|search|transcribe|latest)|^ft:/;

function isDefaultOf(model: CatalogEntry, models: readonly CatalogEntry[], today: string): boolean {
  const current = models.filter(({ retiresAt }) => retiresAt === null || retiresAt > today);
  return model.kinds.some((kind) => current.find(({ kinds }) => kinds.includes(kind)) === model);
}

function endFindings(
  { id, retiresAt }: CatalogEntry,
  { end, today, isDefault }: { end: string | undefined; today: string; isDefault: boolean },
): readonly Finding[] {
  const found: Finding[] = [];
  if (end !== undefined && end !== retiresAt) {
    found.push({ kind: 'end differs', model: id, text: `${end} in the table, ${retiresAt ?? 'none'} here` });
  }
  if (isDefault && end !== undefined && end <= today) {
    found.push({ kind: 'ended default', model: id, text: `is a default, and has ended on ${end}` });
  }
  const left = retiresAt === null ? Infinity : (Date.parse(retiresAt) - Date.parse(today)) / DAY_MS;
  if (left > 0 && left <= SOON_DAYS) {
    const role = isDefault ? 'a default, ' : '';
    found.push({ kind: 'ends soon', model: id, text: `${role}in ${left} days (${retiresAt})` });
  }
  return found;
}

/** Unit -> what the table calls its price; the first that is there counts. */
const PRICES = {
  picture: ['output_cost_per_image', 'input_cost_per_image'],
  second: ['output_cost_per_second', 'output_cost_per_video_per_second'],
  character: ['input_cost_per_character'],
  inputToken: ['input_cost_per_token'],
  cachedToken: ['cache_read_input_token_cost'],
  outputToken: ['output_cost_per_image_token', 'output_cost_per_token'],
} as const;

/** What says whether a video has sound. */
const SOUND = ['generateAudio', 'generate_audio', 'sound'];

/** Whether a price is of the usual size and speed, and of the quality that is sent where nobody names one. */
function isUsual(when: Readonly<Record<string, unknown>>): boolean {
  return (
    !('resolution' in when) &&
    !('service_tier' in when) &&
    !('serviceTier' in when) &&
    !SOUND.some((name) => name in when) &&
    (when['quality'] ?? 'medium') === 'medium'
  );
}

function priceFindings(
  { id, prices, sources }: CatalogEntry,
  told: Table[string],
  ofImage: Table[string] | undefined,
): readonly Finding[] {
  return Object.entries(PRICES).flatMap(([unit, names]): readonly Finding[] => {
    const usual = prices?.find(({ unit: own, when = {} }) => own === unit && isUsual(when));
    const table = unit === 'picture' && ofImage !== undefined ? ofImage : told;
    const theirs = names.map((name) => table[name]).find((value) => typeof value === 'number');
    if (usual === undefined || typeof theirs !== 'number') return [];
    const ours = usual.amount / (usual.per ?? 1);
    if (Math.abs(ours - theirs) <= theirs * 1e-6) return [];
    const text = `a ${unit}: ${theirs} in the table, ${ours} here`;
    const own = sources.find(({ of, disputed }) => disputed === true && of.includes('prices'));
    return own === undefined
      ? [{ kind: 'price differs', model: id, text }]
      : [{ kind: 'price disputed', model: id, text: `${text} (${own.from})` }];
  });
}
