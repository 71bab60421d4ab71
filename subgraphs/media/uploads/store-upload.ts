import type { FileUpload } from 'graphql-upload-minimal';

import type { Caller } from '../../../platform/access/caller.ts';
import { newManageToken } from '../../../platform/access/manage-token.ts';
import { badInput } from '../../../platform/errors.ts';
import { requestBytesOf } from '../../../platform/graphql/uploads/request-bytes.ts';
import { newId } from '../../../platform/ids.ts';
import type { FileService, StoredFile } from '../files/files.ts';
import type { QuotaCounter } from './quotas.ts';

/** Where files that are sent along with a request go. */
export interface UploadDependencies {
  readonly files: FileService;
  /** Most bytes of one upload. */
  readonly uploadMaxBytes: number;
  readonly quotas: QuotaCounter;
}

/** How an upload is stored. */
export interface StoreUploadOptions {
  /** For an hour only, unless a task claims it. */
  readonly temporary: boolean;
  /** Whether lists show it; true unless said otherwise. */
  readonly listed?: boolean;
  readonly signal: AbortSignal;
}

/**
 * Streams an upload into a file of the caller's; one without a credential gets the token that deletes it. Refuses what
 * the caller's quota has no room for before the body is read.
 */
export async function storeUpload(
  { files, uploadMaxBytes, quotas }: UploadDependencies,
  caller: Caller,
  upload: Promise<FileUpload>,
  { temporary, listed = true, signal }: StoreUploadOptions,
): Promise<StoredFile> {
  const file = await upload;
  const id = newId();
  const reservation = await quotas.reserve(caller, id, requestBytesOf(file));
  const managed = caller.kind === 'anonymous' ? newManageToken() : null;
  let stored: StoredFile | null = null;
  try {
    stored = await files.store({
      id,
      owner: caller.id,
      body: reservation.bounded(file.createReadStream()),
      name: file.filename,
      declaredType: file.mimetype === '' ? null : file.mimetype,
      temporary,
      listed,
      maxBytes: uploadMaxBytes,
      signal,
      manageTokenHash: managed?.hash ?? null,
    });
  } finally {
    await reservation.end(stored?.bytes ?? null);
  }
  if (stored.bytes === 0) {
    await files.remove(caller, id, managed?.token);
    throw badInput('file', 'file is empty: it has 0 bytes');
  }
  return managed === null ? stored : { ...stored, manageToken: managed.token };
}
