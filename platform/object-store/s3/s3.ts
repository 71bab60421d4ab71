import { Readable } from 'node:stream';

import {
  AbortMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';

import { AppError, notFound, toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import type { AddressOptions, ByteRange, ObjectStore } from '../object-store.ts';
import { withErrors } from '../streams.ts';
import {
  createS3Client,
  type S3Limits,
  type S3Location,
  isAbsent,
  isNotOffered,
  isOutOfRange,
  s3Failure,
} from './client.ts';
import { uploadToS3 } from './upload.ts';

export interface S3StoreOptions {
  readonly location: S3Location;
  /** URL of a CDN in front of the bucket, without a trailing slash; null: presigned URLs of the server. */
  readonly cdnBaseUrl: string | null;
  readonly logger: Logger;
  readonly limits?: S3Limits;
}

/** An object store in an S3 bucket; `close` ends its connections. */
export interface S3Store extends ObjectStore {
  close(): void;
}

/** Key of the upload that a check begins and aborts. */
const CHECKED_KEY = 'kiln-check';
const CHECK_MS = 5_000;
/** Time that a successful check counts: health requests must not reach S3 each time. */
const CHECK_COUNTS_MS = 10_000;

/** Makes the store of a bucket. A 404 of an object is NOT_FOUND; any other error of S3 is UNAVAILABLE (client.ts). */
export function createS3Store({ location, cdnBaseUrl, logger, limits }: S3StoreOptions): S3Store {
  const client = createS3Client(location, logger, limits);
  const { bucket } = location;
  const at = (key: string) => ({ Bucket: bucket, Key: key });
  const unfinished = createUnfinishedUploads({ client, bucket, logger });
  return {
    put: (key, body, options) => uploadToS3({ client, bucket, key, body, options }),
    async head(key) {
      try {
        const { ContentLength = 0, ContentType = '' } = await client.send(new HeadObjectCommand(at(key)));
        return { key, bytes: ContentLength, sha256: null, contentType: ContentType };
      } catch (error) {
        if (isAbsent(error)) return null;
        throw s3Failure(error);
      }
    },
    async get(key, range) {
      const Range = toRangeHeader(range);
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...at(key), ...Range }));
        if (!(Body instanceof Readable)) throw new TypeError('S3 answered without a body');
        // A connection that breaks is UNAVAILABLE.
        return withErrors(Body, s3Failure);
      } catch (error) {
        if (isAbsent(error)) throw notFound('file', key);
        if (isOutOfRange(error))
          throw new AppError('BAD_USER_INPUT', 'there are no bytes in this range', { field: 'range' });
        throw s3Failure(error);
      }
    },
    async delete(key) {
      try {
        // Parts that are deleted first can't become an object afterwards.
        await unfinished.release(key);
        await client.send(new DeleteObjectCommand(at(key)));
      } catch (error) {
        if (!isAbsent(error)) throw s3Failure(error);
      }
    },
    async address(key, options) {
      if (cdnBaseUrl !== null) return `${cdnBaseUrl}/${key.split('/').map(encodeURIComponent).join('/')}`;
      const command = new GetObjectCommand({ ...at(key), ...answeredAs(options) });
      return await getSignedUrl(client, command, { expiresIn: options.expiresIn });
    },
    check: rarely(async () => {
      const limit = () => ({ abortSignal: AbortSignal.timeout(CHECK_MS) });
      try {
        const { UploadId } = await client.send(new CreateMultipartUploadCommand(at(CHECKED_KEY)), limit());
        await client.send(new AbortMultipartUploadCommand({ ...at(CHECKED_KEY), UploadId }), limit());
      } catch (error) {
        // Our own limit is not the caller's abort.
        throw s3Failure(error instanceof Error && error.name === 'AbortError' ? new Error('timeout') : error);
      }
    }),
    close: () => client.destroy(),
  };
}

function toRangeHeader(range: ByteRange | undefined): { Range?: string } {
  return range === undefined ? {} : { Range: `bytes=${range.start}-${range.end}` };
}

/** The stored type is the sender's; the measured one is better, and the name is not part of the object. */
function answeredAs({ contentType, contentDisposition }: AddressOptions) {
  return {
    ...(contentType === undefined ? {} : { ResponseContentType: contentType }),
    ...(contentDisposition === undefined ? {} : { ResponseContentDisposition: contentDisposition }),
  };
}

/** Runs one check at a time, and none while the last successful one counts. */
function rarely(check: () => Promise<void>): () => Promise<void> {
  let countsUntil = 0;
  let running: Promise<void> | undefined;
  return async () => {
    if (performance.now() < countsUntil) return;
    running ??= check()
      .then(() => {
        countsUntil = performance.now() + CHECK_COUNTS_MS;
      })
      .finally(() => {
        running = undefined;
      });
    await running;
  };
}

interface UnfinishedUploadsOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly logger: Logger;
}

/** A key is uploaded once, or a few times after crashes: one page lists them all. */
const MOST_UPLOADS = 100;

/**
 * Finds multipart uploads of one bucket that will not be finished: their process died, or S3 was away when they were aborted.
 * That a server can't list uploads is detected once, and logged.
 */
function createUnfinishedUploads({ client, bucket, logger }: UnfinishedUploadsOptions) {
  let isOffered = true;

  async function uploadsTo(key: string): Promise<readonly string[]> {
    try {
      // The whole key as the prefix: some servers list nothing for less.
      const request = { Bucket: bucket, Prefix: key, MaxUploads: MOST_UPLOADS };
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand(request));
      return Uploads.flatMap(({ Key, UploadId }) =>
        Key === key && UploadId !== undefined ? [UploadId] : [],
      );
    } catch (error) {
      if (!isNotOffered(error)) throw error;
      isOffered = false;
      logger.warn(
        { error: toError(error).name },
        'this object storage does not list unfinished uploads: give the bucket a rule that ends them after a day',
      );
      return [];
    }
  }

  return {
    /** Deletes the parts of every unfinished upload to this key; a server without the operation is left alone. */
    async release(key: string): Promise<void> {
      if (!isOffered) return;
      for (const UploadId of await uploadsTo(key)) {
        await client
          .send(new AbortMultipartUploadCommand({ Bucket: bucket, Key: key, UploadId }))
          .catch((error: unknown) => {
            // It has ended already.
            if (!isAbsent(error)) throw error;
          });
      }
    },
  };
}
