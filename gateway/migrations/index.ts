import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

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

/** Every migration of the "gateway" schema, which only gateways of a split Kiln use. */
export const gatewayMigrations: Record<string, Migration> = { '0001-rate-limits': rateLimits };
