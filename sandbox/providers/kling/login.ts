import { errors, jwtVerify } from 'jose';

import type { Answer } from '../../http/answer.ts';
import { refusal } from './codes.ts';

/**
 * Checks the credential: the API key, or a token signed with it (HS256). Without a secret any key is accepted, but there
 * must be one. Null when the caller is accepted.
 */
export async function loginRefusal(
  authorization: string | undefined,
  secret: string | null,
): Promise<Answer | null> {
  const token = authorization?.replace(/^Bearer /, '') ?? '';
  if (token === '') return refusal(1001, 'Authorization is empty');
  if (secret === null || token === secret) return null;
  try {
    const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), { algorithms: ['HS256'] });
    return payload.iss === undefined ? refusal(1002, 'Authorization is invalid') : null;
  } catch (error) {
    if (error instanceof errors.JWTExpired) return refusal(1004, 'Authorization has expired');
    const isEarly = error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf';
    return isEarly
      ? refusal(1003, 'Authorization is not yet valid')
      : refusal(1002, 'Authorization is invalid');
  }
}
