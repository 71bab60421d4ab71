import { list, moment, named, shape, text, told, truth } from './shapes.ts';
import type { JsonSchema } from './types.ts';

/** The named schemas of the workflow service's OpenAPI document. */

const head = {
  code: { type: 'integer', description: 'The HTTP status.' },
  message: told(text, 'What happened, for people.'),
  timestamp: moment,
  traceId: told(text, 'Leads to the lines of the log.'),
};

/** Present where an input is at fault. */
const data = {
  ...shape({
    issues: list({
      type: 'object',
      required: ['field', 'message'],
      properties: {
        in: told(text, 'Where it was sent, when that is known.'),
        field: { type: ['string', 'null'], description: 'Null: the body as a whole.' },
        message: text,
      },
    }),
  }),
};

/** Every named schema. */
export const workflowSchemas = {
  Envelope: shape(head),
  SignInEnvelope: { allOf: [named('Envelope'), shape({ success: truth })] },
  Failure: { ...shape(head), properties: { success: told(truth, 'Sign-in only.'), ...head, data } },
  JsonWebKeySet: shape({ keys: list({ type: 'object', additionalProperties: true }) }),
};

/** The envelope of a section around what an operation answers; without a key `data` where it has nothing to say. */
export function workflowAnswer(envelope: 'sign-in' | undefined, data: JsonSchema | undefined): JsonSchema {
  const around = named(envelope === 'sign-in' ? 'SignInEnvelope' : 'Envelope');
  return data === undefined ? around : { allOf: [around, shape({ data })] };
}
