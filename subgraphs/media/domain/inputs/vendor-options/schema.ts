import { z } from 'zod';

import type { Json } from '../../../../../platform/json.ts';

/**
 * The part of JSON Schema in which a model's own options are described: values with their types, choices and bounds, lists
 * and objects of them. No patterns and no references: a schema may come from a vendor, and checking it must cost nothing.
 */

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'] as const;

/** Most levels, members and characters of a schema. */
const MAX_DEPTH = 6;
const MAX_NODES = 500;
const MAX_LENGTH = 100_000;

/** One value. */
export interface OptionSchema {
  readonly type?: TypeName | readonly TypeName[] | undefined;
  readonly enum?: readonly (string | number | boolean | null)[] | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly multipleOf?: number | undefined;
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  readonly items?: OptionSchema | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  readonly properties?: Readonly<Record<string, OptionSchema>> | undefined;
  readonly required?: readonly string[] | undefined;
  /** What members without a name here are; absent: there are none. */
  readonly additionalProperties?: boolean | OptionSchema | undefined;
  readonly anyOf?: readonly OptionSchema[] | undefined;
  /** What the vendor takes where it is not sent. */
  readonly default?: Json | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  /** The typed input that is sent under this name: only one of both may be given. */
  readonly 'x-input'?: string | undefined;
  /** The kinds of work that have it, of a model that does several; absent: all. */
  readonly 'x-kinds'?: readonly string[] | undefined;
}

type TypeName = (typeof TYPES)[number];

/** The options of a model, by the names of its vendor. */
export interface OptionsSchema extends OptionSchema {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, OptionSchema>>;
}

const SHAPE = {
  error: 'must be a JSON Schema with type, enum, minimum, maximum, properties, items, anyOf, ...',
};
const count = z.int({ error: 'must be a whole number' }).nonnegative({ error: 'must not be negative' });
const number = z.number({ error: 'must be a number' });
const type = z.enum(TYPES, { error: `must be one of ${TYPES.join(', ')}` });
const scalar = z.union([z.string(), number, z.boolean(), z.null()], { error: 'must be a plain value' });

const node: z.ZodType<OptionSchema> = z.lazy(() => z.strictObject(members, SHAPE));

const members = {
  type: z.union([type, z.array(type).min(1)]).optional(),
  enum: z.array(scalar).min(1, { error: 'must not be empty' }).optional(),
  minimum: number.optional(),
  maximum: number.optional(),
  multipleOf: number.positive({ error: 'must be above 0' }).optional(),
  minLength: count.optional(),
  maxLength: count.optional(),
  items: node.optional(),
  minItems: count.optional(),
  maxItems: count.optional(),
  properties: z.record(z.string(), node).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.union([z.boolean(), node]).optional(),
  anyOf: z.array(node).min(1).max(8).optional(),
  default: z.json().optional(),
  title: z.string().optional(),
  description: z.string().optional(),
  'x-input': z.string().optional(),
  'x-kinds': z.array(z.string()).optional(),
};

const TOO_LARGE = `must be at most ${MAX_LENGTH} characters, ${MAX_NODES} members and ${MAX_DEPTH} levels`;

/** A schema of options, whatever its size. */
export const optionsShape: z.ZodType<OptionsSchema> = z.strictObject(
  {
    ...members,
    type: z.literal('object', { error: 'must be "object"' }),
    properties: z.record(z.string(), node, { error: 'must be an object: option -> its JSON Schema' }),
  },
  SHAPE,
);

/** The same within its bounds, which are looked at first: a schema that is too deep is not to be walked at all. */
export const optionsSchema = z
  .unknown()
  .refine(isBounded, { error: TOO_LARGE, abort: true })
  .pipe(optionsShape);

function isBounded(value: unknown): boolean {
  // Two levels of JSON make one of the schema: `properties`, and what is in it.
  let left = MAX_NODES * 8;
  const fits = (part: unknown, depth: number): boolean => {
    if (typeof part !== 'object' || part === null) return true;
    left -= 1;
    return depth > 0 && left > 0 && Object.values(part).every((inner) => fits(inner, depth - 1));
  };
  return fits(value, MAX_DEPTH * 2) && (JSON.stringify(value)?.length ?? 0) <= MAX_LENGTH;
}

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
