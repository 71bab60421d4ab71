import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Models that the catalog lacks, as their vendors described them, by upstream. Can be read again at any time. Not jsonb, which
 * would lose the order of their options.
 */
export const fetchedModels: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.fetched_models (
      upstream text not null,
      model text not null,
      entry json not null,
      fetched_at timestamptz not null default now(),
      stale boolean not null default false,
      primary key (upstream, model)
    )`.execute(database);
    await sql`comment on table media.fetched_models is
      'descriptions of models that were named and are not in the catalog; stale ones are read again when they are next used'`.execute(
      database,
    );
  },
};
