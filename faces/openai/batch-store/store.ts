import { CamelCasePlugin, type Generated, type Kysely, type Selectable, sql } from 'kysely';

import type { Database } from '../../../platform/database/database.ts';
import type { JsonObject } from '../../../platform/json.ts';
import type {
  Batch,
  BatchCaller,
  BatchEndpoint,
  BatchLine,
  BatchProblem,
  BatchStatus,
  LineOutcome,
} from './batch.ts';

/** The rows of batches and of their calls. */

interface Tables {
  'gateway.batches': {
    id: string;
    owner: string;
    caller: BatchCaller;
    endpoint: BatchEndpoint;
    inputFile: string;
    metadata: JsonObject | null;
    status: BatchStatus;
    total: number;
    completed: number;
    failed: number;
    problems: readonly BatchProblem[] | null;
    outputFile: string | null;
    errorFile: string | null;
    createdAt: Date;
    startedAt: Date | null;
    finalizingAt: Date | null;
    cancellingAt: Date | null;
    endedAt: Date | null;
    leasedUntil: Date | null;
    leasedBy: string | null;
    isAnnounced: boolean;
  };
  'gateway.batchLines': {
    batch: string;
    index: number;
    customId: string;
    body: JsonObject;
    hasLeftFlex: Generated<boolean>;
    status: number | null;
    requestId: string | null;
    response: object | null;
  };
}

/** A call that has ended. */
export interface EndedLine extends LineOutcome {
  readonly index: number;
  readonly customId: string;
}

/** What the row of a batch is changed to. */
type Change = Partial<Pick<Batch, 'status' | 'total' | 'problems' | 'outputFile' | 'errorFile'>>;

/** Seconds for which a process has a batch to itself; it says so again at a third of them. */
export const LEASE_SECONDS = 15;

/** Rows that are read or written at once. */
const PAGE = 500;

/** Batches in the schema `gateway`. */
export type BatchStore = ReturnType<typeof createBatchStore>;

/** Makes the store. */
export function createBatchStore(database: Database) {
  const tables = database.typed<Tables>().withPlugin(new CamelCasePlugin({ maintainNestedObjectKeys: true }));
  return { ...rows(tables), ...leases(tables), ...lines(tables), ...marks(tables) };
}

function rows(tables: Kysely<Tables>) {
  return {
    /** Stores a new batch. */
    async create(
      batch: Pick<Batch, 'id' | 'owner' | 'caller' | 'endpoint' | 'inputFile' | 'metadata'>,
    ): Promise<Batch> {
      const { caller, metadata, ...texts } = batch;
      const values = { ...texts, caller: json(caller), metadata: metadata === null ? null : json(metadata) };
      // The other columns have defaults.
      return tables
        .insertInto('gateway.batches')
        .values(values as unknown as Selectable<Tables['gateway.batches']>)
        .returningAll()
        .executeTakeFirstOrThrow();
    },
    /** A batch; undefined where there is none. */
    find: (id: string): Promise<Batch | undefined> =>
      tables.selectFrom('gateway.batches').selectAll().where('id', '=', id).executeTakeFirst(),
    /** Batches of an owner, newest first, those behind `after`; one more than `first`. */
    async list(owner: string, { first, after }: { readonly first: number; readonly after: string | null }) {
      const all = tables.selectFrom('gateway.batches').selectAll().where('owner', '=', owner);
      const page =
        after === null
          ? all
          : all.where(
              sql<boolean>`(created_at, id) < (select created_at, id from gateway.batches where id = ${after} and owner = ${owner})`,
            );
      const found = await page
        .orderBy('createdAt', 'desc')
        .orderBy('id', 'desc')
        .limit(first + 1)
        .execute();
      return { batches: found.slice(0, first) as readonly Batch[], hasMore: found.length > first };
    },
    /** Asks for the end of a batch; undefined when it has ended, or ends already. */
    cancel: (id: string): Promise<Batch | undefined> =>
      tables
        .updateTable('gateway.batches')
        .set({ status: 'cancelling', cancellingAt: sql`now()` })
        .where('id', '=', id)
        .where('status', 'in', ['validating', 'in_progress'])
        .returningAll()
        .executeTakeFirst(),
    /** Forgets batches that ended so many days ago; their files stay. */
    async forgetOld(days: number): Promise<void> {
      await tables
        .deleteFrom('gateway.batches')
        .where('endedAt', '<', sql<Date>`now() - make_interval(days => ${days})`)
        .execute();
    },
  };
}

