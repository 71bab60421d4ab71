import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';

import { batchReads, readDistinct } from '../../../platform/database/batched-reads.ts';
import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';
import type { WorkflowPayment } from '../database/tables.ts';
import type { Payment, PaymentRefund, PaymentSum } from '../domain/payment.ts';
import {
  countRows,
  isListed,
  listRows,
  rowsBefore,
  type ListedPage,
  type ListedRows,
} from '../lists/listed-rows.ts';

/** The SQL of payments; no rules here. */
export type PaymentStore = ReturnType<typeof createPaymentStore>;

/**
 * A row of payments. `start` is the input for media's startTask, as it was bought. `priceId` and `expiresAt` are part of
 * the idempotent call to the provider and never change.
 */
export type StoredPayment = Readonly<Selectable<WorkflowPayment>>;

/** A store over the workflow schema's payments. */
export function createPaymentStore(database: WorkflowDatabase) {
  const all = () => database.selectFrom('workflow.payments').selectAll();
  const one = async (condition: Partial<StoredPayment>) => {
    const matching = all().where((row) => row.and(condition));
    return (await matching.executeTakeFirst()) ?? null;
  };
  const readShared = batchReads({
    read: (ids) => all().where('id', 'in', ids).execute(),
    readId: ({ id }) => id,
  });
  return {
    /** Reads that come together are one statement: a crowd may follow. */
    byIds: (ids: readonly string[]) => readDistinct(readShared, ids),
    bySession: (ppSessionId: string) => one({ ppSessionId }),
    byIntent: (ppPaymentIntentId: string) => one({ ppPaymentIntentId }),
    byExecution: (executionId: string) => one({ executionId }),
    byKey: (owner: string, idempotencyKey: string) => one({ owner, idempotencyKey }),
    /** The refunds that the provider has made of these payments, oldest first. */
    async listRefunds(paymentIds: readonly string[]): Promise<PaymentRefund[]> {
      const rows = await database
        .selectFrom('workflow.refunds')
        .select(['ppRefundId', 'paymentId', 'amount', 'status', 'reason', 'createdAt'])
        .where('paymentId', 'in', paymentIds)
        .where('ppRefundId', 'is not', null)
        .orderBy('createdAt')
        .orderBy('id')
        .execute();
      return rows.map(({ ppRefundId, ...row }) => ({ ...row, id: ppRefundId ?? '' }));
    },
    /** Inserts a row. A unique violation when the key is taken. */
    insert: (row: Insertable<WorkflowPayment>) =>
      database.insertInto('workflow.payments').values(row).returningAll().executeTakeFirstOrThrow(),
    /** Stores the provider's ids; a row that has them keeps them. */
    setSession: (id: string, session: { readonly sessionId: string; readonly url: string }) =>
      giveSession(database, id, session),
    /** Newest first, one more than `first` when there are more. */
    list: (page: ListedPage) => listRows(database, 'workflow.payments', page),
    /** How many there are on all pages. */
    count: (rows: ListedRows) => countRows(database, 'workflow.payments', rows),
    /** Their totals over all pages, by currency and status. */
    sums: (rows: ListedRows) => readSums(database, rows),
    /** PENDING payments older than this, oldest first. */
    pendingSince: (before: Date) => rowsBefore(database, 'workflow.payments', { status: 'PENDING', before }),
  };
}

function readSums(database: WorkflowDatabase, rows: ListedRows): Promise<PaymentSum[]> {
  return database
    .selectFrom('workflow.payments')
    .where(isListed(rows))
    .select([
      'currency',
      'status',
      sql<number>`count(*)::int`.as('count'),
      // Sums may exceed an integer; a double holds them exactly up to 2^53.
      sql<number>`sum(amount)::float8`.as('amount'),
      sql<number>`sum(amount_refunded)::float8`.as('amountRefunded'),
    ])
    .groupBy(['currency', 'status'])
    .orderBy('currency')
    .orderBy('status')
    .execute();
}

function giveSession(
  database: WorkflowDatabase,
  id: string,
  { sessionId, url }: { readonly sessionId: string; readonly url: string },
): Promise<StoredPayment> {
  return database
    .updateTable('workflow.payments')
    .set({
      ppSessionId: sql`coalesce(pp_session_id, ${sessionId})`,
      ppUrl: sql`coalesce(pp_url, ${url})`,
      version: sql`version + 1`,
      updatedAt: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** Writes a change if the version is unchanged; null on a conflict. */
export async function updatePayment(
  transaction: WorkflowTransaction,
  { id, version }: Pick<Payment, 'id' | 'version'>,
  change: Updateable<WorkflowPayment>,
): Promise<StoredPayment | null> {
  const row = await transaction
    .updateTable('workflow.payments')
    .set({ ...change, version: version + 1, updatedAt: sql<Date>`now()` })
    .where('id', '=', id)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirst();
  return row ?? null;
}
