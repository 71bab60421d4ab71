import type { VendorField } from '../../domain/inputs/model-limits.ts';
import type { OptionSchema } from '../../domain/inputs/vendor-options/schema.ts';
import type { WrittenEntry } from '../catalog/entry.ts';

/** Which of a vendor's fields says what a typed input says, and what it limits. Pure. */

/** The limits that a field can say. */
type Limits = Partial<
  Pick<
    WrittenEntry,
    'aspectRatios' | 'sizes' | 'durations' | 'counts' | 'maxCount' | 'maxImages' | 'maxPrompt'
  >
>;

/** What a field is as a typed input; null: it has another form than this input. */
type Reading = { readonly as?: VendorField['as']; readonly limits?: Limits } | null;

interface Rule {
  readonly input: string;
  /** The names that vendors give it; the first one that a model has is taken. */
  readonly names: readonly string[];
  readonly read: (schema: OptionSchema) => Reading;
}

const ONE_IMAGE = ['image_url', 'image', 'input_image', 'start_image', 'start_image_url', 'image_prompt'];
const FIRST = ['first_frame_image', 'first_frame_url', 'first_frame_image_url', 'first_frame'];
const LAST = [
  'end_image_url',
  'tail_image_url',
  'end_image',
  'last_frame_image',
  'last_frame_url',
  'last_image',
];
const MANY = ['image_urls', 'image_input', 'input_images', 'images', 'reference_images'];
const REFERENCES = ['reference_image_urls', 'reference_images', 'image_urls', 'input_images'];

const shared: readonly Rule[] = [
  { input: 'prompt', names: ['prompt'], read: prompt },
  { input: 'negativePrompt', names: ['negative_prompt'], read: text },
  { input: 'aspectRatio', names: ['aspect_ratio'], read: ratio },
  { input: 'aspectRatio', names: ['image_size'], read: falSize },
  { input: 'resolution', names: ['resolution'], read: size },
  { input: 'seed', names: ['seed'], read: (schema) => (isNumber(schema) ? {} : null) },
];

/** The rules of each kind, in the order of preference. */
export const typedFields: Readonly<Record<'IMAGE' | 'VIDEO', readonly Rule[]>> = {
  IMAGE: [
    ...shared,
    { input: 'count', names: ['num_images', 'num_outputs', 'number_of_images'], read: count },
    { input: 'images', names: MANY, read: images },
    { input: 'images', names: ONE_IMAGE, read: image },
    { input: 'mask', names: ['mask_url', 'mask_image_url', 'mask', 'mask_image'], read: text },
  ],
  VIDEO: [
    ...shared,
    { input: 'duration', names: ['duration', 'seconds', 'duration_seconds'], read: duration },
    { input: 'firstFrame', names: [...ONE_IMAGE, ...FIRST], read: text },
    { input: 'lastFrame', names: LAST, read: text },
    { input: 'references', names: REFERENCES, read: images },
  ],
};

function isNumber({ type }: OptionSchema): boolean {
  return type === 'integer' || type === 'number';
}

function text({ type, enum: words }: OptionSchema): Reading {
  return type === 'string' && words === undefined ? {} : null;
}

function prompt(schema: OptionSchema): Reading {
  const { maxLength } = schema;
  return text(schema) && { limits: maxLength === undefined ? {} : { maxPrompt: maxLength } };
}

function ratio({ type, enum: words }: OptionSchema): Reading {
  if (type !== 'string') return null;
  if (words === undefined) return {};
  const ratios = words.map(String).filter((word) => /^[1-9]\d?:[1-9]\d?$/.test(word));
  return ratios.length === 0 ? null : { limits: { aspectRatios: ratios } };
}

/** fal's image_size: words, or width and height. */
function falSize({ anyOf = [], enum: own = [] }: OptionSchema): Reading {
  const words = [...own, ...anyOf.flatMap(({ enum: inner = [] }) => inner)];
  const isSize = anyOf.some(({ properties }) => properties !== undefined && 'width' in properties);
  if (!isSize || !words.includes('landscape_4_3')) return null;
  return { as: 'size', limits: { aspectRatios: ['1:1', '4:3', '3:4', '16:9', '9:16'] } };
}

function size({ type, enum: words }: OptionSchema): Reading {
  if (type !== 'string') return null;
  return words === undefined ? {} : { limits: { sizes: words.map(String) } };
}

function count({ type, enum: numbers, maximum }: OptionSchema): Reading {
  if (type !== 'integer') return null;
  if (numbers !== undefined) return { limits: { counts: numbers.map(Number) } };
  return maximum === undefined || maximum < 1 ? {} : { limits: { maxCount: maximum } };
}

function images({ type, items, maxItems }: OptionSchema): Reading {
  if (type !== 'array' || (items?.type !== undefined && items.type !== 'string')) return null;
  return { as: 'list', limits: maxItems === undefined || maxItems < 1 ? {} : { maxImages: maxItems } };
}

function image(schema: OptionSchema): Reading {
  return text(schema) && { limits: { maxImages: 1 } };
}

/** Most whole seconds that are listed one by one. */
const MAX_DURATIONS = 60;

function duration(schema: OptionSchema): Reading {
  const { type, enum: words, minimum, maximum, default: usual } = schema;
  if (type === 'string') {
    const numbers = (words ?? []).map(String).filter((word) => /^\d+s?$/.test(word));
    const [first = ''] = numbers;
    if (first === '') return null;
    const as = first.endsWith('s') ? 'seconds' : 'text';
    return { as, limits: { durations: usualFirst(numbers.map(Number.parseFloat), usual) } };
  }
  if (!isNumber(schema)) return null;
  if (words !== undefined) return { limits: { durations: usualFirst(words.map(Number), usual) } };
  if (type !== 'integer' || minimum === undefined || maximum === undefined) return {};
  const least = Math.ceil(minimum);
  const length = Math.floor(maximum) - least + 1;
  if (!(length >= 1 && length <= MAX_DURATIONS)) return {};
  return {
    limits: {
      durations: usualFirst(
        [...Array(length).keys()].map((step) => least + step),
        usual,
      ),
    },
  };
}

function usualFirst(numbers: readonly number[], usual: unknown): number[] {
  const first = Number.parseFloat(String(usual));
  return numbers.includes(first) ? [first, ...numbers.filter((one) => one !== first)] : [...numbers];
}