function leases(tables: Kysely<Tables>) {
  const until = sql<Date>`now() + make_interval(secs => ${LEASE_SECONDS})`;
  return {
    /** Takes the oldest batch that is open, or whose end was not told, and that no process has; undefined where there is none. */
    claim: (holder: string): Promise<Batch | undefined> =>
      tables
        .updateTable('gateway.batches')
        .set({ leasedUntil: until, leasedBy: holder })
        .where('id', '=', (where) =>
          where
            .selectFrom('gateway.batches')
            .select('id')
            .where(sql<boolean>`not is_announced`)
            .where(sql<boolean>`coalesce(leased_until, '-infinity') < now()`)
            .orderBy('createdAt')
            .limit(1)
            .forUpdate()
            .skipLocked(),
        )
        .returningAll()
        .executeTakeFirst(),
    /** Keeps a batch; its status, or undefined when another process has it. */
    async keep(id: string, holder: string): Promise<BatchStatus | undefined> {
      const kept = await held(tables, id, holder)
        .set({ leasedUntil: until })
        .returning('status')
        .executeTakeFirst();
      return kept?.status;
    },
    /** Lets go of a batch that has not ended. */
    async release(id: string, holder: string): Promise<void> {
      await held(tables, id, holder).set({ leasedUntil: null, leasedBy: null }).execute();
    },
    /** Notes that the end of a batch was told. */
    async announced(id: string): Promise<void> {
      await tables.updateTable('gateway.batches').set({ isAnnounced: true }).where('id', '=', id).execute();
    },
    /** Changes a batch that this process has; false when it has it no longer, or `from` is not its status any more. */
    async change(id: string, holder: string, from: BatchStatus, to: Change): Promise<boolean> {
      const { problems, ...others } = to;
      const moments = { in_progress: 'startedAt', finalizing: 'finalizingAt' } as const;
      const moment =
        to.status === 'in_progress' || to.status === 'finalizing' ? moments[to.status] : 'endedAt';
      const changed = await held(tables, id, holder)
        .set({ ...others, ...(problems != null && { problems: json(problems) }), [moment]: sql`now()` })
        .where('status', '=', from)
        .returning('id')
        .executeTakeFirst();
      return changed !== undefined;
    },
  };
}

function held(tables: Kysely<Tables>, id: string, holder: string) {
  return tables.updateTable('gateway.batches').where('id', '=', id).where('leasedBy', '=', holder);
}

function lines(tables: Kysely<Tables>) {
  return {
    /** Stores calls; those that are there already stay as they are. */
    async addLines(batch: string, added: readonly BatchLine[]): Promise<void> {
      const values = added.map(({ index, customId, body }) => ({ batch, index, customId, body: json(body) }));
      await tables
        .insertInto('gateway.batchLines')
        .values(values)
        .onConflict((conflict) => conflict.columns(['batch', 'index']).doNothing())
        .execute();
    },
    /** The next calls behind `after` that have not ended. */
    openLines: (batch: string, after: number): Promise<readonly BatchLine[]> =>
      tables
        .selectFrom('gateway.batchLines')
        .select([
          'index',
          'customId',
          'body',
          'hasLeftFlex',
          sql<string | null>`response->>'task'`.as('task'),
        ])
        .where('batch', '=', batch)
        .where('index', '>', after)
        .where('status', 'is', null)
        .orderBy('index')
        .limit(PAGE)
        .execute(),
    /** The calls that ended well, or the others, in their order. */
    async *endedLines(batch: string, hasFailed: boolean): AsyncGenerator<EndedLine> {
      for (let after = -1; ;) {
        const page = await tables
          .selectFrom('gateway.batchLines')
          .select(['index', 'customId', 'status', 'requestId', 'response'])
          .where('batch', '=', batch)
          .where('index', '>', after)
          .where('status', hasFailed ? '>=' : '<', 400)
          .orderBy('index')
          .limit(PAGE)
          .execute();
        for (const { index, customId, status, requestId, response } of page) {
          yield { index, customId, status: status ?? 0, requestId: requestId ?? '', body: response ?? {} };
        }
        const last = page.at(-1);
        if (last === undefined || page.length < PAGE) return;
        after = last.index;
      }
    },
    /** Forgets the calls of a batch. */
    async dropLines(batch: string): Promise<void> {
      await tables.deleteFrom('gateway.batchLines').where('batch', '=', batch).execute();
    },
  };
}

function marks(tables: Kysely<Tables>) {
  return {
    /** Notes that a call is made at the usual price from now on, before it is. */
    async leaveFlex(batch: string, index: number): Promise<void> {
      await tables
        .updateTable('gateway.batchLines')
        .set({ hasLeftFlex: true })
        .where('batch', '=', batch)
        .where('index', '=', index)
        .execute();
    },
    /** Notes the task of a call that goes on in its vendor's batch; it has its response when it has ended. */
    async noteTask(batch: string, index: number, task: string): Promise<void> {
      await tables
        .updateTable('gateway.batchLines')
        .set({ response: json({ task }) })
        .where('batch', '=', batch)
        .where('index', '=', index)
        .where('status', 'is', null)
        .execute();
    },
    /** Notes how a call ended, once, and counts it. */
    async endLine(batch: string, index: number, { status, requestId, body }: LineOutcome): Promise<void> {
      const count = status < 400 ? sql.ref('completed') : sql.ref('failed');
      await sql`/* batch.end-line */
        with ended as (
          update gateway.batch_lines set status = ${status}, request_id = ${requestId}, response = ${JSON.stringify(body)}::jsonb
          where batch = ${batch} and index = ${index} and status is null returning batch
        )
        update gateway.batches set ${count} = ${count} + 1 from ended where id = ended.batch`.execute(tables);
    },
  };
}

function json<Value>(value: Value) {
  return sql<Value>`${JSON.stringify(value)}::jsonb`;
}
