import type { JsonSchema } from './openapi-types.ts';

/** The shapes that answers are made of, as JSON Schema. */

export const string: JsonSchema = { type: 'string' };
export const integer: JsonSchema = { type: 'integer' };
export const number: JsonSchema = { type: 'number' };
export const boolean: JsonSchema = { type: 'boolean' };
export const nullType: JsonSchema = { type: 'null' };
/** A moment, ISO 8601. */
export const dateTime: JsonSchema = { type: 'string', format: 'date-time' };
/** An address, as it can be fetched or opened. */
export const uri: JsonSchema = { type: 'string', format: 'uri' };
/** Whatever somebody else sent: any JSON. */
export const anyValue: JsonSchema = {};

/** An object in which each of these is present; more may be. */
export function objectOf(properties: Readonly<Record<string, JsonSchema>>): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** Any number of these. */
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

/** The same with a word to people. */
export function withDescription(schema: JsonSchema, description: string): JsonSchema {
  return { ...schema, description };
}

/** A named schema of the same document. */
export function schemaRef(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}
