import { sql, type Insertable, type Selectable, type Updateable } from 'kysely';

import type { WorkflowDatabase, WorkflowTransaction } from '../database/database.ts';
import { isListed, type ListedRows, type ListOptions } from '../database/listed-rows.ts';
import type { PaymentTable } from '../database/payment-tables.ts';
import type { Payment } from '../domain/payment.ts';

/** The SQL of payments; no rules here. */
export interface PaymentStore {
  byIds(ids: readonly string[]): Promise<StoredPayment[]>;
  bySession(sessionId: string): Promise<StoredPayment | null>;
  byIntent(paymentIntentId: string): Promise<StoredPayment | null>;
  byKey(owner: string, key: string): Promise<StoredPayment | null>;
  byExecution(executionId: string): Promise<StoredPayment | null>;
  /** A new row, or the one that has this id or key already. */
  insert(row: Insertable<PaymentTable>): Promise<StoredPayment>;
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

/** A payment with what only this folder needs of it. */
export interface StoredPayment extends Payment {
  readonly start: Payment['parameters'];
  readonly taskOwner: string;
  readonly priceId: string;
  readonly fingerprint: string;
}

/** A store over the workflow schema's payments. */
export function createPaymentStore(database: WorkflowDatabase): PaymentStore {
  const all = () => database.selectFrom('workflow.payments').selectAll();
  const one = async (column: 'pp_session_id' | 'pp_payment_intent_id', value: string) => {
    const row = await all().where(column, '=', value).executeTakeFirst();
    return row === undefined ? null : paymentFrom(row);
  };
  return {
    async byIds(ids) {
      if (ids.length === 0) return [];
      return (
        await all()
          .where('id', 'in', [...ids])
          .execute()
      ).map(paymentFrom);
    },
    bySession: (sessionId) => one('pp_session_id', sessionId),
    byIntent: (paymentIntentId) => one('pp_payment_intent_id', paymentIntentId),
    async byExecution(executionId) {
      const row = await all().where('execution_id', '=', executionId).executeTakeFirst();
      return row === undefined ? null : paymentFrom(row);
    },
    async byKey(owner, key) {
      const row = await all()
        .where('owner', '=', owner)
        .where('idempotency_key', '=', key)
        .executeTakeFirst();
      return row === undefined ? null : paymentFrom(row);
    },
    async insert(row) {
      const written = await database
        .insertInto('workflow.payments')
        .values(row)
        .returningAll()
        .executeTakeFirstOrThrow();
      return paymentFrom(written);
    },
    giveSession: (id, session) => giveSession(database, id, session),
    list: (options) => list(database, options),
    count: (options) => count(database, options),
    async pendingSince(before, { afterId, limit }) {
      const pending = all().where('status', '=', 'PENDING').where('created_at', '<', before);
      const page = afterId === null ? pending : pending.where('id', '>', afterId);
      return (await page.orderBy('id').limit(limit).execute()).map(paymentFrom);
    },
  };
}

async function giveSession(
  database: WorkflowDatabase,
  id: string,
  { sessionId, url }: { readonly sessionId: string; readonly url: string },
): Promise<StoredPayment> {
  const row = await database
    .updateTable('workflow.payments')
    .set({
      pp_session_id: sql`coalesce(pp_session_id, ${sessionId})`,
      pp_url: sql`coalesce(pp_url, ${url})`,
      version: sql`version + 1`,
      updated_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  return paymentFrom(row);
}

async function list(database: WorkflowDatabase, options: ListOptions): Promise<StoredPayment[]> {
  const { first, after } = options;
  const listed = listedRows(database, options).selectAll();
  const page = after === null ? listed : listed.where('id', '<', after);
  const rows = await page
    .orderBy('id', 'desc')
    .limit(first + 1)
    .execute();
  return rows.map(paymentFrom);
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
  change: Updateable<PaymentTable>,
): Promise<StoredPayment | null> {
  const row = await transaction
    .updateTable('workflow.payments')
    .set({ ...change, version: version + 1, updated_at: sql<Date>`now()` })
    .where('id', '=', id)
    .where('version', '=', version)
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? null : paymentFrom(row);
}

function paymentFrom(row: Selectable<PaymentTable>): StoredPayment {
  return {
    id: row.id,
    owner: row.owner,
    userId: row.user_id,
    templateCode: row.template_code,
    parameters: row.parameters,
    start: row.start,
    taskOwner: row.task_owner,
    status: row.status,
    amount: row.amount,
    amountRefunded: row.amount_refunded,
    currency: row.currency,
    priceId: row.price_id,
    ppSessionId: row.pp_session_id,
    ppUrl: row.pp_url,
    ppPaymentIntentId: row.pp_payment_intent_id,
    executionId: row.execution_id,
    disputed: row.disputed,
    expiresAt: row.expires_at,
    fingerprint: row.fingerprint,
    version: row.version,
    createdAt: row.created_at,
  };
}
