import { z } from 'zod';

import { badInput } from '../../../platform/errors.ts';
import type { MediaInput } from '../../../rest-compat/documents/media/start.ts';
import { type Catalog, describeModel } from '../work/catalog.ts';
import type { McpModel } from '../work/documents.ts';

/** Arguments that several tools have, from what the models of a kind take. */

/** Most models that a description reports; find_models has them all. */
const MAX_DESCRIBED = 40;

/** The model, of those that make a kind of thing. */
export function modelArgument(catalog: Catalog, kind: string) {
  const models = catalog.of(kind);
  const [first] = models;
  const lines = models.slice(0, MAX_DESCRIBED).map(describeModel);
  const text = `Which model; ${first?.id ?? 'none'} unless said otherwise. ${lines.join('\n')}`;
  return oneOf(models.map(({ id }) => id))
    .optional()
    .describe(text);
}

/** One of the words that a fact of these models has; any text where none has words. */
export function factArgument(models: readonly McpModel[], fact: 'aspectRatios' | 'sizes', text: string) {
  return oneOf([...new Set(models.flatMap((model) => model[fact] ?? []))])
    .optional()
    .describe(text);
}

function oneOf(words: readonly string[]): z.ZodType<string, string> {
  return words.length === 0 ? z.string() : z.enum(words as [string, ...string[]]);
}

/** What a model takes besides. */
export const options = z
  .record(z.string(), z.unknown())
  .optional()
  .describe(
    'What the model takes besides, in the names of its vendor: find_models with its id has the schema.',
  );

/** What every tool that spends takes. */
export const spending = {
  max_cost: z
    .number()
    .positive()
    .optional()
    .describe(
      'Most that it may cost, in the currency of the price list: beyond it, or when no price is known, nothing is started.',
    ),
  variation: z
    .number()
    .int()
    .optional()
    .describe(
      'The same call again answers the same task, while it runs and for ten minutes. Another number here makes another.',
    ),
};

/** A file: an address, or the id of a media. */
export const file = z.string().min(1).max(8_192);

/** How files are named. */
export const FILE_TEXT = 'an http or https address, or a media id of this server (list_my_media)';

const MEDIA_URI = /^(?:kiln:\/\/media\/)?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** The id that a text means, as itself or as the URI of a resource. */
export function readMediaId(text: string): string | undefined {
  return MEDIA_URI.exec(text)?.[1];
}

/** A file as inputs of the graph take it. */
export function mediaInput(name: string, text: string): MediaInput {
  const fileId = readMediaId(text);
  if (fileId !== undefined) return { fileId };
  if (/^https?:\/\//i.test(text)) return { url: text };
  throw badInput(name, `${name} is ${FILE_TEXT}`);
}

/** Inputs of the graph that the arguments of tools have other names for. */
const ARGUMENTS: ReadonlyMap<string, string> = new Map([
  ['aspectRatio', 'aspect_ratio'],
  ['generateAudio', 'sound'],
  ['lastFrame', 'last_image'],
  ['negativePrompt', 'negative_prompt'],
  ['voiceId', 'voice'],
]);

/** A refusal of the graph, which begins with the input that is wrong, with the name that the caller gave it. */
export function withArgumentName(message: string): string {
  return message.replace(/^\w+/, (name) => ARGUMENTS.get(name) ?? name);
}
