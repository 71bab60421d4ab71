import type { IncomingMessage } from 'node:http';

import type { JsonObject } from '../../../platform/json.ts';
import { invalidJson, isValidJson, type ProblemType } from '../../route/values.ts';
import { readBytes } from './body.ts';

const jsonMaxBytes = 1024 * 1024;

/** A JSON object, or the problem with it. `loc` is relative to the body. */
export type JsonBody =
  | { readonly object: JsonObject }
  | {
      readonly problem: {
        readonly loc: readonly (string | number)[];
        readonly type: ProblemType;
        readonly msg: string;
      };
    };

/**
 * Reads a JSON object, whatever the content type. No body is an empty object where none is required. Throws
 * PAYLOAD_TOO_LARGE, MalformedBody or ClientDisconnected.
 */
export async function readJsonBody(
  request: IncomingMessage,
  { isRequired }: { readonly isRequired: boolean },
): Promise<JsonBody> {
  const bytes = await readBytes(request, jsonMaxBytes);
  return parseJsonObject(bytes, isRequired);
}

function parseJsonObject(bytes: Uint8Array, isRequired: boolean): JsonBody {
  const text = new TextDecoder('utf-8').decode(bytes);
  if (!isRequired && ['', 'null'].includes(text.trim())) return { object: {} };
  if (text.trim() === '') return problem([], 'missing', 'Field required: a JSON object as the body');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return problem([invalidJsonOffset(text)], 'json_invalid', 'JSON decode error');
  }
  if (value === null) return problem([], 'missing', 'Field required: a JSON object as the body');
  if (typeof value !== 'object' || Array.isArray(value)) {
    return problem([], 'dict_type', 'Input should be a valid dictionary');
  }
  if (!isValidJson(value)) return problem([], invalidJson.type, invalidJson.msg);
  return { object: value as JsonObject };
}

function problem(loc: readonly (string | number)[], type: ProblemType, msg: string): JsonBody {
  return { problem: { loc, type, msg } };
}

/**
 * The offset at which a text stops being JSON, for 422 bodies: the messages of JSON.parse have a position for some mistakes
 * only. One pass, without recursion; runs only after JSON.parse has failed.
 */
export function invalidJsonOffset(text: string): number {
  const open: ('{' | '[')[] = [];
  let expected: Expectation = 'value';
  let offset = 0;
  while (offset < text.length) {
    const token = tokenAt(text, offset);
    if (token === null) return offset;
    offset += token.length;
    if (token.trim() === '') continue;
    const next = after(token, expected, open);
    if (next === null) return offset - token.length;
    expected = next;
  }
  return text.length;
}

/** What may come next. `first...` also allow the closing bracket. */
type Expectation = 'value' | 'firstValue' | 'key' | 'firstKey' | 'colon' | 'separator' | 'nothing';

const tokenPattern =
  // oxlint-disable-next-line no-control-regex -- JSON strings may not hold control characters
  /[ \t\n\r]+|[{}[\],:]|true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;

function tokenAt(text: string, offset: number): string | null {
  tokenPattern.lastIndex = offset;
  return tokenPattern.exec(text)?.[0] ?? null;
}

/** The next expectation, or null when the token is not allowed here. */
function after(token: string, expected: Expectation, open: ('{' | '[')[]): Expectation | null {
  const settled = (): Expectation => (open.length === 0 ? 'nothing' : 'separator');
  if (token === '}' || token === ']') {
    const fits = expected === 'separator' || expected === (token === '}' ? 'firstKey' : 'firstValue');
    if (!fits || open.pop() !== (token === '}' ? '{' : '[')) return null;
    return settled();
  }
  if (expected === 'separator') return token === ',' ? (open.at(-1) === '{' ? 'key' : 'value') : null;
  if (expected === 'colon') return token === ':' ? 'value' : null;
  if (expected === 'key' || expected === 'firstKey') return token.startsWith('"') ? 'colon' : null;
  if (expected === 'nothing' || token === ',' || token === ':') return null;
  if (token !== '{' && token !== '[') return settled();
  open.push(token);
  return token === '{' ? 'firstKey' : 'firstValue';
}
