import type { Json } from '../../../../platform/json.ts';
import type { OptionSchema } from '../../domain/inputs/vendor-options/schema.ts';

/**
 * The schema of a vendor in the part of JSON Schema that options are described in: references and `allOf` are replaced by what they
 * name, `null` and patterns are dropped, what is too deep may be anything. It walks at most so many parts.
 */

const MAX_PARTS = 4_000;
/** Levels of one option. */
const MAX_DEPTH = 4;
const MAX_HOPS = 16;
const MAX_WORDS = 500;
const MAX_DEFAULT = 1_000;
const TYPES = ['string', 'number', 'integer', 'boolean', 'array', 'object'] as const;

interface Walk {
  readonly document: unknown;
  left: number;
}

type Part = Readonly<Record<string, unknown>>;

/** A schema without references. Throws RangeError when it has too many parts. */
export function plainSchema(schema: unknown, document: unknown): OptionSchema {
  return plain(schema, { document, left: MAX_PARTS }, MAX_DEPTH);
}

function plain(schema: unknown, walk: Walk, depth: number): OptionSchema {
  const part = single(merged(schema, walk, MAX_HOPS), walk);
  const words = {
    ...readText(part, 'title'),
    ...readText(part, 'description'),
    ...readDefault(part['default']),
  };
  const choices = part['anyOf'];
  if (Array.isArray(choices)) {
    const isUsable = depth > 0 && choices.length <= 8;
    return isUsable ? { ...words, anyOf: choices.map((one) => plain(one, walk, depth - 1)) } : words;
  }
  const type = readType(part);
  if (depth === 0 && (type === 'object' || type === 'array')) return words;
  return {
    ...words,
    ...(type !== undefined && { type }),
    ...readEnum(part),
    ...readNumbers(part, ['minimum', 'maximum']),
    ...readCounts(part, ['minLength', 'maxLength', 'minItems', 'maxItems']),
    ...(isPart(part['items']) && { items: plain(part['items'], walk, depth - 1) }),
    ...readMembers(part, walk, depth),
  };
}

function readMembers(part: Part, walk: Walk, depth: number): Pick<OptionSchema, 'properties' | 'required'> {
  if (!isPart(part['properties'])) return {};
  const names = Object.entries(part['properties']).filter(([name]) => /^[A-Za-z][\w.-]{0,99}$/.test(name));
  const properties = Object.fromEntries(names.map(([name, one]) => [name, plain(one, walk, depth - 1)]));
  const required = readList(part['required']).filter(
    (name): name is string => typeof name === 'string' && Object.hasOwn(properties, name),
  );
  return { properties, ...(required.length > 0 && { required }) };
}

/** Follows a reference, and puts the parts of `allOf` together; what the part itself says wins. */
function merged(schema: unknown, walk: Walk, hops: number): Part {
  walk.left -= 1;
  if (walk.left < 0 || hops === 0) throw new RangeError('the schema has too many parts');
  if (!isPart(schema)) return {};
  const { $ref: reference, allOf, ...own } = schema;
  const named = typeof reference === 'string' ? merged(pointed(reference, walk), walk, hops - 1) : {};
  const all = readList(allOf).map((one) => merged(one, walk, hops - 1));
  return Object.assign({}, named, ...all, own) as Part;
}

/** Without alternatives that are null; one that is left stands for itself. */
function single(part: Part, walk: Walk): Part {
  const { oneOf, anyOf = oneOf, nullable: _, ...own } = part;
  const choices = readList(anyOf)
    .map((one) => merged(one, walk, MAX_HOPS))
    .filter(({ type }) => type !== 'null');
  const [only] = choices;
  if (only === undefined) return own;
  return choices.length === 1 ? single({ ...only, ...own }, walk) : { ...own, anyOf: choices };
}

function pointed(reference: string, { document }: Walk): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (inner, name) => (isPart(inner) && Object.hasOwn(inner, name) ? inner[name] : undefined),
      document,
    );
}

function readType({ type, properties }: Part): (typeof TYPES)[number] | undefined {
  const named = Array.isArray(type) ? type.find((one) => one !== 'null') : type;
  return TYPES.find((one) => one === named) ?? (isPart(properties) ? 'object' : undefined);
}

function readEnum({ enum: written, const: only }: Part): Pick<OptionSchema, 'enum'> {
  const words = (only === undefined ? readList(written) : [only]).filter(
    (word): word is string | number | boolean => ['string', 'number', 'boolean'].includes(typeof word),
  );
  return words.length > 0 && words.length <= 200 ? { enum: words } : {};
}

function readNumbers(part: Part, names: readonly string[]): object {
  return Object.fromEntries(
    names.filter((name) => Number.isFinite(part[name])).map((name) => [name, part[name]]),
  );
}

function readCounts(part: Part, names: readonly string[]): object {
  const isCount = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= 0;
  return Object.fromEntries(names.filter((name) => isCount(part[name])).map((name) => [name, part[name]]));
}

function readText(part: Part, name: 'title' | 'description'): object {
  const text = part[name];
  return typeof text === 'string' && text !== '' ? { [name]: text.slice(0, MAX_WORDS) } : {};
}

function readDefault(value: unknown): Pick<OptionSchema, 'default'> {
  const isKept = value !== undefined && value !== null && JSON.stringify(value).length <= MAX_DEFAULT;
  return isKept ? { default: value as Json } : {};
}

function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function isPart(value: unknown): value is Part {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
