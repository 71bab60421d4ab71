import type { OptionSchema } from './schema.ts';

/** What a value may be, in words that end "must be ...". Pure. */

/** What is said of an input that the model does not take. */
export const NOT_TAKEN = 'is not taken by this model';

/** Most choices and names that a refusal lists. */
const MAX_LISTED = 40;

const PLAIN: Readonly<Record<string, string>> = {
  boolean: 'true or false',
  null: 'null',
  array: 'a list',
  object: 'an object',
};

/** The values that a schema allows. */
export function allowedWords(schema: OptionSchema): string {
  if (schema.anyOf !== undefined) return schema.anyOf.map(allowedWords).join(', or ');
  if (schema.enum !== undefined) {
    const list = listed(schema.enum.map(String));
    return schema.enum.length === 1 ? list : `one of ${list}`;
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? []);
  if (types.length === 0) return 'another value';
  return types.map((type) => describeType(type, schema)).join(', or ');
}

/** Names, of which only the first are told when there are many. */
export function listed(names: readonly string[]): string {
  return `${names.slice(0, MAX_LISTED).join(', ')}${names.length > MAX_LISTED ? ', ...' : ''}`;
}

function describeType(type: string, schema: OptionSchema): string {
  switch (type) {
    case 'integer':
    case 'number': {
      const step = schema.multipleOf === undefined ? '' : `, a multiple of ${schema.multipleOf}`;
      return `a ${type === 'integer' ? 'whole number' : 'number'}${bounds(schema.minimum, schema.maximum)}${step}`;
    }
    case 'string':
      return schema.minLength === undefined && schema.maxLength === undefined
        ? 'a text'
        : `a text of${bounds(schema.minLength ?? 0, schema.maxLength)} characters`;
    case 'array': {
      const each = schema.items === undefined ? '' : ` of values that are each ${allowedWords(schema.items)}`;
      const isBound = schema.minItems !== undefined || schema.maxItems !== undefined;
      return `a list${each}${isBound ? `, their number${bounds(schema.minItems ?? 0, schema.maxItems)}` : ''}`;
    }
    case 'object': {
      const names = Object.keys(schema.properties ?? {});
      return names.length === 0 ? 'an object' : `an object of ${listed(names)}`;
    }
    default:
      return PLAIN[type] ?? 'another value';
  }
}

function bounds(least: number | undefined, most: number | undefined): string {
  if (least !== undefined && most !== undefined) return ` from ${least} to ${most}`;
  if (least !== undefined) return ` of at least ${least}`;
  return most === undefined ? '' : ` of at most ${most}`;
}
