/** The form of an Authorization header with a token or a service key. */

/** The refusal of a malformed one. */
export const MALFORMED_BEARER =
  'the Authorization header is malformed: it must be "Bearer", a space, and a token or service key without spaces';

/** The secret of a `Bearer` value; undefined for any other. */
export function readBearer(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}

/** Whether it is meant as a bearer and is none: no secret, or one with spaces. */
export function isMalformedBearer(authorization: string | undefined): boolean {
  return (
    authorization !== undefined && /^Bearer\b/i.test(authorization) && readBearer(authorization) === undefined
  );
}
