import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Bindings that an administrator has paused: they get no new work until somebody resumes them. */
export const pausedBindings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql
      .raw(
        `create table media.paused_bindings (
    binding text primary key,
    reason text not null,
    paused_by text not null,
    paused_at timestamptz not null default now()
  )`,
      )
      .execute(database);
  },
};

/**
 * What bounds the starts of a binding besides its slots: when its requests of the last minute allow the next one. (What it
 * has finished and nobody has stored yet is counted by the index task_steps_storing.)
 */
export const roomOfBindings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.binding_paces (
      binding text primary key,
      next_at timestamptz not null
    ) with (fillfactor = 50)`.execute(database);
  },
};

/**
 * Attempts and pauses name their binding, as ids are places in a list. Rows without a name are of the release before, which goes
 * by the ids. (Paces and states of providers are kept under names in the column that had ids.)
 */
export const namesOfBindings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table media.attempts add column binding_name text`.execute(database);
    await sql`alter table media.paused_bindings add column name text`.execute(database);
  },
};

/** Warnings of models that were published, so that one of several processes does it, and not again after its deliveries are deleted. */
export const modelWarnings: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.model_warnings (
      warning text primary key,
      warned_at timestamptz not null default now()
    )`.execute(database);
  },
};

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

/** Machines of a pool that an administrator gives no new work, by their address. */
export const closedMachines: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`create table media.closed_machines (
      address text primary key,
      state text not null check (state in ('draining', 'paused')),
      reason text not null,
      closed_by text not null,
      closed_at timestamptz not null default now()
    )`.execute(database);
  },
};
