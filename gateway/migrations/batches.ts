import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Batches of OpenAI's API (faces/openai/batches), and their calls until the results are a file. */
export const batches: Migration = {
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
