import { isObject, type Json } from '../../../../platform/json.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Deepest nesting of a made value. */
const MAX_DEPTH = 8;
/** References that are followed one after the other: one may lead to itself. */
const MAX_REFERENCES = 20;

/**
 * A value that a JSON schema (or Gemini's, whose types are in capitals) allows: texts are the text itself, numbers the
 * first one in it, of a choice what the text names, else the first. Of an object that requires some members the others are left out.
 */
export function makeInstance(schema: Schema, text: string): Json {
  return make({ root: schema, text }, schema, 0);
}

interface Making {
  /** The whole schema, in which its references are looked up. */
  readonly root: Schema;
  readonly text: string;
}

function make(making: Making, part: Schema, depth: number): Json {
  const { root, text } = making;
  const schema = referred(root, part);
  if (Array.isArray(schema['enum'])) return choose(schema['enum'] as readonly Json[], text);
  if (schema['const'] !== undefined) return schema['const'] as Json;
  const { anyOf: variants = schema['oneOf'] } = schema;
  // A type that has itself in it ends with the last of its variants, which mostly is null.
  const variant: unknown = Array.isArray(variants) ? variants.at(depth < MAX_DEPTH ? 0 : -1) : undefined;
  if (isObject(variant)) return depth > 2 * MAX_DEPTH ? null : make(making, variant, depth + 1);
  const types = [schema['type']].flat();
  const type = types.find((name) => name !== 'null') ?? types[0];
  switch (typeof type === 'string' ? type.toLowerCase() : 'object') {
    case 'null':
      return null;
    case 'string':
      return text.slice(0, 200);
    case 'integer':
      return Math.trunc(firstNumber(text));
    case 'number':
      return firstNumber(text);
    case 'boolean':
      return /\b(yes|true)\b/i.test(text);
    case 'array':
      return depth > MAX_DEPTH ? [] : [make(making, (schema['items'] ?? {}) as Schema, depth + 1)];
    default: {
      const members = depth > MAX_DEPTH ? [] : neededMembers(schema);
      return Object.fromEntries(members.map(([name, member]) => [name, make(making, member, depth + 1)]));
    }
  }
}

/** What a `$ref` such as `#/$defs/Node` leads to; anything where that is not there. */
function referred(root: Schema, part: Schema): Schema {
  let found: unknown = part;
  for (let followed = 0; isObject(found) && followed < MAX_REFERENCES; followed += 1) {
    const { $ref: reference } = found;
    if (typeof reference !== 'string') return found;
    const [start, ...names] = reference.split('/');
    const step = (place: unknown, name: string) => (isObject(place) ? place[name] : undefined);
    found = start === '#' ? names.reduce<unknown>(step, root) : undefined;
  }
  return {};
}

function neededMembers(schema: Schema): readonly (readonly [string, Schema])[] {
  const members = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Schema>>);
  const required = Array.isArray(schema['required']) ? (schema['required'] as readonly unknown[]) : [];
  return members.filter(([name]) => required.length === 0 || required.includes(name));
}

function choose(choices: readonly Json[], text: string): Json {
  const isNamed = (one: Json) => text.includes(typeof one === 'string' ? one : JSON.stringify(one));
  return choices.find(isNamed) ?? choices[0] ?? null;
}

function firstNumber(text: string): number {
  return Number(/-?\d+(?:\.\d+)?/.exec(text)?.[0] ?? 0);
}
