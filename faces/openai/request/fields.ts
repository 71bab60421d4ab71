import { badInput } from '../../../platform/errors.ts';
import type { Json, JsonObject } from '../../../platform/json.ts';
import { readBytes } from '../../../rest-compat/request/body/body.ts';
import type { FaceCall } from '../table/route.ts';

/** Reads fields of a body: null and absent are the same, anything of another type is refused by its name. Pure. */

/** A text; undefined when it is absent. `at` says where it stands, when that is not the body itself. */
export function textIn(body: JsonObject, name: string, at = name): string | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === 'string') return value;
  throw badInput(at, `${at} must be a string`);
}

/** A text that is needed. */
export function neededText(body: JsonObject, name: string): string {
  const value = textIn(body, name);
  if (value !== undefined && value !== '') return value;
  throw badInput(name, `Missing required parameter: '${name}'.`);
}

/** A number; forms write it as text. */
export function numberIn(body: JsonObject, name: string): number | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || value === '') return undefined;
  const number = typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && Number.isFinite(number)) return number;
  throw badInput(name, `${name} must be a number`);
}

/** A whole number; forms write it as text. */
export function integerIn(body: JsonObject, name: string): number | undefined {
  const value = numberIn(body, name);
  if (value === undefined || Number.isInteger(value)) return value;
  throw badInput(name, `${name} must be a whole number`);
}

/** Yes or no; forms write it as text. */
export function booleanIn(body: JsonObject, name: string): boolean | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined || typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false') return value === 'true';
  throw badInput(name, `${name} must be true or false`);
}

/** An object; forms write it as JSON. */
export function objectIn(body: JsonObject, name: string): JsonObject | undefined {
  const value = body[name] ?? undefined;
  if (value === undefined) return undefined;
  const object = typeof value === 'string' ? parsed(value) : value;
  if (isObject(object)) return object;
  throw badInput(name, `${name} must be an object`);
}

/** One of several words. */
export function wordIn<const Words extends readonly string[]>(
  body: JsonObject,
  name: string,
  words: Words,
): Words[number] | undefined {
  const value = textIn(body, name);
  if (value === undefined || words.includes(value)) return value;
  throw badInput(name, `${name} must be one of ${words.join(', ')}`);
}

/** Those of these fields that are given. */
export function givenIn(body: JsonObject, names: readonly string[]): readonly string[] {
  return names.filter((name) => (body[name] ?? undefined) !== undefined);
}

/** Whether a value is an object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/** Largest JSON body: images and sounds of messages may be part of it, in base64. */
const JSON_MAX_BYTES = 32 << 20;
/** The same of callers without a credential, where anybody on the internet is one. */
const ANONYMOUS_MAX_BYTES = 1 << 20;

/** Reads a JSON object. Throws BAD_USER_INPUT, PAYLOAD_TOO_LARGE, MalformedBody or ClientDisconnected. */
export async function readJson({ request, context, settings }: FaceCall): Promise<JsonObject> {
  const isTrusted = settings.authMode === 'open' || context.caller.kind !== 'anonymous';
  const text = (await readBytes(request, isTrusted ? JSON_MAX_BYTES : ANONYMOUS_MAX_BYTES)).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badInput('body', `We could not parse the JSON body of your request: ${(cause as Error).message}`);
  }
  if (isObject(value as JsonObject)) return value as JsonObject;
  throw badInput('body', 'the body must be a JSON object');
}

/** Which part of a list is asked for; cursors of the graph are the ids of its items. Throws BAD_USER_INPUT. */
export function readPage(query: URLSearchParams): { readonly first: number; readonly after: string | null } {
  const first = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(first) || first < 1 || first > 100) {
    throw badInput('limit', 'limit must be from 1 to 100');
  }
  if (query.get('order') === 'asc')
    throw badInput('order', 'order must be desc: lists begin with the newest');
  return { first, after: query.get('after') };
}
