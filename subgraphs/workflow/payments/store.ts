import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';

import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';
import { isListed, type ListedRows, type ListOptions } from '../database/listed-rows.ts';
import type { WorkflowPayment } from '../database/tables.ts';
import type { Payment } from '../domain/payment.ts';

/** The SQL of payments; no rules here. */
export interface PaymentStore {
  byIds(ids: readonly string[]): Promise<StoredPayment[]>;
  bySession(sessionId: string): Promise<StoredPayment | null>;
  byIntent(paymentIntentId: string): Promise<StoredPayment | null>;
  byKey(owner: string, key: string): Promise<StoredPayment | null>;
  byExecution(executionId: string): Promise<StoredPayment | null>;
  /** A new row, or the one that has this id or key already. */
  insert(row: Insertable<WorkflowPayment>): Promise<StoredPayment>;
  /** The provider's ids, once; a row that has them keeps them. */
  giveSession(
    id: string,
    session: { readonly sessionId: string; readonly url: string },
  ): Promise<StoredPayment>;
  /** Newest first, one more than `first` when there are more. */
  list(options: ListOptions): Promise<StoredPayment[]>;
  /** How many there are on all pages. */
  count(options: ListedRows): Promise<number>;
  /** PENDING ones that are older than this, oldest first, from behind an id on. */
  pendingSince(before: Date, page: PendingPage): Promise<StoredPayment[]>;
}

interface PendingPage {
  readonly afterId: string | null;
  readonly limit: number;
}

/**
 * A row of payments: `start` is what media will be asked to start, as it was sold; the task will be `taskOwner`'s.
 * `priceId` and `expiresAt` are part of the idempotent call to the provider and never change.
 */
export type StoredPayment = Readonly<Selectable<WorkflowPayment>>;

/** A store over the workflow schema's payments. */
export function createPaymentStore(database: WorkflowDatabase): PaymentStore {
  const all = () => database.selectFrom('workflow.payments').selectAll();
  const one = async (condition: Partial<StoredPayment>) => {
    const matching = all().where((row) => row.and(condition));
    return (await matching.executeTakeFirst()) ?? null;
  };
  return {
    byIds: async (ids) => (ids.length === 0 ? [] : all().where('id', 'in', ids).execute()),
    bySession: (ppSessionId) => one({ ppSessionId }),
    byIntent: (ppPaymentIntentId) => one({ ppPaymentIntentId }),
    byExecution: (executionId) => one({ executionId }),
    byKey: (owner, idempotencyKey) => one({ owner, idempotencyKey }),
    insert: (row) =>
      database.insertInto('workflow.payments').values(row).returningAll().executeTakeFirstOrThrow(),
    giveSession: (id, session) => giveSession(database, id, session),
    list: (options) => list(database, options),
    count: (options) => count(database, options),
    pendingSince(before, { afterId, limit }) {
      const pending = all().where('status', '=', 'PENDING').where('createdAt', '<', before);
      const page = afterId === null ? pending : pending.where('id', '>', afterId);
      return page.orderBy('id').limit(limit).execute();
    },
  };
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

function list(database: WorkflowDatabase, options: ListOptions): Promise<StoredPayment[]> {
  const { first, after } = options;
  const listed = listedRows(database, options).selectAll();
  const page = after === null ? listed : listed.where('id', '<', after);
  return page
    .orderBy('id', 'desc')
    .limit(first + 1)
    .execute();
}

async function count(database: WorkflowDatabase, options: ListedRows): Promise<number> {
  const { total } = await listedRows(database, options)
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

function listedRows(database: WorkflowDatabase, rows: ListedRows) {
  return database.selectFrom('workflow.payments').where(isListed(rows));
}

/** Writes a change where the version still holds; null when somebody was faster. */
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
