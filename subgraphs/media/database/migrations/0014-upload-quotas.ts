import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What each address has uploaded today without a credential, and an index to count what an owner has uploaded. */
export const uploadQuotas: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table media.anonymous_uploads (
        address text not null, -- of IPv6 the /64
        day date not null,
        bytes bigint not null,
        files integer not null,
        primary key (address, day)
      )`.execute(database);
    await sql`
      create index media_uploads_of_owner on media.media (owner) include (bytes)
        where task_id is null and state = 'STORED'`.execute(database);
  },
};
