import { badInput } from '../../../../platform/errors.ts';
import type { VendorField } from '../../domain/inputs/model-limits.ts';
import type { OptionSchema } from '../../domain/inputs/vendor-options/schema.ts';
import type { VendorModel } from '../../providers/contract/provider.ts';
import { catalogEntry, type CatalogEntry } from '../catalog/entry.ts';
import { plainSchema } from './plain-schema.ts';
import { typedFields } from './typed-fields.ts';

/** An entry of the catalog from what a vendor publishes of a model. Pure. */

const MAX_DOCUMENT = 1_000_000;
const MAX_DEPTH = 40;

type Members = Readonly<Record<string, OptionSchema>>;

/** Options that say what a typed input says, which is sent as the option (domain/inputs/vendor-options/translated.ts). */
const TRANSLATED: Readonly<Record<string, string>> = {
  quality: 'quality',
  background: 'background',
  output_format: 'outputFormat',
  generate_audio: 'generateAudio',
};
/** What would change how the result comes, which is Kiln's own affair. */
const UNSENT = new Set(['sync_mode']);

/** The model with this id. BAD_USER_INPUT when its description can't be used. `read` is today, YYYY-MM-DD. */
export function toCatalogEntry(id: string, model: VendorModel, read: string): CatalogEntry {
  const { properties = {}, required = [] } = findInputs(model);
  const kind = detectKind(model, properties);
  if (kind === null) throw unusable('makes neither images nor videos');
  const { fields, limits, taken } = mapFields(properties, kind);
  const options = buildOptions(properties, required, taken);
  const { version } = model;
  const parsed = catalogEntry.safeParse({
    id,
    name: model.name.slice(0, 200) || id,
    category: kind.toLowerCase(),
    kinds:
      kind === 'VIDEO' && 'firstFrame' in fields && 'lastFrame' in fields ? [kind, 'FRAME_VIDEO'] : [kind],
    inputs: [
      ...Object.keys(fields),
      ...('firstFrame' in fields ? ['image'] : []),
      ...Object.values(options.properties).flatMap((option) => option['x-input'] ?? []),
    ],
    needs: Object.entries(fields)
      .filter(([, { name }]) => required.includes(name))
      .map(([input]) => input),
    ...limits,
    options,
    wire: { fields, ...(version !== undefined && { version }) },
    sources: [{ of: ['inputs', 'options'], from: model.source, read }],
  });
  if (parsed.success) return { ...parsed.data, options };
  throw unusable('has a description that is too large, or that can not be read');
}

function unusable(why: string): Error {
  return badInput('model', `model: ${why}`);
}

/** What it takes. The document is looked at first: one that is too deep is not to be walked at all. */
function findInputs({ document, input }: VendorModel): OptionSchema {
  try {
    const isBounded =
      isShallow(document, MAX_DEPTH) && (JSON.stringify(document)?.length ?? 0) <= MAX_DOCUMENT;
    const schema = isBounded ? plainSchema(input, document) : {};
    if (schema.properties !== undefined) return schema;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw unusable('has a description that is too large, or that can not be read');
}

function isShallow(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner: unknown) => isShallow(inner, depth - 1));
}

const OF_VIDEOS = ['duration', 'fps', 'num_frames', 'frames', 'frames_per_second', 'video_length', 'video'];

/** By the names of its results; where these are plain addresses, by what it has made once, then by what it takes. */
function detectKind({ output, document, example }: VendorModel, inputs: Members): 'IMAGE' | 'VIDEO' | null {
  const { properties, type } = plainSchema(output, document);
  if (properties !== undefined) {
    if ('video' in properties || 'videos' in properties) return 'VIDEO';
    return 'images' in properties || 'image' in properties ? 'IMAGE' : null;
  }
  if (type !== 'string' && type !== 'array') return null;
  const made = String(Array.isArray(example) ? example[0] : example).toLowerCase();
  const [, ending] = /\.(\w{2,5})(?:\?|$)/.exec(made) ?? [];
  if (ending === undefined) return OF_VIDEOS.some((name) => Object.hasOwn(inputs, name)) ? 'VIDEO' : 'IMAGE';
  if (/^(mp4|webm|mov|m4v)$/.test(ending)) return 'VIDEO';
  return /^(png|jpe?g|webp|gif|avif)$/.test(ending) ? 'IMAGE' : null;
}

function mapFields(properties: Members, kind: 'IMAGE' | 'VIDEO') {
  const fields: Record<string, VendorField> = {};
  let limits: object = {};
  const taken = new Set<string>();
  for (const { input, names, read } of typedFields[kind]) {
    if (Object.hasOwn(fields, input)) continue;
    for (const name of names) {
      const schema = Object.hasOwn(properties, name) && !taken.has(name) ? properties[name] : undefined;
      const reading = schema === undefined ? null : read(schema);
      if (reading === null) continue;
      fields[input] = { name, ...(reading.as !== undefined && { as: reading.as }) };
      limits = { ...limits, ...reading.limits };
      taken.add(name);
      break;
    }
  }
  return { fields, limits, taken };
}

function buildOptions(properties: Members, required: readonly string[], taken: ReadonlySet<string>) {
  const left = Object.entries(properties).filter(([name]) => !taken.has(name) && !UNSENT.has(name));
  const needed = required.filter((name) => left.some(([other]) => other === name));
  return {
    type: 'object' as const,
    properties: Object.fromEntries(left.map(([name, schema]) => [name, withInput(name, schema)])),
    ...(needed.length > 0 && { required: needed }),
  };
}

function withInput(name: string, schema: OptionSchema): OptionSchema {
  const input = Object.hasOwn(TRANSLATED, name) ? TRANSLATED[name] : undefined;
  const fits = schema.type === (name === 'generate_audio' ? 'boolean' : 'string');
  return input !== undefined && fits ? { ...schema, 'x-input': input } : schema;
}
