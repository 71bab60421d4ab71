import { AbortMultipartUploadCommand, ListMultipartUploadsCommand, type S3Client } from '@aws-sdk/client-s3';

import { toError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import { isAbsent, isNotOffered } from './failures.ts';

export interface UnfinishedUploadsOptions {
  readonly client: S3Client;
  readonly bucket: string;
  readonly logger: Logger;
}

/** Multipart uploads that will not be finished: their process died, or S3 was away when they were aborted. */
export interface UnfinishedUploads {
  /** Deletes the parts of every unfinished upload to this key; a server without the operation is left alone. */
  release(key: string): Promise<void>;
}

/** A key is uploaded once, or a few times after crashes: one page lists them all. */
const MOST_UPLOADS = 100;

/** Makes it for one bucket. That a server can't list uploads is detected once, and logged. */
export function createUnfinishedUploads({
  client,
  bucket,
  logger,
}: UnfinishedUploadsOptions): UnfinishedUploads {
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
    async release(key) {
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
