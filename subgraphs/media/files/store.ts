import { CompiledQuery, sql } from 'kysely';

import { isUuid } from '../../../platform/ids.ts';
import type { Measures } from '../../../platform/object-store/measure/measurable.ts';
import type { StoredObject } from '../../../platform/object-store/object-store.ts';
import type { AnyTransaction } from '../../../platform/queue/queue.ts';
import { asMembers } from '../database/columns.ts';
import type { MediaDatabase, MediaTransaction } from '../database/database.ts';
import type { LocatedFile, MakingTask, StoredFile } from './files.ts';

/**
 * SQL of files. A row is written before the bytes and removed after them: when a process dies, a row is left that the
 * pruner finds, never bytes without a row.
 */
export interface FileRow extends LocatedFile {
  /** Of the token that deletes it. */
  readonly manageTokenHash: string | null;
}

/** A row as it is written before the first byte. */
export interface NewRow {
  readonly id: string;
  readonly owner: string;
  readonly name: string;
  readonly objectKey: string;
  /** When the pruner removes it, if it is not complete by then. */
  readonly temporaryUntil: Date;
  readonly manageTokenHash: string | null;
  /** Whether lists show it. */
  readonly listed: boolean;
}

/** What is known once all bytes are stored. */
export interface StoredFacts {
  readonly object: StoredObject;
  readonly measures: Measures;
  readonly blake3: string | null;
  /** Null: the file stays. */
  readonly temporaryUntil: Date | null;
}

/** The columns of a file that its readers see. */
export const fileColumns = [
  'id',
  'owner',
  'name',
  'contentType',
  'bytes',
  'sha256',
  'blake3',
  'width',
  'height',
  'duration',
  'taskId',
  'createdAt',
] as const;

export type FileColumn = (typeof fileColumns)[number];

/** Inserts a file before its bytes. It is not visible yet. */
export async function insertFile(database: MediaDatabase, row: NewRow): Promise<void> {
  await database
    .insertInto('media.media')
    .values({ ...row, contentType: 'application/octet-stream', bytes: 0, sha256: '', state: 'INCOMING' })
    .execute();
}

/** Makes a file visible once its bytes are stored. Null when the pruner was faster. */
export async function completeFile(
  database: MediaDatabase,
  id: string,
  { object, measures, blake3, temporaryUntil }: StoredFacts,
): Promise<StoredFile | null> {
  const row = await database
    .updateTable('media.media')
    .set({
      state: 'STORED',
      contentType: measures.contentType,
      bytes: object.bytes,
      sha256: object.sha256,
      blake3,
      width: measures.width,
      height: measures.height,
      duration: measures.duration,
      temporaryUntil,
    })
    .where('id', '=', id)
    .where('state', '=', 'INCOMING')
    .returning(fileColumns)
    .executeTakeFirst();
  return row ?? null;
}

/** The files of these ids that exist, in no order; with these columns, `id` among them. */
export async function readFiles(
  database: MediaDatabase,
  ids: readonly string[],
  columns: readonly FileColumn[] = fileColumns,
): Promise<readonly StoredFile[]> {
  if (ids.length === 0) return [];
  const name = columns === fileColumns ? 'files.read' : 'files.read-some';
  // With the names that readers use: a page of tasks reads hundreds of files, and nothing is renamed for it.
  const text = `/* prepared: ${name} */
    select ${asMembers(columns)} from media.media where id = any($1::uuid[]) and state = 'STORED'`;
  const { rows } = await database.withoutPlugins().executeQuery(CompiledQuery.raw(text, [ids]));
  return rows as readonly StoredFile[];
}

/** The newest file of an owner with these bytes, where their BLAKE3 is known. */
export async function fileByBlake3(
  database: MediaDatabase,
  { owner, blake3 }: { readonly owner: string; readonly blake3: string },
): Promise<StoredFile | undefined> {
  return database
    .selectFrom('media.media')
    .select(fileColumns)
    .where('owner', '=', owner)
    .where('blake3', '=', blake3)
    .where('state', '=', 'STORED')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** One file with what only this folder may know of it; undefined where there is none. */
export async function locateFile(database: MediaDatabase, id: string): Promise<FileRow | undefined> {
  return isUuid(id) ? stored(database, [id]).selectAll().executeTakeFirst() : undefined;
}

function stored(database: MediaDatabase, ids: readonly string[]) {
  return database.selectFrom('media.media').where(isOneOf(ids)).where('state', '=', 'STORED');
}

/** Makes the files of an owner permanent; answers how many of the ids exist, of whomever. */
export async function claimFiles(
  transaction: AnyTransaction,
  ids: readonly string[],
  owner: string,
): Promise<number> {
  const { numUpdatedRows } = await (transaction as MediaTransaction)
    .updateTable('media.media')
    .set({
      temporaryUntil: sql<Date | null>`case when owner = ${owner} then null else temporary_until end`,
    })
    .where(isOneOf(ids))
    .where('state', '=', 'STORED')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Makes files permanent as those of the task that made them; answers how many of the ids exist. */
export async function attachFiles(
  transaction: AnyTransaction,
  ids: readonly string[],
  task: MakingTask,
): Promise<number> {
  const { numUpdatedRows } = await (transaction as MediaTransaction)
    .updateTable('media.media')
    .set({ temporaryUntil: null, taskId: task.id, manageTokenHash: task.manageTokenHash })
    .where(isOneOf(ids))
    .where('state', '=', 'STORED')
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Marks a file as deleted; its bytes follow. Undefined when it was marked already. */
export async function markDeleted(database: MediaDatabase, id: string): Promise<StoredFile | undefined> {
  return database
    .updateTable('media.media')
    .set({ state: 'DELETED' })
    .where('id', '=', id)
    .where('state', '!=', 'DELETED')
    .returning(fileColumns)
    .executeTakeFirst();
}

/** Forgets a hidden file, once its bytes are gone. */
export async function deleteFileRow(database: MediaDatabase, id: string): Promise<void> {
  await database.deleteFrom('media.media').where('id', '=', id).where('state', '=', 'DELETED').execute();
}

/**
 * Marks expired files as deleted; answers every marked file whose bytes are still to be removed. Rows that another
 * pruner or a claiming transaction has locked are skipped. Each reason is looked for by its own index.
 */
export async function markExpired(
  database: MediaDatabase,
  { now, keptSince, limit }: { readonly now: Date; readonly keptSince: Date | null; readonly limit: number },
): Promise<readonly Removable[]> {
  const reasons = [
    sql`state = 'DELETED' order by id`,
    sql`temporary_until < ${now} order by temporary_until`,
    ...(keptSince === null ? [] : [sql`created_at < ${keptSince} order by created_at`]),
  ];
  const marked = new Map<string, Removable>();
  for (const reason of reasons) {
    const { rows } = await sql<Removable>`/* files.mark-expired */
      update media.media set state = 'DELETED' where id = any(array(
        select id from media.media where ${reason} limit ${limit - marked.size} for update skip locked))
      returning id, object_key`.execute(database);
    for (const row of rows) marked.set(row.id, row);
  }
  return [...marked.values()];
}

/** A file whose bytes are to be removed, or its row. */
interface Removable {
  readonly id: string;
  readonly objectKey: string;
}

/** One parameter for any number of ids, so that PostgreSQL keeps one plan. */
function isOneOf(ids: readonly string[]) {
  return sql<boolean>`id = any(${[...ids]}::uuid[])`;
}
