import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';

import { AppError, toError } from '../../errors.ts';
import type { PutOptions, StoredObject } from '../object-store.ts';
import { drain } from '../streams.ts';
import { s3Failure } from './client.ts';

/** Parts uploaded at once: together with the one being filled, all that is buffered of a body. */
const PARTS_AT_ONCE = 3;
const MEBIBYTE = 1024 * 1024;
const LEAST_PART_BYTES = 8 * MEBIBYTE;
/** S3's limit. */
const MOST_PARTS = 10_000;
/** Longest wait for the response to beginning or aborting an upload in parts, in milliseconds. */
const UNINTERRUPTED_MS = 10_000;

/** One upload into the bucket. */
export interface S3Upload {
  readonly client: S3Client;
  readonly bucket: string;
  readonly key: string;
  readonly body: AsyncIterable<Uint8Array>;
  readonly options: PutOptions;
}

/**
 * Streams a body into the bucket: in one request when it is small, else in parts that become one object. The first
 * failure (the body, its size, the abort, a request) ends everything else, deletes the parts and is thrown: failures of
 * requests as UNAVAILABLE, the body's own error unchanged. After the last byte an abort is too late.
 */
export async function uploadToS3({ client, bucket, key, body, options }: S3Upload): Promise<StoredObject> {
  const { contentType, contentDisposition, maxBytes = Number.MAX_SAFE_INTEGER, signal } = options;
  const failed = new AbortController();
  const ending = signal === undefined ? failed.signal : AbortSignal.any([signal, failed.signal]);
  const hash = createHash('sha256');
  let bytes = 0;
  const parts = new PassThrough({ highWaterMark: MEBIBYTE });
  // The error was reported already, to the upload or to us.
  parts.on('error', () => undefined);
  const upload = new Upload({
    client: endingWith(client, ending, (error) => failed.abort(error)),
    queueSize: PARTS_AT_ONCE,
    partSize: partBytes(maxBytes),
    params: {
      Bucket: bucket,
      Key: key,
      Body: parts,
      ContentType: contentType,
      ...(contentDisposition === undefined ? {} : { ContentDisposition: contentDisposition }),
    },
  });
  const pouring = drain(body, ending, async (chunk) => {
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new AppError('PAYLOAD_TOO_LARGE', `the file is larger than ${maxBytes} bytes`);
    hash.update(chunk);
    if (!parts.write(chunk)) await once(parts, 'drain', { signal: ending });
  }).then(
    () => void parts.end(),
    (error: unknown) => {
      failed.abort(error);
      parts.destroy(toError(error));
    },
  );
  try {
    await upload.done();
  } catch (error) {
    failed.abort(s3Failure(error));
    await pouring;
    throw signal?.aborted === true ? signal.reason : failed.signal.reason;
  }
  return { key, bytes, sha256: hash.digest('hex'), contentType };
}

/** Large enough for a body of the maximum size to fit into the allowed parts. */
function partBytes(maxBytes: number): number {
  if (maxBytes === Number.MAX_SAFE_INTEGER) return LEAST_PART_BYTES;
  return Math.max(LEAST_PART_BYTES, Math.ceil(maxBytes / MOST_PARTS / MEBIBYTE) * MEBIBYTE);
}

/**
 * The client of one upload: its requests end with `signal`, and the first failure is reported at once (`Upload` itself
 * would read on until every current part has ended). Beginning, completing and aborting an upload in parts are not
 * interrupted: their outcome would be unknown, and parts without a known id cannot be deleted.
 */
function endingWith(client: S3Client, signal: AbortSignal, onFailure: (error: unknown) => void): S3Client {
  const view = Object.create(client) as S3Client;
  const send = async (command: Parameters<S3Client['send']>[0]): Promise<unknown> => {
    try {
      if (command instanceof CompleteMultipartUploadCommand) return await client.send(command);
      const uninterrupted =
        command instanceof CreateMultipartUploadCommand || command instanceof AbortMultipartUploadCommand;
      return await client.send(command, {
        abortSignal: uninterrupted ? AbortSignal.timeout(UNINTERRUPTED_MS) : signal,
      });
    } catch (error) {
      onFailure(s3Failure(error));
      throw error;
    }
  };
  view.send = send as S3Client['send'];
  return view;
}
