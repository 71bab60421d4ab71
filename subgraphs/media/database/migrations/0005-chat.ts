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
