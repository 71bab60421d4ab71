import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What is listed by owner: files newest first, and the tasks that have not ended, which subscriptions look for. */
export const listsOfOwners: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create index media_of_owner on media.media (owner, id desc)
        where state = 'STORED' and temporary_until is null`.execute(database);
    await sql`create index tasks_open_of_owner on media.tasks (owner, id desc) where ended_at is null`.execute(
      database,
    );
  },
};

/**
 * The hash of the token that deletes files of callers without a credential: of an upload on its own row, of a
 * submission on the task's, from where the files that it makes take it. Null: nobody has one.
 */
export const manageTokens: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.media add column manage_token_hash text`.execute(database);
    await sql`alter table media.tasks add column manage_token_hash text`.execute(database);
  },
};

/** Finds the task that made a voice, a character or an avatar by the provider's id of it. */
export const madeResources: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create index tasks_made on media.tasks (kind,
      coalesce(result->'facts'->>'voiceId', result->'facts'->>'characterId',
               result->'facts'->>'digitalId', result->'facts'->>'videoId'))
      where kind in ('VOICE_CLONE', 'CHARACTER', 'AVATAR', 'AVATAR_SOURCE')`.execute(database);
  },
};

/** Owners whose tasks, files and chats are to be erased; a row goes when nothing of theirs is left. */
export const erasures: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.erasures (
      owner text primary key,
      requested_at timestamptz not null default now()
    )`.execute(database);
    await sql`comment on table media.erasures is 'owners whose things are being erased'`.execute(database);
  },
};

/** How far each walk through old rows has come (platform/database/passed-rows.ts). */
export const retentionMarks: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.retention_marks (
      what text primary key,
      until timestamptz not null default '-infinity',
      id text not null default ''
    )`.execute(database);
    await sql`comment on table media.retention_marks is 'how far old rows have been emptied'`.execute(
      database,
    );
  },
};

/** What is done to all tasks that match a filter: how far it is, and what was refused. */
export const bulkOperations: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.bulk_operations (
      id uuid primary key,
      owner text not null,
      listed_owner text,
      action text not null,
      filter jsonb not null,
      state text not null default 'RUNNING',
      total integer not null,
      done integer not null default 0,
      refused integer not null default 0,
      problem text,
      last_task_id uuid,
      trace_id text not null,
      created_at timestamptz not null default now(),
      ended_at timestamptz
    )`.execute(database);
    await sql`create index bulk_operations_of_owner on media.bulk_operations (owner, id desc)`.execute(
      database,
    );
    await sql`comment on table media.bulk_operations is 'operations on all tasks that match a filter; listed_owner is null for everybody''s'`.execute(
      database,
    );
  },
};
