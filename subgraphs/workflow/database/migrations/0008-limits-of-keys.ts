import { sql, type Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Service keys end by themselves, and may be limited to some generators. Keys of before may do what they could. */
export const limitsOfKeys: Migration = {
  async up(database: Kysely<unknown>): Promise<void> {
    await sql`
      alter table workflow.service_keys
        add column expires_at timestamptz,
        add column generators text[] -- null: any`.execute(database);
    await sql`
      update workflow.service_keys set scopes = scopes || '{read,start,manage}'
      where not scopes && '{read,start,manage}'`.execute(database);
  },
};
