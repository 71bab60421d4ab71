import { AppError, toError } from '../../errors.ts';

/** Errors of S3 servers as Kiln's errors. */

/** Error codes that are explained by a setting. */
const REMEDIES: Readonly<Record<string, string>> = {
  NoSuchBucket: 'there is no such bucket: check S3_BUCKET',
  InvalidBucketName: 'there is no such bucket: check S3_BUCKET',
  InvalidAccessKeyId: 'the access key is not known there: check S3_ACCESS_KEY_ID',
  SignatureDoesNotMatch: 'the secret does not fit the access key: check S3_SECRET_ACCESS_KEY',
  AccessDenied: 'these keys may not do this: check S3_ACCESS_KEY_ID and what it is granted on S3_BUCKET',
  Forbidden: 'these keys may not do this: check S3_ACCESS_KEY_ID and what it is granted on S3_BUCKET',
  AuthorizationHeaderMalformed: 'the bucket is in another region: check S3_REGION',
  PermanentRedirect: 'the bucket is elsewhere: check S3_REGION and S3_ENDPOINT',
  RequestTimeTooSkewed: "this machine's clock is wrong",
};

/** Refusals without a code, as in every response to HEAD. */
const NO_CODE = /^(Unknown|UnknownError|NotFound|\d{3})$/;
const REMEDY_OF_STATUS: Readonly<Record<number, string | undefined>> = {
  301: REMEDIES['PermanentRedirect'],
  403: REMEDIES['AccessDenied'],
  404: REMEDIES['NoSuchBucket'],
};

/** The HTTP status of the server's response; undefined when there was none. */
function readStatus(error: unknown): number | undefined {
  const metadata = (error as { $metadata?: { httpStatusCode?: unknown } } | null)?.$metadata;
  return typeof metadata?.httpStatusCode === 'number' ? metadata.httpStatusCode : undefined;
}

/** Whether there is no object of that key (not: no bucket). */
export function isAbsent(error: unknown): boolean {
  const { name } = toError(error);
  return name === 'NoSuchKey' || (name !== 'NoSuchBucket' && readStatus(error) === 404);
}

/** Whether the object has no bytes in the requested range. */
export function isOutOfRange(error: unknown): boolean {
  return toError(error).name === 'InvalidRange' || readStatus(error) === 416;
}

/** Whether the server does not support the operation, or the keys do not allow it. */
export function isNotOffered(error: unknown): boolean {
  return [403, 405, 501].includes(readStatus(error) ?? 0);
}

/**
 * The error as UNAVAILABLE, naming the setting to check. Aborts and our own errors are kept. Only the name of the
 * server's error is passed on: some contain what was signed.
 */
export function s3Failure(thrown: unknown): Error {
  const error = toError(thrown);
  if (error instanceof AppError || error.name === 'AbortError') return error;
  const status = readStatus(error);
  if (status === undefined) {
    const cause = new Error(`${error.name}: ${error.message}`);
    return new AppError('UNAVAILABLE', 'the object storage does not answer: check S3_ENDPOINT', { cause });
  }
  const remedy = REMEDIES[error.name] ?? (NO_CODE.test(error.name) ? REMEDY_OF_STATUS[status] : undefined);
  const said = `it answered HTTP ${status}`;
  const cause = new Error(`S3 answered HTTP ${status} ${error.name}`);
  return new AppError('UNAVAILABLE', `the object storage refuses: ${remedy ?? said}`, { cause });
}
