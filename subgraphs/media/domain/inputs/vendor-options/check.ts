import { z } from 'zod';

import { badInput, type Problem } from '../../../../../platform/errors.ts';
import { isObject, type Json, type JsonObject } from '../../../../../platform/json.ts';
import { type OptionSchema, type OptionsSchema, allowedWords, listed, NOT_TAKEN } from './schema.ts';
import { schemaFor, findTranslations, type Translatable } from './translated.ts';

/** Checks options in the vendor's own names against the schema of a model. Pure. */

const MAX_LENGTH = 32_000;
const MAX_DEPTH = 8;
/** Most problems of one request. */
const MAX_PROBLEMS = 20;

/** Options as they are kept; undefined when there are none. BAD_USER_INPUT when they are no object, or too large. */
export function checkedOptions(options: unknown): JsonObject | undefined {
  if (options === undefined || options === null) return undefined;
  if (!isObject(options))
    throw badInput('options', "options must be an object: the vendor's names and values");
  if (!isShallow(options, MAX_DEPTH) || JSON.stringify(options).length > MAX_LENGTH) {
    throw badInput('options', `options may be at most ${MAX_LENGTH} characters and ${MAX_DEPTH} levels`);
  }
  return Object.keys(options).length === 0 ? undefined : options;
}

/**
 * Options that the model does not have, or not so, each by its path, and typed inputs that are sent as options, by their
 * names. A schema that is null: the model has none.
 */
export function vendorOptionProblems(
  { options, ...work }: Translatable,
  schema: OptionsSchema | null,
): readonly Problem[] {
  const own = schema === null ? null : schemaFor(schema, work.kind);
  const typed = findTranslations(work, own);
  const untaken = typed.filter(({ option }) => option === undefined);
  const lacking = untaken.map(({ input }) => ({ field: input, message: NOT_TAKEN }));
  if (schema === null || own === null) {
    return options === undefined ? lacking : [...lacking, { field: 'options', message: NOT_TAKEN }];
  }
  const translated = new Map(
    typed.flatMap(({ option, input, value }) => (option === undefined ? [] : [[option, { input, value }]])),
  );
  const values = Object.fromEntries([...translated].map(([option, { value }]) => [option, value]));
  const parsed = compiled(schema, own, work.kind).safeParse({ ...values, ...options });
  const wrong = parsed.success ? [] : parsed.error.issues.flatMap((issue) => toProblems(issue, own));
  const named = wrong.map(({ field, message }) => {
    const name = field.slice('options.'.length);
    const input =
      options !== undefined && Object.hasOwn(options, name) ? undefined : translated.get(name)?.input;
    return { field: input ?? field, message };
  });
  return [...lacking, ...named, ...clashes(options ?? {}, own, work)].slice(0, MAX_PROBLEMS);
}

/** Whether a problem is one of vendor options. */
export function isVendorOption(field: string): boolean {
  return field === 'options' || field.startsWith('options.');
}

/** Whether a schema has an option of a kind of work, by the path that problems name. */
export function hasOption(schema: OptionsSchema | null, field: string, kind: string): boolean {
  if (schema === null) return false;
  const names = field.split('.').slice(1);
  return names.length > 0 && schemaAt(schemaFor(schema, kind), names) !== undefined;
}

/** A schema is compiled once for each kind of work, and forgotten with its model. */
const known = new WeakMap<OptionsSchema, Map<string, z.ZodType>>();

function compiled(schema: OptionsSchema, own: OptionsSchema, kind: string): z.ZodType {
  const ofModel = known.get(schema) ?? new Map<string, z.ZodType>();
  known.set(schema, ofModel);
  const found = ofModel.get(kind) ?? z.fromJSONSchema(strict(own) as z.core.JSONSchema.JSONSchema);
  ofModel.set(kind, found);
  return found;
}

/** As it is compiled: members that no name stands for are refused, and defaults are left to the vendor. */
function strict({ items, properties, anyOf, additionalProperties, ...schema }: OptionSchema): object {
  const { default: _, title: __, description: ___, 'x-input': ____, 'x-kinds': _____, ...rest } = schema;
  const others =
    typeof additionalProperties === 'object' ? strict(additionalProperties) : additionalProperties;
  const isOfObjects = properties !== undefined || schema.type === 'object';
  return {
    ...rest,
    ...(items && { items: strict(items) }),
    ...(anyOf && { anyOf: anyOf.map(strict) }),
    ...(properties && {
      properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, strict(one)])),
    }),
    ...(isOfObjects && { additionalProperties: others ?? properties === undefined }),
  };
}

function toProblems(issue: z.core.$ZodIssue, schema: OptionsSchema): readonly Problem[] {
  const path = issue.path.map(String);
  const found = schemaAt(schema, path);
  if (issue.code === 'unrecognized_keys') {
    const names = Object.keys(found?.properties ?? {});
    return issue.keys.map((key) => ({
      field: formatPath([...path, key]),
      message: `${NOT_TAKEN}; it takes ${listed(names)}`,
    }));
  }
  return [{ field: formatPath(path), message: `must be ${allowedWords(found ?? {})}` }];
}

/** The schema of what is at a path; of several alternatives the first that has it. */
function schemaAt(schema: OptionSchema, path: readonly string[]): OptionSchema | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return schema;
  const own = schema.properties;
  const named = own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
  const others = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const inner = named ?? schema.items ?? others;
  if (inner !== undefined) return schemaAt(inner, rest);
  return schema.anyOf?.map((one) => schemaAt(one, path)).find((one) => one !== undefined);
}

/** Options that stand for typed inputs which are given too. */
function clashes(value: Json, schema: OptionSchema, work: object, path: readonly string[] = []): Problem[] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const option = schemaAt(schema, [name]);
    if (option === undefined) return [];
    const input = option['x-input'];
    const isTwice = input !== undefined && (work as Readonly<Record<string, unknown>>)[input] !== undefined;
    const own = isTwice
      ? [{ field: formatPath([...path, name]), message: `says what ${input} says too: send one of them` }]
      : [];
    return [...own, ...clashes(inner, option, work, [...path, name])];
  });
}

function formatPath(path: readonly string[]): string {
  return ['options', ...path].join('.');
}

function isShallow(value: Json, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth > 0 && Object.values(value).every((inner: Json) => isShallow(inner, depth - 1));
}
