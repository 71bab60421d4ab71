import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import { batchEvents } from './batch-events.ts';
import { batches } from './batches.ts';
import { flexLines } from './flex-lines.ts';

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
