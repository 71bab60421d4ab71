import { badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type { FaceModel } from '../documents/models.ts';
import type { ImageInput } from '../documents/starts.ts';
import { findShape } from '../models/model.ts';
import { booleanIn, integerIn, isObject, neededText, objectIn, textIn } from '../request/fields.ts';
import { withTypes } from '../request/form-fields.ts';

/** What a caller asks for, as the graph takes it, and the names of what the model has nothing for. Pure. */
export interface ReadImage {
  readonly input: ImageInput;
  readonly ignored: readonly string[];
}

/** OpenAI's qualities of older models, in the words of newer ones. */
const QUALITIES: ReadonlyMap<string, string> = new Map([
  ['standard', 'medium'],
  ['hd', 'high'],
]);

/** Fields that go to the model as they are, where it has them. */
const VENDOR_FIELDS = [
  'partial_images',
  'output_compression',
  'moderation',
  'input_fidelity',
  'style',
  'user',
];

/** Fields about how a model makes an image, for which a graph has inputs of its own. */
export const MODEL_FIELDS: readonly string[] = ['quality', 'background', 'output_format', ...VENDOR_FIELDS];

/** Reads the fields that generations and edits have in common. Throws BAD_USER_INPUT. */
export function readImage(body: JsonObject, model: FaceModel, isStream: boolean): ReadImage {
  const ignored: string[] = [];
  const taken = (name: string, as: string, words: ReadonlyMap<string, string> = new Map()) => {
    const value = textIn(body, name);
    if (value === undefined || value === 'auto') return {};
    if (model.inputs.includes(as)) return { [as]: words.get(value) ?? value };
    ignored.push(name);
    return {};
  };
  const size = textIn(body, 'size');
  const shape = findShape(size, model);
  if (shape === null) ignored.push('size');
  const seed = integerIn(body, 'seed');
  const batch = booleanIn(body, 'batch');
  const input = {
    generator: model.generator,
    model: model.model,
    prompt: neededText(body, 'prompt'),
    ...readCount(body, model),
    ...shape,
    ...taken('quality', 'quality', QUALITIES),
    ...taken('background', 'background'),
    ...taken('output_format', 'outputFormat'),
    ...taken('negative_prompt', 'negativePrompt'),
    ...(seed === undefined ? {} : { seed }),
    ...(batch === true && { batch }),
    ...readOptions(checkPartialImages(body, isStream), model, ignored),
  };
  return { input, ignored };
}

/** Parts of an image come of streams with one image alone; 0 asks for none. */
function checkPartialImages(body: JsonObject, isStream: boolean): JsonObject {
  const { partial_images: _, ...rest } = body;
  const parts = integerIn(body, 'partial_images') ?? 0;
  if (parts < 0 || parts > 3) throw badInput('partial_images', 'partial_images must be from 0 to 3');
  return isStream && parts > 0 && (integerIn(body, 'n') ?? 1) === 1 ? body : rest;
}

function readCount(body: JsonObject, { inputs, maxCount, model }: FaceModel): { count?: number } {
  const count = integerIn(body, 'n') ?? 1;
  const most = inputs.includes('count') ? (maxCount ?? 10) : 1;
  if (count < 1 || count > most) throw badInput('n', `n must be from 1 to ${most} for the model ${model}`);
  return count === 1 ? {} : { count };
}

/** The extension `options`, and OpenAI's own fields that the model takes by their names. */
function readOptions(
  body: JsonObject,
  { optionsSchema }: FaceModel,
  ignored: string[],
): { options?: JsonObject } {
  const known = isObject(optionsSchema ?? undefined)
    ? (optionsSchema as JsonObject)['properties']
    : undefined;
  const named = VENDOR_FIELDS.flatMap((name) => {
    const value = body[name] ?? undefined;
    if (value === undefined || value === 'auto') return [];
    if (isObject(known) && known[name] !== undefined) return [[name, value] as const];
    ignored.push(name);
    return [];
  });
  const given = { ...Object.fromEntries(named), ...objectIn(body, 'options') };
  const options = withTypes(given, optionsSchema);
  return Object.keys(options).length === 0 ? {} : { options };
}
