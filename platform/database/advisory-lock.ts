import { sql, type Kysely } from 'kysely';

// A connection over whichever subgraph's tables: the lock only needs the connection.
// oxlint-disable-next-line typescript/no-explicit-any -- Kysely is invariant in its table type
type AnyDatabase = Kysely<any>;

/**
 * Does work unless it is being done already, in this process or in another on the same database; answers whether it was
 * done here. The lock is a connection's and not a transaction's, because work may take minutes and ask others; it ends
 * with its connection, so whoever dies keeps nobody else from the next run.
 */
export async function withAdvisoryLock(
  database: AnyDatabase,
  /** What the work is called, everywhere: `workflow.payments.sweep`. */
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
