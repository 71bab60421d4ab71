import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Files of ours that providers keep a copy of. The account is part of the key: what was uploaded with one key is not
 * there for another.
 */
export const providerResources: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};

const statements = [
  `create table media.provider_resources (
    media_id uuid not null references media.media (id) on delete cascade,
    provider text not null,
    account text not null,
    owner text not null,
    resource_id text not null,
    uri text,
    answer jsonb not null,
    expires_at timestamptz,
    created_at timestamptz not null default now(),
    primary key (media_id, provider, account)
  )`,
  `create index provider_resources_by_uri on media.provider_resources (uri) where uri is not null`,
  `create index provider_resources_by_expiry on media.provider_resources (expires_at) where expires_at is not null`,
];
