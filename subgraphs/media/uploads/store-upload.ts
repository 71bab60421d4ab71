import type { FileUpload } from 'graphql-upload-minimal';

import type { Caller } from '../../../platform/access/caller.ts';
import { newManageToken } from '../../../platform/access/manage-token.ts';
import { badInput } from '../../../platform/errors.ts';
import { findRequestBytes } from '../../../platform/graphql/uploads/request-bytes.ts';
import { newId } from '../../../platform/ids.ts';
import { readImageSize } from '../../../platform/object-store/measure/image.ts';
import { typeOfHead, TYPE_BYTES as HEAD_BYTES } from '../../../platform/object-store/measure/measure.ts';
import { peek } from '../../../platform/object-store/streams.ts';
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
  /** Whether its BLAKE3 is computed too. */
  readonly blake3?: boolean;
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
  { temporary, listed = true, blake3 = false, signal }: StoreUploadOptions,
): Promise<StoredFile> {
  const file = await upload;
  const id = newId();
  const reservation = await quotas.reserve(caller, id, findRequestBytes(file));
  const managed = caller.kind === 'anonymous' ? newManageToken() : null;
  const declaredType = file.mimetype === '' ? null : file.mimetype;
  let stored: StoredFile | null = null;
  try {
    // Throws where the upload is over already.
    const body = checkedHead(reservation.bounded(file.createReadStream()), signal);
    stored = await files.store({
      id,
      owner: caller.id,
      body,
      name: file.filename,
      declaredType,
      temporary,
      listed,
      blake3,
      maxBytes: uploadMaxBytes,
      signal,
      manageTokenHash: managed?.hash ?? null,
    });
  } finally {
    await reservation.end(stored?.bytes ?? null);
  }
  const problem = stored.bytes === 0 ? 'is empty: it has 0 bytes' : pixelProblem(stored);
  if (problem !== null) {
    await files.remove(caller, id, managed?.token);
    throw badInput('file', `file ${problem}`);
  }
  return managed === null ? stored : { ...stored, manageToken: managed.token };
}

/** Most pixels of an image, 16,383 each way: whoever shows or edits a larger one would need gigabytes. */
const MAX_PIXELS = 268_402_689;

/** The problem of an image with too many pixels, as its header claims them; null when there is none. */
function pixelProblem({ width, height }: Pick<StoredFile, 'width' | 'height'>): string | null {
  if (width === null || height === null || width * height <= MAX_PIXELS) return null;
  return `has ${width} x ${height} pixels: at most ${MAX_PIXELS} are taken, make it smaller`;
}

/** The body, refused as soon as its head claims too many pixels: nothing is stored of it. */
async function* checkedHead(
  body: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const { head, whole } = await peek(body, HEAD_BYTES, signal);
  const type = head.byteLength === 0 ? undefined : await typeOfHead(head);
  const size = type?.startsWith('image/') === true ? await readImageSize(head) : null;
  const problem = size === null ? null : pixelProblem(size);
  if (problem !== null) throw badInput('file', `file ${problem}`);
  yield* whole;
}
