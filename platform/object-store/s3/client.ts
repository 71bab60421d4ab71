import { S3Client } from '@aws-sdk/client-s3';

import type { Logger } from '../../process/logger.ts';

/** Where the objects are, and as whom. */
export interface S3Location {
  /** Address of the server; null for AWS itself. An origin that the operator chose: it is trusted, private or not. */
  readonly endpoint: string | null;
  readonly bucket: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

/** How long the client waits for the server, in milliseconds. */
export interface S3Patience {
  /** For a connection (default 5,000). */
  readonly connectMs?: number;
  /** For the head of an answer, the sending of the request included (default 300,000). */
  readonly answerMs?: number;
  /** For the next byte in either direction (default 30,000). */
  readonly silenceMs?: number;
  /** Tries of one request, the first included (default 3). */
  readonly tries?: number;
}

/** Connections to the server at once, of one process. */
const MAX_SOCKETS = 50;

/** The client of the object storage. What it says about requests is not logged: it would repeat signed addresses. */
export function createS3Client(location: S3Location, logger: Logger, patience: S3Patience = {}): S3Client {
  const { endpoint, region, accessKeyId, secretAccessKey } = location;
  const { connectMs = 5_000, answerMs = 300_000, silenceMs = 30_000, tries = 3 } = patience;
  // Only AWS is sure to take the checksums that the SDK adds by itself: other servers refuse them, or store their
  // framing as if it were content.
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
      connectionTimeout: connectMs,
      requestTimeout: answerMs,
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

/** Whether an address is one of AWS itself. */
function isAws(endpoint: string | null): boolean {
  return endpoint === null || /\.amazonaws\.com(\.cn)?$/.test(new URL(endpoint).hostname);
}
