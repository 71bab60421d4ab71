import { sql } from 'kysely';

import { lockTransaction } from '../../../platform/database/advisory-lock.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';

/** SQL of upload quotas: what an account has stored, or uploaded today, and what it has in transit. */
export interface Usage {
  readonly bytes: number;
  readonly files: number;
}

/** Whose uploads are counted. */
export interface Account {
  /** An owner, or the address of a caller without a credential. */
  readonly name: string;
  /** Counted per day, also what was deleted since; else what is stored. */
  readonly isDaily: boolean;
}

/** Hours after which an upload that has not grown counts no longer: no request takes that long. */
const STALE_HOURS = 2;

/** Waits until no other reservation of the account is under way: those that come later see this one. */
export async function lockAccount(transaction: MediaTransaction, { name }: Account): Promise<void> {
  await lockTransaction(transaction, `media.uploads ${name}`);
}

/** What an account has used, its uploads in transit included: each file counts once, stored or reserved. */
export async function readUsage(transaction: MediaTransaction, account: Account): Promise<Usage> {
  const done = account.isDaily ? uploadedToday(account) : storedNow(account);
  const { rows } = await sql<Record<keyof Usage, string>>`
    select coalesce(sum(bytes), 0) as bytes, coalesce(sum(files), 0) as files from (
      ${done}
      union all
      select sum(bytes), count(*) from media.upload_reservations reservation
      where account = ${account.name} and renewed_at > now() - make_interval(hours => ${STALE_HOURS})
        and (${account.isDaily} or not exists (
          select from media.media where media.id = reservation.id and media.state = 'STORED'))
    ) as used`.execute(transaction);
  return { bytes: Number(rows[0]?.bytes), files: Number(rows[0]?.files) };
}

function uploadedToday({ name }: Account) {
  return sql`select bytes, files from media.anonymous_uploads where address = ${name} and day = current_date`;
}

/** Results of tasks are theirs, and no uploads. */
function storedNow({ name }: Account) {
  return sql`select sum(bytes) as bytes, count(*) as files from media.media
    where owner = ${name} and task_id is null and state = 'STORED'`;
}

/** Reserves bytes for a file that is to come, or sets those that it has. */
export async function saveReservation(
  transaction: MediaTransaction,
  reserved: { readonly id: string; readonly account: Account; readonly bytes: number },
): Promise<void> {
  const { id, account, bytes } = reserved;
  await sql`
    insert into media.upload_reservations (id, account, bytes) values (${id}, ${account.name}, ${bytes})
    on conflict (id) do update set bytes = excluded.bytes, renewed_at = now()`.execute(transaction);
}

/** Ends a reservation, and adds what was stored to the account's day. */
export async function endReservation(
  transaction: MediaTransaction,
  ended: { readonly id: string; readonly account: Account; readonly stored: number | null },
): Promise<void> {
  const { id, account, stored } = ended;
  await sql`delete from media.upload_reservations where id = ${id}`.execute(transaction);
  if (!account.isDaily || stored === null) return;
  await sql`
    insert into media.anonymous_uploads (address, day, bytes, files) values (${account.name}, current_date, ${stored}, 1)
    on conflict (address, day) do update
      set bytes = anonymous_uploads.bytes + excluded.bytes, files = anonymous_uploads.files + 1`.execute(
    transaction,
  );
}

/** Removes the counts of days that are over, and reservations whose process has died. */
export async function pruneQuotas(database: MediaDatabase): Promise<void> {
  await sql`delete from media.anonymous_uploads where day < current_date - 1`.execute(database);
  await sql`delete from media.upload_reservations
    where renewed_at < now() - make_interval(hours => ${STALE_HOURS})`.execute(database);
}
