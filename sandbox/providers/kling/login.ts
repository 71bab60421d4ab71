import { errors, jwtVerify } from 'jose';

import type { Answer } from '../../http/answer.ts';
import { refusal } from './codes.ts';

/**
 * Who may ask: the API key itself, or a token signed with it (HS256). Without a secret every key is good, but there must
 * be one. Null lets the caller in.
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
