import { AppError, notFound, toError } from '../../../platform/errors.ts';
import type { ObjectStore } from '../../../platform/object-store/object-store.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { StoredFile } from './files.ts';
import { deleteFileRow, type FileRow, locateFile, markDeleted, markExpired } from './store.ts';
import { thumbnailKeys } from './thumbnails/sizes.ts';

/** How files go: by request, by their time, or because storing them failed. */

/** What files are kept in. */
export interface FileParts {
  readonly database: MediaDatabase;
  readonly store: ObjectStore;
  readonly logger: Logger;
  readonly clock: () => number;
}

const DAY_MS = 86_400_000;

/** Removes a file whose row allows it. Throws NOT_FOUND. */
export async function removeFile(
  parts: FileParts,
  id: string,
  isAllowed: (row: FileRow) => boolean,
): Promise<StoredFile> {
  const { database } = parts;
  const found = await locateFile(database, id);
  if (found === undefined || !isAllowed(found)) throw notFound('file', id);
  const removed = await markDeleted(database, found.id);
  if (removed === undefined) throw notFound('file', id);
  await removeBytes(parts, found);
  return removed;
}

/** Removes what has expired, or is older than the days that files are kept. */
export async function pruneFiles(parts: FileParts, retentionDays: number, limit: number): Promise<number> {
  const { database, clock } = parts;
  const keptSince = retentionDays === 0 ? null : new Date(clock() - retentionDays * DAY_MS);
  const expired = await markExpired(database, { now: new Date(clock()), keptSince, limit });
  for (const file of expired) {
    // While the store is unavailable the others would fail too: 0 says not to ask for more, and the next run finds them.
    if ((await removeBytes(parts, file)) === 'unavailable') return 0;
  }
  return expired.length;
}

/** Removes a file whose storing failed; marked first, because its completion may have been committed after all. */
export async function discard(parts: FileParts, file: Removable): Promise<void> {
  try {
    await markDeleted(parts.database, file.id);
  } catch (error) {
    parts.logger.warn({ file: file.id, error: toError(error) }, 'a file that failed is left to the pruner');
    return;
  }
  await removeBytes(parts, file);
}

interface Removable {
  readonly id: string;
  readonly objectKey: string;
}

/** The row is marked already, so a failure here is left to the pruner. */
async function removeBytes(
  { database, store, logger }: FileParts,
  { id, objectKey }: Removable,
): Promise<'removed' | 'failed' | 'unavailable'> {
  try {
    for (const key of [objectKey, ...thumbnailKeys(id)]) await store.delete(key);
    await deleteFileRow(database, id);
    return 'removed';
  } catch (error) {
    logger.warn({ file: id, error: toError(error) }, 'the bytes of a file are left to the pruner');
    return error instanceof AppError && error.code === 'UNAVAILABLE' ? 'unavailable' : 'failed';
  }
}
