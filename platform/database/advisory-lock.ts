import { sql, type Kysely, type QueryExecutorProvider } from 'kysely';

// A connection over whichever subgraph's tables: the lock only needs the connection.
// oxlint-disable-next-line typescript/no-explicit-any -- Kysely is invariant in its table type
type AnyDatabase = Kysely<any>;

/**
 * Runs work unless it runs already, in this process or in another one on the same database; true when it ran here. The
 * lock belongs to a transaction of its own that does nothing else, for as long as the work takes: a pooler may hand what is
 * outside of transactions to another connection, where nobody could release it. It ends with the connection, so a process
 * that dies does not block the next run.
 */
export async function withAdvisoryLock(
  database: AnyDatabase,
  /** Name of the work, the same everywhere: `workflow.payments.sweep`. */
  name: string,
  work: () => Promise<void>,
): Promise<boolean> {
  return database.transaction().execute(async (transaction) => {
    // It has no snapshot, and holds back nothing while it is idle.
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(transaction);
    const { rows } = await sql<{ isOurs: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${name}, 0)) as "isOurs"`.execute(transaction);
    if (rows[0]?.isOurs !== true) return false;
    await work();
    return true;
  });
}

/** Waits for a lock that is kept until the transaction ends: those that take one of this name go one after the other. */
export async function lockTransaction(transaction: QueryExecutorProvider, name: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(transaction);
}
