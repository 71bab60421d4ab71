import type { CatalogEntry } from '../../subgraphs/media/generators/catalog/entry.ts';
import type { Finding } from './compare-models.ts';
import type { VendorList, VendorModel } from './read-list.ts';

/** What differs between the catalog and a vendor's own list. Pure. */

const SOON_DAYS = 60;
const DAY_MS = 86_400_000;

/** Names of models that make something that Kiln offers; lists have embeddings, moderation and such besides. */
const MAKES = /image|imagen|banana|veo|omni|sora|video|tts|speech|gpt-|gemini-|hailuo|seed/i;
/** Snapshots by date, and special purposes of language models. */
const IS_VARIANT =
  /\d{4}-\d\d-\d\d$|-(audio|realtime|search|transcribe|latest|embedding|codex|instruct)|^ft:/;

/** Everything worth telling of the models of a provider on a day, YYYY-MM-DD. */
export function compareWithVendor(
  models: readonly CatalogEntry[],
  { list, today }: { readonly list: VendorList; readonly today: string },
): readonly Finding[] {
  const listed = new Map(list.models.map((model) => [model.id, model]));
  const own = models.flatMap((model) => {
    const told = listed.get(model.id);
    const hasEnded = model.retiresAt !== null && model.retiresAt <= today;
    if (told === undefined) return list.isWhole && !hasEnded ? [notOffered(model, { models, today })] : [];
    return [
      ...compareEnds(model, told, { models, today }),
      ...comparePrice(model, told),
      ...compareOptions(model, told),
    ];
  });
  const known = new Set(models.map(({ id }) => id));
  const missing = list.models.filter(
    ({ id, isRetired }) => !known.has(id) && isRetired !== true && MAKES.test(id) && !IS_VARIANT.test(id),
  );
  return [...own, ...missing.map(({ id }) => finding('missing', id, 'is listed, and not in the catalog'))];
}

interface Known {
  readonly models: readonly CatalogEntry[];
  readonly today: string;
}

function finding(kind: Finding['kind'], model: string, text: string): Finding {
  return { kind, model, text };
}

function notOffered(model: CatalogEntry, known: Known): Finding {
  return isDefault(model, known)
    ? finding('ended default', model.id, 'is a default, and is not in the list')
    : finding('not offered', model.id, 'is not in the list');
}

function compareEnds({ id, ...model }: CatalogEntry, told: VendorModel, known: Known): readonly Finding[] {
  const found: Finding[] = [];
  const entry = { id, ...model };
  const end = told.retiresAt;
  if (end !== undefined && end !== model.retiresAt) {
    found.push(finding('end differs', id, `${end ?? 'none'} in the list, ${model.retiresAt ?? 'none'} here`));
  }
  const hasEnded = told.isRetired === true || (typeof end === 'string' && end <= known.today);
  if (hasEnded && isDefault(entry, known)) {
    found.push(finding('ended default', id, `is a default, and has ended${end ? ` on ${end}` : ''}`));
  } else if (hasEnded && !(model.retiresAt !== null && model.retiresAt <= known.today)) {
    found.push(finding('not offered', id, `has ended${end ? ` on ${end}` : ''}`));
  }
  const left = typeof end === 'string' ? (Date.parse(end) - Date.parse(known.today)) / DAY_MS : Infinity;
  if (left > 0 && left <= SOON_DAYS) found.push(finding('ends soon', id, `in ${left} days (${end})`));
  return found;
}

function isDefault(model: CatalogEntry, { models, today }: Known): boolean {
  const current = models.filter(({ retiresAt }) => retiresAt === null || retiresAt > today);
  return model.kinds.some((kind) => current.find(({ kinds }) => kinds.includes(kind))?.id === model.id);
}

function comparePrice({ id, prices }: CatalogEntry, { price }: VendorModel): readonly Finding[] {
  const ours = prices?.find(({ unit, when }) => unit === price?.unit && when === undefined);
  if (price === undefined || ours === undefined) return [];
  const amount = ours.amount / (ours.per ?? 1);
  if (Math.abs(amount - price.amount) <= price.amount * 1e-6) return [];
  return [finding('price differs', id, `a ${price.unit}: ${price.amount} in the list, ${amount} here`)];
}

/** Options of the catalog that the vendor's schema does not have. */
function compareOptions(model: CatalogEntry, told: VendorModel): readonly Finding[] {
  if (told.options === undefined) return [];
  const known = new Set(told.options);
  const unknown = optionNames(model).filter((name) => !known.has(name));
  return unknown.map((name) => finding('option unknown', model.id, `${name} is not in its schema`));
}

function optionNames(model: CatalogEntry): readonly string[] {
  const options: unknown = 'options' in model ? model.options : null;
  if (typeof options !== 'object' || options === null || !('properties' in options)) return [];
  return Object.keys(options.properties ?? {});
}
