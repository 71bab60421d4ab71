import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Replies of language models that are kept under an idempotency key for a day, and their pieces. */
export const chat: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table media.chat_replies (
        id uuid primary key,
        owner text not null,
        key text not null,
        fingerprint text not null,
        state text not null default 'RUNNING' check (state in ('RUNNING', 'SUCCEEDED', 'FAILED')),
        chunks integer not null default 0,
        model text,
        provider text,
        input_tokens integer,
        output_tokens integer,
        error jsonb,
        alive_at timestamptz not null default now(),
        created_at timestamptz not null default now(),
        ended_at timestamptz,
        unique (owner, key)
      )`.execute(database);
    await sql`create index chat_replies_created_at on media.chat_replies (created_at)`.execute(database);
    await sql`
      create table media.chat_chunks (
        reply_id uuid not null references media.chat_replies (id) on delete cascade,
        position integer not null,
        delta text not null,
        primary key (reply_id, position)
      )`.execute(database);
  },
};

/** Tool calls of a stored reply; null when it has none. */
export const chatToolCalls: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.chat_replies add column tool_calls jsonb`.execute(database);
  },
};

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

/** When the last caller of a running reply went away: the same request again joins it. */
export const leftReplies: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.chat_replies add column left_at timestamptz`.execute(database);
  },
};
