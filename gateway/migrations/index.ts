import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Whether a call of a batch is made at the usual price, as there was no room at half of it: after a crash it is not begun at both. */
const flexLines: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table gateway.batch_lines add column has_left_flex boolean not null default false`.execute(
      database,
    );
  },
};

/** Whether the end of a batch was told to webhook endpoints: one that ended in a crash is told by whoever goes on. */
const batchEvents: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`alter table gateway.batches add column is_announced boolean not null default false`.execute(
      database,
    );
    await sql`update gateway.batches set is_announced = true where ended_at is not null`.execute(database);
    await sql`create index batches_unannounced on gateway.batches (created_at) where not is_announced`.execute(
      database,
    );
  },
};

/** Batches of OpenAI's API (faces/openai/batches), and their calls until the results are a file. */
const batches: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table gateway.batches (
        id text primary key, -- batch_ and 32 hexadecimal digits
        owner text not null, -- anon, usr_..., key_...
        caller jsonb not null, -- whose calls they are: kind, id, scopes, generators, address
        endpoint text not null, -- such as /v1/images/generations
        input_file text not null, -- id of a file of ours
        metadata jsonb,
        status text not null default 'validating', -- in OpenAI's words
        total integer not null default 0,
        completed integer not null default 0,
        failed integer not null default 0,
        problems jsonb, -- of an input that is no batch
        output_file text,
        error_file text,
        created_at timestamptz not null default now(),
        started_at timestamptz,
        finalizing_at timestamptz,
        cancelling_at timestamptz,
        ended_at timestamptz,
        leased_until timestamptz, -- by the process that runs it
        leased_by uuid
      )`.execute(database);
    await sql`create index batches_owner on gateway.batches (owner, created_at desc, id desc)`.execute(
      database,
    );
    await sql`create index batches_open on gateway.batches (created_at) where ended_at is null`.execute(
      database,
    );
    await sql`create index batches_ended on gateway.batches (ended_at) where ended_at is not null`.execute(
      database,
    );
    await sql`
      create table gateway.batch_lines (
        batch text not null references gateway.batches (id) on delete cascade,
        index integer not null, -- from 0
        custom_id text not null,
        body jsonb not null, -- of the call
        status integer, -- null until it has ended
        request_id text,
        response jsonb,
        primary key (batch, index)
      )`.execute(database);
    await sql`create index batch_lines_open on gateway.batch_lines (batch, index) where status is null`.execute(
      database,
    );
  },
};

/** Request counters per class and caller. Unlogged: after a crash of the database all counts begin again. */
const rateLimits: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    // The columns and their order are rate-limiter-flexible's; `expire` is in epoch milliseconds.
    await sql`
      create unlogged table gateway.rate_limits (
        key text primary key,
        points integer not null default 0,
        expire bigint
      )`.execute(database);
    await sql`create index rate_limits_expire on gateway.rate_limits (expire)`.execute(database);
  },
};

/** Answers of existing services that do not change any more (migration/fallback). */
const storedAnswers: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      create table gateway.stored_answers (
        operation text not null, -- such as GET /task/{taskId}
        id text not null, -- of the task or payment; of the user for a list
        body jsonb not null, -- the whole answer
        stored_at timestamptz not null default now(),
        primary key (operation, id)
      )`.execute(database);
  },
};

/** Answers that an import stored without their results get them at a read. */
const copiesOfResults: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table gateway.stored_answers
        add column has_copies boolean not null default true -- its results are in Kiln's storage`.execute(
      database,
    );
  },
};

/** Every migration of the "gateway" schema. */
export const gatewayMigrations: Record<string, Migration> = {
  '0001-rate-limits': rateLimits,
  '0002-stored-answers': storedAnswers,
  '0003-copies-of-results': copiesOfResults,
  '0004-batches': batches,
  '0005-batch-events': batchEvents,
  '0006-flex-lines': flexLines,
};
