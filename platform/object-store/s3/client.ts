import { S3Client } from '@aws-sdk/client-s3';

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
