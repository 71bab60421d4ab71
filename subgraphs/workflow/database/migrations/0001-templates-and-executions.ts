import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Templates, their executions, and the idempotency records of executeTemplate. */
export const templatesAndExecutions: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table workflow.templates (
        code text primary key,
        name text not null,
        description text,
        workflow text not null,
        credit_cost integer not null default 0,
        version text,
        template_type text not null check (template_type in ('IMAGE', 'VIDEO')),
        tags text[] not null default '{}',
        image_model text,
        image_prompt text,
        parameters jsonb not null default '{}',
        is_active boolean not null default true,
        created_at timestamptz not null default now(),
        updated_at timestamptz not null default now()
      )`.execute(database);
    // No foreign key to templates: executions outlive the template they ran.
    await sql`
      create table workflow.executions (
        id uuid primary key,
        task_id uuid not null unique,
        external_id text,
        owner text not null,
        user_id text,
        template_code text not null,
        status text not null default 'PENDING'
          check (status in ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED')),
        stage text not null,
        progress integer not null default 0,
        parameters jsonb not null,
        start jsonb not null, -- what media is asked to start, as it was at submission: a later change of the template does not reach it
        task_owner text not null, -- whom media's task belongs to
        fingerprint text not null, -- of the request: the same external id with another request is a conflict
        error jsonb,
        version integer not null default 1, -- rises with each change
        created_at timestamptz not null default now(),
        started_at timestamptz, -- when media took the task; null when it never did
        ended_at timestamptz,
        constraint executions_external_id unique (owner, external_id)
      ) with (fillfactor = 85)`.execute(database);
    await sql`create index executions_owner on workflow.executions (owner, id desc)`.execute(database);
    await sql`
      create index executions_user on workflow.executions (user_id, id desc) where user_id is not null`.execute(
      database,
    );
    await sql`
      create index executions_running on workflow.executions (id) where status = 'RUNNING'`.execute(database);
    // Which execution a key was used for; deleted a day after the execution ended.
    await sql`
      create table workflow.idempotency (
        owner text not null,
        key text not null,
        fingerprint text not null,
        execution_id uuid not null references workflow.executions (id) on delete cascade,
        created_at timestamptz not null default now(),
        primary key (owner, key)
      )`.execute(database);
    await sql`create index idempotency_execution on workflow.idempotency (execution_id)`.execute(database);
  },
};
