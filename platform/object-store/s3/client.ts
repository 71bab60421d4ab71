import { S3Client } from '@aws-sdk/client-s3';

import { AppError, toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';

/** The bucket and its credentials. */
export interface S3Location {
  /** URL of the server; null for AWS. The operator configured its origin, so it is trusted. */
  readonly endpoint: string | null;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** Limits that tests shorten. */
export interface S3Limits {
  /** Milliseconds for the headers of a response, including the sending of the request (default 300,000). */
  readonly responseMs?: number;
  /** Milliseconds for the next byte in either direction (default 30,000). */
  readonly silenceMs?: number;
  /** Attempts of one request, including the first (default 3). */
  readonly tries?: number;
}

const CONNECT_TIMEOUT_MS = 5_000;
/** Most connections to the server. */
const MAX_SOCKETS = 50;

/** The S3 client. Its own log lines are dropped: they would contain signed URLs. */
export function createS3Client(location: S3Location, logger: Logger, limits: S3Limits = {}): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = location;
  const { responseMs = 300_000, silenceMs = 30_000, tries = 3 } = limits;
  // Only AWS surely accepts the checksums that the SDK adds: other servers refuse them, or store their framing as
  // content.
  const checksums = isAws(endpoint) ? 'WHEN_SUPPORTED' : 'WHEN_REQUIRED';
  const silent = () => undefined;
  return new S3Client({
    ...(endpoint === null ? {} : { endpoint }),
    region,
    credentials: { accessKeyId, secretAccessKey },
    forcePathStyle: !isAws(endpoint),
    requestChecksumCalculation: checksums,
    responseChecksumValidation: checksums,
    maxAttempts: tries,
    retryMode: 'standard',
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: responseMs,
      throwOnRequestTimeout: true,
      socketTimeout: silenceMs,
      httpAgent: { maxSockets: MAX_SOCKETS },
      httpsAgent: { maxSockets: MAX_SOCKETS },
    },
    logger: {
      trace: silent,
      debug: silent,
      info: silent,
      error: silent,
      warn: (...words: unknown[]) =>
        logger.warn({ said: words.map(String).join(' ') }, 'the S3 client warns'),
    },
  });
}

/** Whether a URL is one of AWS. */
function isAws(endpoint: string | null): boolean {
  return endpoint === null || /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
}

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
