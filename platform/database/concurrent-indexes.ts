import type { Pool, PoolClient } from 'pg';

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
    const unique = on.startsWith('unique ') ? 'unique ' : '';
    await client.query(`create ${unique}index concurrently ${name} on ${on.slice(unique.length)}`);
  }
}

/** Checks that were added `not valid`, by their names, and their tables. */
export type Checks = Readonly<Record<string, string>>;

/** Holds the rows of before to checks, beside everybody who writes: what is written since is held to them already. */
export async function validateChecks(client: PoolClient, checks: Checks = {}): Promise<void> {
  for (const [name, table] of Object.entries(checks)) {
    if (!(await isUnproven(client, name, table))) continue;
    await client.query(`set lock_timeout = '10min'`);
    await client.query(`alter table ${table} validate constraint ${name}`);
  }
}

/** Whether rows of before were not held to a check yet. */
export async function isUnproven(client: Pool | PoolClient, name: string, table: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from pg_constraint where conname = $1 and conrelid = to_regclass($2) and not convalidated',
    [name, table],
  );
  return rowCount !== 0;
}
