import type { Json, JsonObject } from '../../platform/json.ts';

/**
 * Converts raw values to typed ones, or reports the problem with them. The messages are those of the framework that the
 * documents were made for (pydantic). Pure.
 */

/** The kinds of problems in a 422 body. */
export type ProblemType =
  | 'missing'
  | 'string_type'
  | 'int_parsing'
  | 'int_type'
  | 'bool_parsing'
  | 'float_parsing'
  | 'greater_than_equal'
  | 'less_than_equal'
  | 'literal_error'
  | 'dict_type'
  | 'list_type'
  | 'json_invalid'
  | 'value_error';

/** A problem with one value. */
export interface ValueProblem {
  readonly type: ProblemType;
  readonly msg: string;
}

/** Outcome of reading one value. */
export type Reading<Value> = { readonly value: Value } | { readonly problem: ValueProblem };

function refuse(type: ProblemType, msg: string): { readonly problem: ValueProblem } {
  return { problem: { type, msg } };
}

/** Whether a text can be stored and sent on: no NUL character, no half of a surrogate pair. */
function isValidText(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

const invalidText = refuse('value_error', 'Value error, text must be valid Unicode without NUL characters');

/** A text, as it is. */
export function readText(raw: unknown): Reading<string> {
  if (typeof raw !== 'string') return refuse('string_type', 'Input should be a valid string');
  return isValidText(raw) ? { value: raw } : invalidText;
}

/**
 * The addresses of a text, separated by line breaks or commas. A comma separates only before another scheme, as addresses
 * may contain commas.
 */
export function readLinks(raw: unknown): Reading<readonly string[]> {
  const reading = readText(raw);
  if ('problem' in reading) return reading;
  const links = reading.value.split(/[\r\n]+|,(?=\s*(?:[a-z][a-z0-9+.-]*:|$))/i).map((link) => link.trim());
  return { value: links.filter((link) => link !== '') };
}

/** A text or JSON null. */
export function readNullableText(raw: unknown): Reading<string | null> {
  return raw === null ? { value: null } : readText(raw);
}

/** A JSON object; its members were checked with the whole body. */
export function readObject(raw: unknown): Reading<JsonObject> {
  if (typeof raw === 'object' && raw !== null && !Array.isArray(raw)) return { value: raw as JsonObject };
  return refuse('dict_type', 'Input should be a valid dictionary');
}

/** A JSON list of texts. */
export function readTexts(raw: unknown): Reading<readonly string[]> {
  if (Array.isArray(raw) && raw.every((one): one is string => typeof one === 'string')) return { value: raw };
  return refuse('list_type', 'Input should be a valid list of strings');
}

const integerText = /^[+-]?\d+(?:\.0*)?$/;

/** An integer: `1`, `1.0` and ` 1 ` as text, `1` and `1.0` in JSON. Values beyond 2^53 become 2^53. */
export function readInteger(raw: unknown): Reading<number> {
  if (typeof raw === 'string') {
    const text = raw.trim();
    if (!integerText.test(text)) {
      return refuse('int_parsing', 'Input should be a valid integer, unable to parse string as an integer');
    }
    return { value: cutToSafe(Number(text)) };
  }
  if (typeof raw !== 'number' || !Number.isInteger(raw)) {
    return refuse('int_type', 'Input should be a valid integer');
  }
  return { value: cutToSafe(raw) };
}

function cutToSafe(value: number): number {
  // `+ 0` turns -0 into 0.
  return Math.min(Math.max(value, Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER) + 0;
}

/** Each digit matches in one way only: else the time for a long wrong text would grow with the square of its length. */
const numberText = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i;

/** A finite number. */
export function readNumber(raw: unknown): Reading<number> {
  const value = typeof raw === 'string' && numberText.test(raw.trim()) ? Number(raw) : raw;
  if (typeof value === 'number' && Number.isFinite(value)) return { value };
  return refuse('float_parsing', 'Input should be a valid number, unable to parse string as a number');
}

const booleanWords: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['yes', true],
  ['on', true],
  ['false', false],
  ['0', false],
  ['no', false],
  ['off', false],
]);

/** A boolean: true/false/1/0/yes/no/on/off in any case, or a JSON boolean. */
export function readBoolean(raw: unknown): Reading<boolean> {
  const value = booleanWords.get(String(raw).toLowerCase());
  if (value !== undefined) return { value };
  return refuse('bool_parsing', 'Input should be a valid boolean, unable to interpret input');
}

/** One of the allowed words, exactly. */
export function readChoice<Word extends string>(raw: unknown, allowed: readonly Word[]): Reading<Word> {
  const value = allowed.find((word) => word === raw);
  if (value !== undefined) return { value };
  const quoted = allowed.map((word) => `'${word}'`);
  const last = quoted.pop() ?? '';
  const list = quoted.length === 0 ? last : `${quoted.join(', ')} or ${last}`;
  return refuse('literal_error', `Input should be ${list}`);
}

/** The value when it lies within the bounds (inclusive). */
export function withinBounds(
  value: number,
  bounds: { readonly minimum?: number | undefined; readonly maximum?: number | undefined },
): Reading<number> {
  if (bounds.minimum !== undefined && value < bounds.minimum) {
    return refuse('greater_than_equal', `Input should be greater than or equal to ${bounds.minimum}`);
  }
  if (bounds.maximum !== undefined && value > bounds.maximum) {
    return refuse('less_than_equal', `Input should be less than or equal to ${bounds.maximum}`);
  }
  return { value };
}

/** Whether every text inside a JSON value, names included, is valid. Values nested deeper than `depth` are not. */
export function isValidJson(value: unknown, depth = 64): boolean {
  if (typeof value === 'string') return isValidText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Object.entries(value).every(([name, inner]) => isValidText(name) && isValidJson(inner, depth - 1));
}

/** A text with JSON. */
export function readJsonText(raw: unknown): Reading<Json> {
  if (typeof raw !== 'string') return refuse('string_type', 'Input should be a valid string');
  let value: unknown;
  try {
    value = JSON.parse(raw);
  } catch {
    return refuse('json_invalid', 'Invalid JSON');
  }
  return isValidJson(value) ? { value: value as Json } : { problem: invalidJson };
}

/** The problem of a JSON value that `isSoundJson` refuses. */
export const invalidJson: ValueProblem = {
  type: 'value_error',
  msg: 'Value error, JSON must be valid Unicode without NUL characters, nested at most 64 deep',
};
