import type { Json } from '../../../../platform/json.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Deepest nesting of a made value. */
const MAX_DEPTH = 8;

/**
 * A value that a JSON schema (or Gemini's, whose types are in capitals) allows: texts are the text itself, numbers the
 * first one in it, of a choice what the text names, else the first. Of an object that requires some members the others are left out.
 */
export function makeInstance(schema: Schema, text: string, depth = 0): Json {
  const choices = Array.isArray(schema['enum']) ? (schema['enum'] as readonly Json[]) : null;
  if (choices !== null)
    return (
      choices.find((one) => text.includes(typeof one === 'string' ? one : JSON.stringify(one))) ??
      choices[0] ??
      null
    );
  if (schema['const'] !== undefined) return schema['const'] as Json;
  const [variant] = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as readonly Schema[]) : [];
  if (variant !== undefined) return makeInstance(variant, text, depth);
  const type = [schema['type']].flat().find((name) => name !== 'null');
  switch (typeof type === 'string' ? type.toLowerCase() : 'object') {
    case 'string':
      return text.slice(0, 200);
    case 'integer':
    case 'number':
      return Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 0);
    case 'boolean':
      return /\b(yes|true)\b/i.test(text);
    case 'array':
      return depth > MAX_DEPTH ? [] : [makeInstance((schema['items'] ?? {}) as Schema, text, depth + 1)];
    default: {
      const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
      const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : [];
      const needed = properties.filter(([name]) => required.length === 0 || required.includes(name));
      const values = depth > MAX_DEPTH ? [] : needed;
      return Object.fromEntries(values.map(([name, one]) => [name, makeInstance(one, text, depth + 1)]));
    }
  }
}
