import type { IncomingMessage } from 'node:http';

import { badInput } from '../../../platform/errors.ts';
import type { JsonObject } from '../../../platform/json.ts';
import { readBytes } from '../../../rest-compat/request/body/text.ts';
import { isObject } from './fields.ts';

/** Largest JSON body: pictures and sounds of messages may be part of it, in base64. */
const JSON_MAX_BYTES = 32 << 20;

/** Reads a JSON object. Throws BAD_USER_INPUT, PAYLOAD_TOO_LARGE, MalformedBody or ClientDisconnected. */
export async function readJson(request: IncomingMessage): Promise<JsonObject> {
  const text = (await readBytes(request, JSON_MAX_BYTES)).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badInput('body', `We could not parse the JSON body of your request: ${(cause as Error).message}`);
  }
  if (isObject(value as JsonObject)) return value as JsonObject;
  throw badInput('body', 'the body must be a JSON object');
}
