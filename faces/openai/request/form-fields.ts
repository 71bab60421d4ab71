import { type Json, type JsonObject, parseJson } from '../../../platform/json.ts';
import { isObject } from './fields.ts';

/** Fields of forms as the members that they stand for: OpenAI's SDKs write `{ options: { a: [1] } }` as `options[a][]=1`. Pure. */

type Entry = readonly [path: readonly string[], text: string];

/** The body of a form, all of whose values are texts. Of a name without brackets the last one counts. */
export function nestFields(values: ReadonlyMap<string, readonly string[]>): JsonObject {
  return toMembers([...values].flatMap(([name, texts]) => texts.map((text): Entry => [toPath(name), text])));
}

function toPath(name: string): readonly string[] {
  const [, first, rest = ''] = /^([^[\]]+)((?:\[[^[\]]*\])+)$/.exec(name) ?? [];
  return first === undefined ? [name] : [first, ...rest.slice(1, -1).split('][')];
}

function toMembers(entries: readonly Entry[]): JsonObject {
  const named = Map.groupBy(entries, ([[name = '']]) => name);
  return Object.fromEntries([...named].map(([name, own]) => [name, toValue(own.map(withoutFirst))]));
}

function toValue(entries: readonly Entry[]): Json {
  const whole = entries.findLast(([path]) => path.length === 0);
  if (whole !== undefined) return whole[1];
  if (!entries.every(([[name = '']]) => /^\d*$/.test(name))) return toMembers(entries);
  // What has no number is an item of its own.
  const items = Map.groupBy(entries, ([[name = '']], position) => (name === '' ? position : name));
  return [...items.values()].map((own) => toValue(own.map(withoutFirst)));
}

function withoutFirst([path, text]: Entry): Entry {
  return [path.slice(1), text];
}

/** Options with numbers and truth values where the model's schema asks for such and a form has their texts. */
export function withTypes(options: JsonObject, schema: unknown): JsonObject {
  const { properties } = Object(schema) as JsonObject;
  if (!isObject(properties)) return options;
  const typed = Object.entries(options).map(([name, value]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, isObject(known) ? withType(value, known['type']) : value] as const;
  });
  return Object.fromEntries(typed);
}

function withType(value: Json, type: Json | undefined): Json {
  const types = [type].flat();
  if (typeof value !== 'string' || types.includes('string')) return value;
  const read = parseJson(value);
  if (typeof read === 'boolean' && types.includes('boolean')) return read;
  const isNumber = types.includes('number') || types.includes('integer');
  return typeof read === 'number' && isNumber ? read : value;
}
