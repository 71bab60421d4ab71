import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Limits of spending, and what is reserved of them. `spent`, `reserved` and `running` change in the transactions that accept
 * and end work; a hold is one piece of work's part of one budget. Amounts are millionths of the currency.
 */
export const budgets: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    for (const statement of statements) await sql.raw(statement).execute(database);
  },
};

const statements = [
  `create table media.budgets (
    id uuid primary key,
    name text not null,
    scope text not null check (scope in ('USER', 'KEY', 'GENERATOR', 'TOTAL')),
    subject text check ((scope = 'TOTAL') = (subject is null)),
    period text not null check (period in ('DAY', 'MONTH')),
    amount bigint,
    soft_amount bigint,
    currency text,
    max_running integer,
    starts_per_minute integer,
    refuses_unknown boolean not null,
    period_start timestamptz not null,
    spent bigint not null default 0,
    reserved bigint not null default 0,
    running integer not null default 0,
    minute timestamptz not null default 'epoch',
    minute_starts integer not null default 0,
    warned_period timestamptz,
    created_at timestamptz not null default now()
  ) with (fillfactor = 50)`,
  // `expires_at` is for work without a task: its process may end without releasing it.
  `create table media.budget_holds (
    holder uuid not null,
    budget_id uuid not null references media.budgets (id) on delete cascade,
    amount bigint not null,
    expires_at timestamptz,
    primary key (holder, budget_id)
  )`,
  `create index budget_holds_of_budget on media.budget_holds (budget_id, expires_at)`,
];
