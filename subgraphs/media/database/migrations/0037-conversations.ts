import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Conversations that somebody keeps, and their messages: a tree, as a message that was written anew is a branch. */
export const conversations: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.conversations (
      id uuid primary key,
      owner text not null,
      title text not null,
      generator text not null,
      model text,
      settings jsonb not null default '{}',
      current_id uuid,
      revision uuid not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(database);
    await sql`create index conversations_of_owner on media.conversations (owner, revision)`.execute(database);
    await sql`create index conversations_by_age on media.conversations (updated_at)`.execute(database);
    await sql`create index conversations_of_nobody on media.conversations (updated_at) where owner = 'anon'`.execute(
      database,
    );
    await sql`create table media.conversation_messages (
      conversation_id uuid not null references media.conversations (id) on delete cascade,
      id uuid not null,
      position integer not null,
      parent_id uuid,
      role text not null check (role in ('USER', 'ASSISTANT')),
      text text not null,
      media_ids uuid[] not null default '{}',
      model text,
      created_at timestamptz not null default now(),
      primary key (conversation_id, id)
    )`.execute(database);
    await sql`comment on table media.conversations is 'conversations that callers keep'`.execute(database);
  },
};
