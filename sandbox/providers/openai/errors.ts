import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** An error in OpenAI's shape. */
export function openaiError(
  status: number,
  error: {
    readonly message: string;
    readonly type: string;
    readonly param?: string | null;
    readonly code?: string | null;
  },
): Answer {
  return json({ error: { param: null, code: null, ...error } }, status);
}

/** 400: a parameter is wrong. */
export function invalid(message: string, param: string): Answer {
  return openaiError(400, { message, type: 'invalid_request_error', param, code: 'invalid_value' });
}

/** 400: the content was refused. */
export function moderated(): Answer {
  return openaiError(400, {
    message: 'Your request was rejected by the safety system.',
    type: 'image_generation_user_error',
    code: 'moderation_blocked',
  });
}

/** 401: a wrong key. */
export function wrongKey(): Answer {
  return openaiError(401, {
    message: 'Incorrect API key provided.',
    type: 'invalid_request_error',
    code: 'invalid_api_key',
  });
}

/** The wire's form of HTTP-level refusals. */
export function refuse(status: 404 | 413 | 429 | 500, message: string): Answer {
  const forms = {
    404: { type: 'invalid_request_error', code: 'unknown_url' },
    413: { type: 'invalid_request_error', code: 'request_too_large' },
    429: { type: 'requests', code: 'rate_limit_exceeded' },
    500: { type: 'server_error', code: null },
  };
  return openaiError(status, { message, ...forms[status] });
}
