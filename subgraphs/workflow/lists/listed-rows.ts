import { sql, type RawBuilder, type Selectable } from 'kysely';

import { MOST_COUNTED } from '../../../platform/paging.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import type { DB } from '../database/tables.ts';
import type { ExecutionStatus } from '../domain/execution.ts';
import type { RowFilter } from '../domain/page.ts';
import type { PaymentStatus } from '../domain/payment.ts';

/** The tables that are listed; they share the columns that this needs. */
type ListedTable = 'workflow.executions' | 'workflow.payments';
type Row<Table extends ListedTable> = Readonly<Selectable<DB[Table]>>;

/** Which rows a list has. */
export interface ListedRows {
  /** The caller's own rows, started (or bought) by or for them; null for everybody's. */
  readonly callerId: string | null;
  /** Rows of exactly this owner; null for any. */
  readonly owner: string | null;
  /** Rows for exactly this user; null for any. */
  readonly userId: string | null;
  readonly filter?: RowFilter | undefined;
}

/** A page of such a list. */
export interface ListedPage extends ListedRows {
  readonly first: number;
  readonly after: string | null;
}

/** The rows of a page, newest first, and one more when there are more. */
export function listRows<Table extends ListedTable>(
  database: WorkflowDatabase,
  table: Table,
  { first, after, ...wanted }: ListedPage,
): Promise<Row<Table>[]> {
  const listed = selectRows(database, table).selectAll().where(isListed(wanted));
  const page = after === null ? listed : listed.where('id', '<', after);
  const rows = page.orderBy('id', 'desc').limit(first + 1);
  return rows.execute() as Promise<unknown[]> as Promise<Row<Table>[]>;
}

/** How many rows a list has on all pages: of one user all, as the REST lists document; of others at most one more than are counted. */
export async function countRows(
  database: WorkflowDatabase,
  table: ListedTable,
  rows: ListedRows,
): Promise<number> {
  const counted = selectRows(database, table)
    .select('id')
    .where(isListed(rows))
    .$if(rows.userId === null, (every) => every.orderBy('id', 'desc').limit(MOST_COUNTED + 1));
  const { total } = await database
    .selectFrom(counted.as('counted'))
    .select(sql<number>`count(*)::int`.as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

const BATCH = 200;

/** Every row of this status that was created before a time, oldest first; read in batches. */
export async function* rowsBefore<Table extends ListedTable>(
  database: WorkflowDatabase,
  table: Table,
  { status, before }: { readonly status: ExecutionStatus | PaymentStatus; readonly before: Date },
): AsyncGenerator<Row<Table>> {
  const waiting = selectRows(database, table)
    .selectAll()
    .where(sql<boolean>`status = ${status}`)
    .where('createdAt', '<', before);
  let last: string | undefined;
  do {
    const page = last === undefined ? waiting : waiting.where('id', '>', last);
    const rows = await page.orderBy('id').limit(BATCH).execute();
    yield* rows as unknown[] as Row<Table>[];
    last = rows.length < BATCH ? undefined : rows.at(-1)?.id;
  } while (last !== undefined);
}

/** Kysely can't type a query over a union of tables, so it is built as for one of them. */
function selectRows(database: WorkflowDatabase, table: ListedTable) {
  return database.selectFrom(table as 'workflow.payments');
}

/** The condition of rows that a list has. */
export function isListed({ callerId, owner, userId, filter = {} }: ListedRows): RawBuilder<boolean> {
  const { statuses, templateCode, createdAfter, createdBefore } = filter;
  const wanted = [
    sql`true`,
    ...(callerId === null ? [] : [belongsTo(callerId)]),
    ...(owner === null ? [] : [sql`owner = ${owner}`]),
    ...(userId === null ? [] : [sql`user_id = ${userId}`]),
    ...(statuses === undefined ? [] : [sql`status = any(${statuses})`]),
    ...(templateCode === undefined ? [] : [sql`template_code = ${templateCode}`]),
    ...(createdAfter === undefined ? [] : [sql`created_at >= ${createdAfter}`]),
    ...(createdBefore === undefined ? [] : [sql`created_at < ${createdBefore}`]),
  ];
  return sql<boolean>`(${sql.join(wanted, sql` and `)})`;
}

/**
 * What the caller started, and what somebody else started for that user. An anonymous caller may name anybody as the user:
 * that alone must not put a row into somebody's list.
 */
function belongsTo(callerId: string): RawBuilder<boolean> {
  return sql<boolean>`(owner = ${callerId} or (user_id = ${callerId} and owner <> 'anon'))`;
}
