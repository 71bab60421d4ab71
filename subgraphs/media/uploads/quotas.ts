import { sql } from 'kysely';

import { internalCaller, type Caller } from '../../../platform/access/caller.ts';
import { addressKeyOf } from '../../../platform/access/client-key.ts';
import { AppError } from '../../../platform/errors.ts';
import type { MediaDatabase } from '../database/database.ts';
import type { FileService, StoredFile } from '../files/files.ts';

/** How much one caller may upload; 0: no bound. */
interface UploadQuota {
  readonly bytes: number;
  readonly files: number;
}

/** The quotas of a caller without a credential (per address and day), of a user, and of a service key. */
export interface UploadQuotas {
  readonly anonymous: UploadQuota;
  readonly user: UploadQuota;
  readonly key: UploadQuota;
}

/** Counts what callers upload. Results of their tasks do not count. */
export interface QuotaCounter {
  /** The most bytes that one more file may have. Refuses before its body is read: RATE_LIMITED, PAYLOAD_TOO_LARGE. */
  room(caller: Caller): Promise<number>;
  /** Counts a file that was stored; removes and refuses it when others came first. */
  count(caller: Caller, file: StoredFile): Promise<void>;
}

interface Used {
  readonly bytes: number;
  readonly files: number;
}

/** Makes the counter. Administrators and Kiln itself have no quota. */
export function createQuotaCounter({
  database,
  files,
  quotas,
}: {
  readonly database: MediaDatabase;
  readonly files: Pick<FileService, 'remove'>;
  readonly quotas: UploadQuotas;
}): QuotaCounter {
  const quotaOf = (caller: Caller): UploadQuota | null => {
    if (caller.kind === 'internal' || caller.scopes.includes('admin')) return null;
    const quota = quotas[caller.kind];
    return quota.bytes === 0 && quota.files === 0 ? null : quota;
  };
  const usedBy = (caller: Caller) =>
    caller.kind === 'anonymous' ? usedToday(database, caller) : storedOf(database, caller.id);
  return {
    async room(caller) {
      const quota = quotaOf(caller);
      if (quota === null) return Infinity;
      const used = await usedBy(caller);
      if (isFull(used.files + 1, quota.files) || isFull(used.bytes + 1, quota.bytes))
        throw full(caller, quota);
      return quota.bytes === 0 ? Infinity : quota.bytes - used.bytes;
    },
    async count(caller, file) {
      const quota = quotaOf(caller);
      if (quota === null) return;
      if (caller.kind === 'anonymous') await addToday(database, caller, file.bytes);
      const used = await usedBy(caller);
      if (!isFull(used.files, quota.files) && !isFull(used.bytes, quota.bytes)) return;
      await files.remove(internalCaller(caller.traceId), file.id);
      throw full(caller, quota);
    },
  };
}

/** Removes the counts of days that are over. */
export async function pruneQuotas(database: MediaDatabase): Promise<void> {
  await sql`delete from media.anonymous_uploads where day < current_date - 1`.execute(database);
}

function isFull(used: number, most: number): boolean {
  return most > 0 && used > most;
}

function full({ kind }: Caller, { bytes, files }: UploadQuota): AppError {
  const most = [...(files > 0 ? [`${files} files`] : []), ...(bytes > 0 ? [`${bytes} bytes`] : [])].join(
    ' and ',
  );
  if (kind === 'anonymous') {
    const message = `without a credential ${most} may be uploaded a day: sign in, or come again tomorrow`;
    return new AppError('RATE_LIMITED', message, { field: 'file', retryAfter: secondsOfToday() });
  }
  const message = `your uploads may be ${most}: delete some with deleteMedia`;
  return new AppError('PAYLOAD_TOO_LARGE', message, { field: 'file' });
}

/** Until the next day in UTC. */
function secondsOfToday(): number {
  return 86_400 - (Math.floor(Date.now() / 1_000) % 86_400);
}

async function storedOf(database: MediaDatabase, owner: string): Promise<Used> {
  const { bytes, files } = await database
    .selectFrom('media.media')
    .select((media) => [
      sql<string>`coalesce(sum(bytes), 0)`.as('bytes'),
      media.fn.countAll<string>().as('files'),
    ])
    .where('owner', '=', owner)
    .where('taskId', 'is', null)
    .where('state', '=', 'STORED')
    .executeTakeFirstOrThrow();
  return { bytes: Number(bytes), files: Number(files) };
}

async function usedToday(database: MediaDatabase, { address }: Caller): Promise<Used> {
  const row = await database
    .selectFrom('media.anonymousUploads')
    .select(['bytes', 'files'])
    .where('address', '=', addressKeyOf(address))
    .where('day', '=', sql<Date>`current_date`)
    .executeTakeFirst();
  return { bytes: Number(row?.bytes ?? 0), files: row?.files ?? 0 };
}

async function addToday(database: MediaDatabase, { address }: Caller, bytes: number): Promise<void> {
  await sql`
    insert into media.anonymous_uploads (address, day, bytes, files)
    values (${addressKeyOf(address)}, current_date, ${bytes}, 1)
    on conflict (address, day) do update
      set bytes = anonymous_uploads.bytes + excluded.bytes, files = anonymous_uploads.files + 1`.execute(
    database,
  );
}
