import type { JsonSchema } from './openapi-types.ts';

/** Builders of the JSON Schemas that describe responses. */

export const string: JsonSchema = { type: 'string' };
export const integer: JsonSchema = { type: 'integer' };
export const number: JsonSchema = { type: 'number' };
export const boolean: JsonSchema = { type: 'boolean' };
export const nullType: JsonSchema = { type: 'null' };
/** A point in time, ISO 8601. */
export const dateTime: JsonSchema = { type: 'string', format: 'date-time' };
/** An address that can be fetched or opened. */
export const uri: JsonSchema = { type: 'string', format: 'uri' };
/** JSON that somebody else made. */
export const anyValue: JsonSchema = {};

/** The schema of an object with members of these names. */
export type ObjectSchema<Name extends string> = JsonSchema & {
  readonly properties: Readonly<Record<Name, JsonSchema>>;
};

/** An object in which each of these is present; more may be. */
export function objectOf<Name extends string>(
  properties: Readonly<Record<Name, JsonSchema>>,
): ObjectSchema<Name> {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** The members of a value that an object schema names; one that the value lacks does not compile. */
export function pick<Name extends string>(
  { properties }: ObjectSchema<Name>,
  value: Readonly<Record<Name, unknown>>,
): Readonly<Record<Name, unknown>> {
  const names = Object.keys(properties) as Name[];
  return Object.fromEntries(names.map((name) => [name, value[name]])) as Record<Name, unknown>;
}

/** An array of these. */
export function listOf(items: JsonSchema): JsonSchema {
  return { type: 'array', items };
}

/** One of these words. */
export function enumOf(...allowed: readonly string[]): JsonSchema {
  return { type: 'string', enum: allowed };
}

/** This, or null where it is not known or does not apply. */
export function nullable(schema: JsonSchema): JsonSchema {
  const { type } = schema;
  if (typeof type === 'string' && schema['enum'] === undefined) return { ...schema, type: [type, 'null'] };
  return { anyOf: [schema, nullType] };
}

/** One of these, tried in this order. */
export function anyOf(...schemas: readonly JsonSchema[]): JsonSchema {
  return { anyOf: schemas };
}

/** The same schema with a description for people. */
export function withDescription(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

/** A named schema of the same document. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
