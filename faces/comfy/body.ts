import type { JsonObject } from '../../platform/json.ts';
import { readJsonBody } from '../../rest-compat/request/body/json.ts';
import { type ComfyCall, ComfyRefusal } from './call.ts';

/** Reads a JSON object. Throws ComfyRefusal, PAYLOAD_TOO_LARGE, MalformedBody or ClientDisconnected. */
export async function readJson({ request }: Pick<ComfyCall, 'request'>): Promise<JsonObject> {
  const body = await readJsonBody(request, { isRequired: true });
  if ('object' in body) return body.object;
  throw new ComfyRefusal(422, 'invalid_request', `the body must be a JSON object: ${body.problem.msg}`);
}
