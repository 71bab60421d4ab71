import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';

/** Names of google.rpc.Code that this wire uses, and their HTTP status. */
const STATUS = {
  INVALID_ARGUMENT: 400,
  FAILED_PRECONDITION: 400,
  PERMISSION_DENIED: 403,
  NOT_FOUND: 404,
  RESOURCE_EXHAUSTED: 429,
  INTERNAL: 500,
} as const;

/** An error in Google's shape. */
export function googleError(
  status: keyof typeof STATUS,
  message: string,
  details: readonly object[] = [],
): Answer {
  const code = STATUS[status];
  const error = { code, message, status, ...(details.length > 0 && { details }) };
  return json({ error }, code);
}

/** 400: a field is wrong. */
export function invalid(message: string): Answer {
  return googleError('INVALID_ARGUMENT', message);
}

/** 429 with the retry delay in the body: this wire has no Retry-After. */
export function exhausted(seconds: number): Answer {
  return googleError('RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan.', [
    {
      '@type': 'type.googleapis.com/google.rpc.QuotaFailure',
      violations: [{ quotaId: 'GenerateRequestsPerMinutePerProjectPerModel' }],
    },
    { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${seconds}s` },
  ]);
}

/** 403: no key at all. */
export function noKey(): Answer {
  return googleError(
    'PERMISSION_DENIED',
    "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
  );
}

/** 400: a wrong key. */
export function wrongKey(): Answer {
  return googleError('INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: 'API_KEY_INVALID',
      domain: 'googleapis.com',
      metadata: { service: 'generativelanguage.googleapis.com' },
    },
  ]);
}

/** 403: an unknown file, or another caller's. */
export function noFile(id: string): Answer {
  return googleError(
    'PERMISSION_DENIED',
    `You do not have permission to access the File ${id} or it may not exist.`,
  );
}

/** 404: the model has ended, as Google says it. */
export function endedModel(model: string): Answer {
  return googleError(
    'NOT_FOUND',
    `This model models/${model} is no longer available. Please update your code to use a newer model for the latest features and improvements.`,
  );
}

/** The wire's form of HTTP-level refusals. */
export function refuse(status: 404 | 413 | 429 | 500, message: string, retryAfter = 1): Answer {
  if (status === 429) return exhausted(retryAfter);
  if (status === 404) return googleError('NOT_FOUND', message);
  if (status === 413) return invalid('Request payload size exceeds the limit.');
  return googleError('INTERNAL', 'An internal error has occurred. Please retry or report.');
}
