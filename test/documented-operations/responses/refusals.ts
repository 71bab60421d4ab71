import { expect } from 'vitest';

import type { ProblemType } from '../../../rest-compat/route/values.ts';
import type { Documented } from '../documents/operation.ts';
import type { Wrong } from '../requests/invalid-requests.ts';

/** The whole answers to inputs that are not as documented, by service. */

const words: Readonly<Record<ProblemType, RegExp>> = {
  missing: /^Field required/,
  string_type: /^Input should be a valid string$/,
  int_parsing: /^Input should be a valid integer, unable to parse string as an integer$/,
  int_type: /^Input should be a valid integer$/,
  bool_parsing: /^Input should be a valid boolean, unable to interpret input$/,
  float_parsing: /^Input should be a valid number, unable to parse string as a number$/,
  greater_than_equal: /^Input should be greater than or equal to -?\d+$/,
  less_than_equal: /^Input should be less than or equal to -?\d+$/,
  literal_error: /^Input should be '\w+'(?:, '\w+')*(?: or '\w+')?$/,
  dict_type: /^Input should be a valid dictionary$/,
  list_type: /^Input should be a valid list/,
  json_invalid: /^(?:JSON decode error|Invalid JSON)/,
  value_error: /^(?:Value error, .+|Input should be given once)$/,
};

/** What is the same in every envelope of the workflow service. */
export const envelopeOfWorkflow = {
  timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
};

/** Whether an operation's envelope says `success`. */
export function tellsSuccess({ section }: Documented): boolean {
  return section === 'Sign-in';
}

/** Status and body of the answer to these mistakes, and to nothing else. */
export function makeRefusal(
  operation: Documented,
  wrong: readonly Wrong[],
): readonly [status: number, body: object] {
  if (operation.service === 'media') {
    const detail = wrong.map(({ loc, type }) => ({ loc, type, msg: expect.stringMatching(words[type]) }));
    return [422, { detail }];
  }
  const issues = wrong.map(({ loc: [place, name], type }) => ({
    in: place,
    field: typeof name === 'string' ? name : null,
    message: expect.stringMatching(words[type]),
  }));
  const success = tellsSuccess(operation) ? { success: false } : {};
  const message = expect.stringMatching(/\w/);
  return [400, { ...success, code: 400, message, data: { issues }, ...envelopeOfWorkflow }];
}
