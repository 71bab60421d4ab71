import type { PoolClient } from 'pg';

import { AppError } from '../errors.ts';

/** Indexes to be there, by their names, and the schema of their tables. */
export interface Indexes {
  readonly schema: string;
  readonly indexes?: Readonly<Record<string, string>>;
}

/**
 * Builds what is not there yet, beside everybody who writes, outside of any transaction. What an earlier try left half built
 * is thrown away first.
 */
export async function buildIndexes(client: PoolClient, { schema, indexes = {} }: Indexes): Promise<void> {
  for (const [name, on] of Object.entries(indexes)) {
    if (!/^[a-z_]+$/.test(name)) throw new AppError('INTERNAL', `${name} cannot be the name of an index`);
    const { rows } = await client.query<{ valid: boolean }>(
      'select indisvalid as valid from pg_index where indexrelid = to_regclass($1)',
      [`${schema}.${name}`],
    );
    if (rows[0]?.valid === true) continue;
    // Its waits are for transactions that began before, which need not be short, and keep nobody else from anything.
    await client.query(`set lock_timeout = '10min'`);
    if (rows.length > 0) await client.query(`drop index concurrently ${schema}.${name}`);
    const [, unique = '', columns = ''] = /^(unique )?(.*)$/s.exec(on) ?? [];
    await client.query(`create ${unique}index concurrently ${name} on ${columns}`);
  }
}
