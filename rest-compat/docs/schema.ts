import type { JsonSchema } from '../schemas/openapi-types.ts';

/** JSON Schemas in a short notation, such as `{ task_id: string, urls: [string] }`, and in words. Pure. */

/** The notation of a schema, on one line. */
export function notation(schema: JsonSchema): string {
  const { $ref, const: only, enum: words, anyOf, allOf, type, items, format } = schema;
  if (typeof $ref === 'string') return $ref.split('/').at(-1) ?? '';
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(' | ');
  if (Array.isArray(anyOf)) return unique(anyOf.map(notation)).join(' | ');
  if (Array.isArray(allOf)) return allOf.map(notation).join(' & ');
  if (type === 'array') return `[${notation((items ?? {}) as JsonSchema)}]`;
  if (type === 'object') return objectNotation(schema);
  if (Array.isArray(type)) return type.join(' | ');
  if (type === undefined) return 'anything';
  return format === 'date-time' ? 'time' : (type as string);
}

function objectNotation({ properties, required, additionalProperties }: JsonSchema): string {
  if (properties === undefined) return 'object';
  const needed = (required ?? []) as readonly string[];
  const members = Object.entries(properties as Record<string, JsonSchema>).map(
    ([name, inner]) => `${name}${needed.includes(name) ? '' : '?'}: ${notation(inner)}`,
  );
  return `{ ${[...members, ...(additionalProperties === true ? ['...'] : [])].join(', ')} }`;
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}

/** The type of an input, in a word. */
export function typeName(schema: JsonSchema): string {
  const { type, format, contentMediaType, anyOf, items } = schema;
  if (anyOf !== undefined) return 'file or address';
  if (contentMediaType === 'application/json') return 'JSON as text';
  if (contentMediaType !== undefined) return 'file';
  if (format === 'uri') return 'address';
  if (type === 'array') return `list of ${String((items as JsonSchema)['type'])}`;
  return Array.isArray(type) ? type.join(' or ') : String(type);
}

/** The limits of an input in words: bounds, choices, aliases. */
export function limitTexts(schema: JsonSchema): readonly string[] {
  const { minimum, maximum, enum: words, 'x-known-values': known, 'x-moved-into': range } = schema;
  const { 'x-accepted-types': accepted, 'x-aliases': aliases, 'x-extension': ours } = schema;
  return [
    ...(minimum === undefined ? [] : [`at least ${Number(minimum)}`]),
    ...(maximum === undefined ? [] : [`at most ${Number(maximum)}`]),
    ...(Array.isArray(range) ? [`moved into ${range.join(' to ')}`] : []),
    ...(Array.isArray(words) ? [`one of ${words.join(', ')}`] : []),
    ...(Array.isArray(known) ? [`known: ${known.join(', ')}`] : []),
    ...(Array.isArray(accepted) ? [`only ${accepted.join(', ')}`] : []),
    ...(Array.isArray(aliases) ? [`also taken as ${aliases.join(', ')}`] : []),
    ...(ours === true ? ['added by Kiln'] : []),
  ];
}
