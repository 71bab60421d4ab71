import type { IncomingMessage } from 'node:http';

import type { JsonObject } from '../../../platform/json.ts';
import { isValidJson, invalidJson, type ProblemType } from '../../route/values.ts';
import { invalidJsonOffset } from './json-offset.ts';
import { readBytes } from './text.ts';

/** Largest JSON body in bytes. */
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
