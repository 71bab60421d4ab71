import { listOf, dateTime, schemaRef, objectOf, string, withDescription, boolean } from './json-schema.ts';
import type { JsonSchema } from './openapi-types.ts';

/** The named schemas of the workflow service's OpenAPI document. */

const head = {
  code: { type: 'integer', description: 'The HTTP status.' },
  message: withDescription(string, 'Human-readable message.'),
  timestamp: dateTime,
  traceId: withDescription(string, 'The id of the request in the log.'),
};

/** `data` of a failure that an input is to blame for. */
const data = {
  ...objectOf({
    issues: listOf({
      type: 'object',
      required: ['field', 'message'],
      properties: {
        in: withDescription(string, 'Where it was sent, when that is known.'),
        field: { type: ['string', 'null'], description: 'Null: the body as a whole.' },
        message: string,
      },
    }),
  }),
};

/** Every named schema. */
export const workflowSchemas = {
  Envelope: objectOf(head),
  SignInEnvelope: { allOf: [schemaRef('Envelope'), objectOf({ success: boolean })] },
  Failure: {
    ...objectOf(head),
    properties: { success: withDescription(boolean, 'Sign-in only.'), ...head, data },
  },
  JsonWebKeySet: objectOf({ keys: listOf({ type: 'object', additionalProperties: true }) }),
};

/** The schema of a response: the section's envelope, with `data` where the operation has some. */
export function workflowResponse(envelope: 'sign-in' | undefined, data: JsonSchema | undefined): JsonSchema {
  const around = schemaRef(envelope === 'sign-in' ? 'SignInEnvelope' : 'Envelope');
  return data === undefined ? around : { allOf: [around, objectOf({ data })] };
}
