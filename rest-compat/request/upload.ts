import type { DocumentNode } from 'graphql';
import { type FileUpload, Upload } from 'graphql-upload-minimal';

import { toError } from '../../platform/errors.ts';
import { rememberRequestBytes } from '../../platform/graphql/uploads/request-bytes.ts';
import type { Logger } from '../../platform/process/logger.ts';
import {
  RemoveFile,
  UploadFile,
  UploadLipSyncResource,
  UploadToProvider,
  UploadVoiceSample,
} from '../documents/media/file.ts';
import { type Execution, runDocument } from '../replies/results.ts';
import type { Destination, Param, UploadedFile } from '../route/param.ts';
import { MalformedBody } from './body/body.ts';
import type { IncomingFile } from './body/file-part.ts';

/** A REST file part becomes a GraphQL `Upload`, which streams: the same mutation and the same rules hold. */

/** Uploads a part while it arrives. Throws the mutation's error, such as PAYLOAD_TOO_LARGE. */
export async function uploadPart(
  execution: Execution,
  file: IncomingFile,
  param: Pick<Param<unknown>, 'destination' | 'accepts'>,
): Promise<UploadedFile> {
  return storedWhole(file, store(execution, toUpload(file), param));
}

/** What a document answered that stores a part; why the part broke off, where it did. */
export async function storedWhole<Stored>(file: IncomingFile, stored: Promise<Stored>): Promise<Stored> {
  await stored.catch(() => undefined);
  // The part knows why it broke off; the schema may only have seen a stream that failed.
  const { errored } = file.body;
  if (errored !== null) throw errored.cause instanceof MalformedBody ? errored.cause : errored;
  return stored;
}

async function store(
  execution: Execution,
  file: Upload,
  { destination, accepts }: Pick<Param<unknown>, 'destination' | 'accepts'>,
): Promise<UploadedFile> {
  if (destination === undefined || destination.to === 'files') {
    const { keep = false, cdn = false } = destination ?? {};
    return (await runDocument(execution, UploadFile, { file, temporary: !keep, cdn })).uploadFile;
  }
  const { to, generator } = destination;
  const only = to === 'lip-sync' && accepts !== undefined ? { only: [...accepts] } : {};
  const { upload } = await runDocument(execution, toProvider[to], { generator, file, ...only });
  const { id, uri, extra, media } = upload;
  return { ...media, id, resource: { uri, extra } };
}

const toProvider: Readonly<Record<'provider' | 'voice-samples' | 'lip-sync', typeof UploadLipSyncResource>> =
  {
    provider: UploadToProvider,
    'voice-samples': UploadVoiceSample,
    'lip-sync': UploadLipSyncResource,
  };

/** Whether a file of this parameter is kept until somebody removes it. */
function isPermanent({ destination }: Param<unknown>): boolean {
  return destination !== undefined && (destination.to !== 'files' || destination.keep);
}

/** Every document that storing a part may run. */
export function listUploadDocuments(destination: Destination): readonly DocumentNode[] {
  if (destination.to !== 'files') return [toProvider[destination.to], RemoveFile];
  return destination.keep ? [UploadFile, RemoveFile] : [UploadFile];
}

/** The class with a method that its types leave out. */
type Settled = Upload & { resolve(file: object): void };

/** A stream as the value of a variable of type Upload. */
export function toUpload(file: IncomingFile): Upload {
  const upload = new Upload() as Settled;
  const value: Omit<FileUpload, 'createReadStream'> & { createReadStream(): IncomingFile['body'] } = {
    filename: file.filename,
    fieldName: file.field,
    mimetype: file.contentType,
    encoding: file.encoding,
    createReadStream: () => file.body,
  };
  rememberRequestBytes(upload, file.requestBytes);
  rememberRequestBytes(value, file.requestBytes);
  upload.resolve(value);
  return upload;
}

interface PartStoreDeps extends Execution {
  readonly logger: Logger;
}

/**
 * Creates the store of the file parts of one request. Permanent ones are removed again when the request is refused, or when
 * a part with a better name takes their place; temporary ones expire.
 */
export function createPartStore({ executor, context, logger }: PartStoreDeps) {
  const permanent: Promise<UploadedFile>[] = [];
  return {
    store: (file: IncomingFile, param: Param<unknown>): Promise<UploadedFile> => {
      const stored = uploadPart({ executor, context }, file, param);
      if (isPermanent(param)) permanent.push(stored);
      return stored;
    },
    /** Removes every permanent file but these. A failure is logged, and the request goes on. */
    async keepOnly(files: readonly unknown[]): Promise<void> {
      for (const result of await Promise.allSettled(permanent)) {
        if (result.status === 'rejected' || files.includes(result.value)) continue;
        await removeStored({ executor, context, logger }, result.value);
      }
    },
  };
}

/** Removes a file of a request that is refused, also when the caller has disconnected. A failure is logged. */
export async function removeStored(
  { executor, context, logger }: PartStoreDeps,
  { id, manageToken }: Pick<UploadedFile, 'id' | 'manageToken'>,
): Promise<void> {
  const removing = { executor, context: { ...context, signal: new AbortController().signal } };
  try {
    await runDocument(removing, RemoveFile, { id, manageToken });
  } catch (error) {
    logger.warn({ error: toError(error), mediaId: id }, 'a file of a refused request stays');
  }
}
