import type { ResponseStyle } from '../../../rest-compat/replies/response-style.ts';
import { failureAnswer } from './failures.ts';

/** How the face responds to what fails before it is asked: a credential that is wrong, a database that is away. */
export const openaiStyle: ResponseStyle = {
  isStrict: false,
  success: (reply) => reply,
  invalid: (problems) => ({
    status: 400,
    body: wordsOf(problems.map(({ msg }) => msg).join('; '), 'invalid_value'),
  }),
  failure(thrown, { traceId }) {
    const { headers, ...answer } = failureAnswer(thrown, traceId);
    return { ...answer, headers: { ...headers, 'x-request-id': traceId } };
  },
  refusal: ({ message }) => wordsOf(message, null),
};

function wordsOf(message: string, code: string | null): object {
  return { error: { message, type: 'invalid_request_error', param: null, code } };
}
