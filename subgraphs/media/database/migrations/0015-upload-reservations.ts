import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Uploads in transit, counted against the quota of their account until they are stored or refused. */
export const uploadReservations: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table media.upload_reservations (
        id uuid primary key, -- that of the file
        account text not null, -- an owner, or the address of a caller without a credential
        bytes bigint not null,
        renewed_at timestamptz not null default now()
      )`.execute(database);
    await sql`create index upload_reservations_of_account on media.upload_reservations (account)`.execute(
      database,
    );
  },
};
