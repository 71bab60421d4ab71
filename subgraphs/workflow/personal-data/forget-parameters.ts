import { sql } from 'kysely';

import { nextPassed } from '../../../platform/database/passed-rows.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';

/** Days after which a checkout can be paid no more, whatever the payment provider says late. */
const UNPAID_DAYS = 7;

/**
 * Empties the parameters of executions that ended more than so many days ago, those of their payments, and those of
 * checkouts that nobody paid. At most so many of each; answers of how many.
 */
export async function forgetParameters(
  database: WorkflowDatabase,
  days: number,
  limit: number,
): Promise<number> {
  return database.transaction().execute(async (transaction) => {
    const executions = await forgetExecutions(transaction, days, limit);
    return Math.max(executions, await forgetUnpaid(transaction, days, limit));
  });
}

async function forgetExecutions(
  transaction: WorkflowTransaction,
  days: number,
  limit: number,
): Promise<number> {
  const walk = { name: 'executions', table: 'workflow.executions', column: 'ended_at' };
  const ids = (await nextPassed(transaction, { ...walk, ...MARKS, days, limit })) ?? [];
  if (ids.length === 0) return 0;
  await sql`update workflow.executions set parameters = '{}', start = '{}'
    where id = any(${ids}::uuid[])`.execute(transaction);
  await sql`update workflow.payments set parameters = '{}', start = '{}'
    where execution_id = any(${ids}::uuid[])`.execute(transaction);
  return ids.length;
}

async function forgetUnpaid(transaction: WorkflowTransaction, days: number, limit: number): Promise<number> {
  const walk = { name: 'payments', table: 'workflow.payments', column: 'created_at' };
  const after = Math.max(days, UNPAID_DAYS);
  const ids = (await nextPassed(transaction, { ...walk, ...MARKS, days: after, limit })) ?? [];
  if (ids.length === 0) return 0;
  await sql`update workflow.payments set parameters = '{}', start = '{}'
    where id = any(${ids}) and execution_id is null and status in ('FAILED', 'CANCELLED', 'REFUNDED')`.execute(
    transaction,
  );
  return ids.length;
}

const MARKS = { marks: 'workflow.retention_marks' };
