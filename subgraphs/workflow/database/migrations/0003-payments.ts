import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Payments, refunds, the provider's events; templates that can be deleted, and their ids at the provider. */
export const payments: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await createPayments(database);
    await createReferences(database);
  },
};

async function createPayments(database: Kysely<unknown>): Promise<void> {
  // The status is written by reconcile alone.
  await sql`
    create table workflow.payments (
      id text primary key,
      owner text not null,
      user_id text not null,
      template_code text not null,
      parameters jsonb not null,
      start jsonb not null, -- what media will be asked to start, as it was sold
      task_owner text not null, -- whom media's task will belong to
      status text not null default 'PENDING'
        check (status in ('PENDING', 'COMPLETED', 'FAILED', 'CANCELLED', 'REFUNDED')),
      amount integer not null, -- minor units
      amount_refunded integer not null default 0,
      currency text not null,
      price_id text not null, -- part of the idempotent call to the provider: never changes, like expires_at
      expires_at timestamptz not null,
      pp_session_id text unique,
      pp_url text,
      pp_payment_intent_id text,
      execution_id uuid unique references workflow.executions (id), -- set once, in the transaction that makes it
      disputed boolean not null default false,
      idempotency_key text,
      fingerprint text not null,
      version integer not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      constraint payments_key unique (owner, idempotency_key)
    ) with (fillfactor = 85)`.execute(database);
  await sql`create index payments_user on workflow.payments (user_id, created_at desc)`.execute(database);
  await sql`create index payments_owner on workflow.payments (owner, created_at desc)`.execute(database);
  await sql`create index payments_intent on workflow.payments (pp_payment_intent_id)`.execute(database);
  await sql`
    create index payments_pending on workflow.payments (created_at) where status = 'PENDING'`.execute(
    database,
  );
  // Refunds that were requested, whether the provider has answered or not.
  await sql`
    create table workflow.refunds (
      id uuid primary key,
      payment_id text not null references workflow.payments (id),
      pp_refund_id text unique,
      amount integer not null,
      reason text not null,
      metadata jsonb not null default '{}',
      status text not null default 'pending', -- the provider's word, or refused
      idempotency_key text,
      created_at timestamptz not null default now(),
      constraint refunds_key unique (payment_id, idempotency_key)
    )`.execute(database);
  // Events of the provider; one counts as seen once it was processed.
  await sql`
    create table workflow.pay_events (
      id text primary key,
      type text not null,
      attempts integer not null default 0,
      last_error text,
      received_at timestamptz not null default now(),
      processed_at timestamptz
    )`.execute(database);
  await sql`create index pay_events_age on workflow.pay_events (received_at)`.execute(database);
}

async function createReferences(database: Kysely<unknown>): Promise<void> {
  // The provider's ids of a template: a key of another account does not find them.
  await sql`
    create table workflow.template_references (
      template_code text not null,
      pp_account text not null, -- account id and mode
      product_id text not null,
      price_id text not null,
      content_hash text not null, -- of what was last written there: name, description, price, activity
      synced_at timestamptz not null,
      primary key (template_code, pp_account)
    )`.execute(database);
  // A deleted template keeps its row for payments and executions that name it; its code is free again.
  await sql`alter table workflow.templates add column deleted_at timestamptz`.execute(database);
}
