import { sql, type Kysely } from 'kysely';

// A connection over whichever subgraph's tables: the lock only needs the connection.
// oxlint-disable-next-line typescript/no-explicit-any -- Kysely is invariant in its table type
type AnyDatabase = Kysely<any>;

/**
 * Runs work unless it runs already, in this process or in another one on the same database; true when it ran here. The
 * lock belongs to the connection, not to a transaction, because work may take minutes; it ends with the connection, so
 * a process that dies does not block the next run.
 */
export async function withAdvisoryLock(
  database: AnyDatabase,
  /** Name of the work, the same everywhere: `workflow.payments.sweep`. */
  name: string,
  work: () => Promise<void>,
): Promise<boolean> {
  return database.connection().execute(async (connection) => {
    const { rows } = await sql<{ isOurs: boolean }>`
      select pg_try_advisory_lock(hashtextextended(${name}, 0)) as "isOurs"`.execute(connection);
    if (rows[0]?.isOurs !== true) return false;
    try {
      await work();
      return true;
    } finally {
      await sql`select pg_advisory_unlock(hashtextextended(${name}, 0))`.execute(connection);
    }
  });
}
