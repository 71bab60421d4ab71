import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What each attempt took and cost, and the totals. `settled_at` says that an attempt is in the totals: attempts of an older
 * version never are. The totals of a day are spread over shards, so that ends of tasks do not wait for each other. Chats
 * leave a row each, as they have no attempt.
 */
export const costs: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};

const statements = [
  `alter table media.attempts
    add column units jsonb,
    add column cost bigint,
    add column currency text,
    add column cost_estimated boolean not null default false,
    add column sandbox boolean not null default false,
    add column settled_at timestamptz`,
  `create table media.usage (
    day date not null,
    owner text not null,
    generator text not null,
    provider text not null,
    model text not null,
    sandbox boolean not null,
    currency text not null,
    shard smallint not null,
    tasks_succeeded bigint not null default 0,
    tasks_failed bigint not null default 0,
    tasks_cancelled bigint not null default 0,
    attempts_succeeded bigint not null default 0,
    attempts_failed bigint not null default 0,
    chats bigint not null default 0,
    unpriced bigint not null default 0,
    cost bigint not null default 0,
    pictures bigint not null default 0,
    milliseconds bigint not null default 0,
    characters bigint not null default 0,
    input_tokens bigint not null default 0,
    cached_tokens bigint not null default 0,
    output_tokens bigint not null default 0,
    runs bigint not null default 0,
    gpu_milliseconds bigint not null default 0,
    primary key (day, owner, generator, provider, model, sandbox, currency, shard)
  ) with (fillfactor = 70)`,
  `create index usage_of_owner on media.usage (owner, day)`,
  `create table media.chat_costs (
    id uuid primary key,
    owner text not null,
    generator text not null,
    provider text not null,
    model text not null,
    sandbox boolean not null,
    units jsonb not null,
    cost bigint,
    currency text,
    settled_at timestamptz not null default now()
  )`,
];
